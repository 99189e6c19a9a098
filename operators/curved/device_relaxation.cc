#include "operators/curved/device_relaxation.h"

#include <vector>

namespace tensormg
{
namespace
{
  template <typename C>
  DeviceArray<C> rounded(const std::vector<double> &from, Stream stream)
  {
    const std::vector<C> values(from.begin(), from.end());
    DeviceArray<C> result(std::ssize(values), Unset());
    if (!values.empty())
      result.copy_from_host(values.data(), stream);
    device::synchronize(stream); // what lies on the host goes
    return result;
  }
} // namespace

template <typename Number>
DeviceSeparableRelaxation<Number>::DeviceSeparableRelaxation(const BlockLevels &levels,
    std::size_t l, const std::shared_ptr<const LevelRelaxation> &relaxation, Stream stream)
  : basis_(levels.levels()[l].basis)
  , block_(levels.levels()[l].grid.block)
  , stream_(stream)
  , weight_(1. / (int{relaxation->choice.cells} + (relaxation->choice.lines ? block_.dim : 0)))
  , of_cells_(rounded<C>(relaxation->numbers->cells, stream))
  , of_lines_(rounded<C>(relaxation->numbers->lines, stream))
{
  if (of_lines_.size() == 0)
    return;
  lines_.emplace(block_, relaxation->lines, stream);
  results_ = DeviceArray<Number>(block_.dim * block_.size(), Unset());
  work_ = DeviceArray<double>(lines_->work_size(), Unset());
}

template <typename Number>
void DeviceSeparableRelaxation<Number>::apply(
    DeviceVector<Number> &z, const DeviceVector<Number> &r, double factor) const
{
  const double weight = factor * weight_;
  if (lines_)
  {
    laplace::SeparableLines<Number> a;
    a.block = block_;
    a.basis = &basis_;
    a.lines = lines_->view();
    a.numbers = of_lines_.data();
    a.weight = weight;
    a.r = r.data();
    a.results = results_.data();
    a.work = work_.data();
    laplace::solve_separable_lines_cuda(a, stream_);
  }
  if (of_cells_.size() > 0)
    laplace::apply_separable_inverse_cuda<Number>(
        block_, of_cells_.data(), weight, results_.data(), r.data(), z.data(), stream_);
  else
    laplace::sum_lines_cuda<Number>(block_, results_.data(), z.data(), stream_);
}

template <typename Number>
std::int64_t DeviceSeparableRelaxation<Number>::bytes(
    const Block &block, const RelaxationChoice &choice)
{
  using laplace::relaxation_size;
  std::int64_t sum = 0;
  if (choice.cells)
    sum += relaxation_size(block, laplace::cell_inverse_numbers(block.n)) * std::int64_t{sizeof(C)};
  if (choice.lines)
  {
    const std::int64_t of_elimination = std::int64_t{sizeof(double)} *
        laplace::numbers_of_elimination * block.n * block.nz() / laplace::line_chunk;
    sum +=
        relaxation_size(block, laplace::line_inverse_numbers(block.n)) * std::int64_t{sizeof(C)} +
        block.dim * block.size() * std::int64_t{sizeof(Number)} +
        block.dim * block.n_cells() * (std::int64_t{sizeof(laplace::PackedPlace)} + of_elimination);
  }
  return sum;
}

template class DeviceSeparableRelaxation<double>;
template class DeviceSeparableRelaxation<float>;
template class DeviceSeparableRelaxation<Half>;
} // namespace tensormg
