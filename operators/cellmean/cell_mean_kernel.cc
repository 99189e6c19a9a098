#include "operators/cellmean/cell_mean_kernel.h"

#include <algorithm>
#include <type_traits>

#include "operators/cellmean/cell_means.h"

namespace tensormg
{
template <typename Number>
CellMeanKernel<Number>::CellMeanKernel(const BlockLevels::Level &level)
  : level_(level)
  , traces_(laplace::border_size(level.grid.block, level.shape.per_direction))
  , exchange_(
        level.make_exchange<C>(1, static_cast<int>(laplace::numbers_of_trace(level.grid.block))))
  , apply_(laplace::cell_mean_cpu<Number>(level.grid.block.dim, level.grid.block.degree()))
{
  arguments_.block = level.grid.block;
  arguments_.per_direction = level.shape.per_direction;
  arguments_.basis = &level.basis;
  arguments_.links = level.links->data();
  arguments_.numbers = numbers();
  arguments_.traces = traces_.data();
  arguments_.remote_traces = exchange_.received();
}

template <typename Number>
const Compute<Number> *CellMeanKernel<Number>::numbers()
{
  const double *means = level_.metric.means();
  if constexpr (std::is_same_v<C, double>)
    if (means != nullptr)
      return means;
  Array<double> of_points;
  if (means == nullptr)
  {
    of_points = cell_means(level_);
    means = of_points.data();
  }
  numbers_ = Array<C>(laplace::cell_mean_size(level_.grid.block));
  std::transform(
      means, means + numbers_.size(), numbers_.begin(), [](double x) { return static_cast<C>(x); });
  return numbers_.data();
}

template <typename Number>
void CellMeanKernel<Number>::exchange_traces()
{
  exchange_.run([&](const auto &cell, int side, std::int64_t, int number) {
    return traces_[laplace::border_index(
                       level_.grid.block, level_.shape.per_direction, cell, side) +
        number];
  });
}

template <typename Number>
void CellMeanKernel<Number>::run(const BlockStep<Number> &step)
{
  auto a = with_step(arguments_, step);
  if (level_.shared != nullptr)
    a.traces_are_written = {
        [](void *self) { static_cast<CellMeanKernel *>(self)->exchange_traces(); }, this};
  apply_(a);
}

template <typename Number>
std::int64_t CellMeanKernel<Number>::bytes(const BlockLevels::Level &level)
{
  const Block &block = level.grid.block;
  const bool has_copy = !std::is_same_v<C, double> || !level.has_one_metric_per_cell();
  return ((has_copy ? laplace::cell_mean_size(block) : 0) +
             laplace::border_size(block, level.shape.per_direction)) *
      std::int64_t{sizeof(C)};
}

template class CellMeanKernel<double>;
template class CellMeanKernel<float>;
template class CellMeanKernel<Half>;
} // namespace tensormg
