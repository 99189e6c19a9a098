#include "operators/cellmean/device_cell_mean_kernel.h"

#include <vector>

#include "operators/cellmean/cell_means.h"

namespace tensormg
{
namespace
{
  template <typename C>
  std::vector<C> numbers_of(const BlockLevels::Level &level)
  {
    const double *means = level.metric.means();
    Array<double> of_points;
    if (means == nullptr)
    {
      of_points = cell_means(level);
      means = of_points.data();
    }
    return {means, means + laplace::cell_mean_size(level.grid.block)};
  }
} // namespace

template <typename Number>
DeviceCellMeanKernel<Number>::DeviceCellMeanKernel(
    const BlockLevels::Level &level, const DeviceContext &context)
  : stream_(context.stream)
  , links_(std::ssize(*level.links), Unset())
  , numbers_(laplace::cell_mean_size(level.grid.block), Unset())
  , traces_(laplace::border_size(level.grid.block, level.shape.per_direction), context.stream)
  , apply_(laplace::cell_mean_cuda<Number>(level.grid.block.dim, level.grid.block.degree()))
{
  const std::vector<C> numbers = numbers_of<C>(level);
  links_.copy_from_host(level.links->data(), stream_);
  numbers_.copy_from_host(numbers.data(), stream_);
  device::synchronize(stream_); // what lies on the host goes
  arguments_.block = level.grid.block;
  arguments_.per_direction = level.shape.per_direction;
  arguments_.basis = &level.basis;
  arguments_.links = links_.data();
  arguments_.numbers = numbers_.data();
  arguments_.traces = traces_.data();
}

template <typename Number>
void DeviceCellMeanKernel<Number>::run(const BlockStep<Number> &step)
{
  apply_(with_step(arguments_, step), stream_);
}

template <typename Number>
std::int64_t DeviceCellMeanKernel<Number>::bytes(const BlockLevels::Level &level)
{
  const Block &block = level.grid.block;
  return (laplace::cell_mean_size(block) + laplace::border_size(block, level.shape.per_direction)) *
      std::int64_t{sizeof(C)};
}

template class DeviceCellMeanKernel<double>;
template class DeviceCellMeanKernel<float>;
template class DeviceCellMeanKernel<Half>;
} // namespace tensormg
