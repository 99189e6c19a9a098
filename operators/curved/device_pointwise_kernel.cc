#include "operators/curved/device_pointwise_kernel.h"

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels/laplace/pointwise/device_layout.h"
#include "kernels/laplace/pointwise/half_metric.h"

namespace tensormg
{
template <typename Number>
DevicePointwiseKernel<Number>::DevicePointwiseKernel(
    const BlockLevels::Level &level, const DeviceContext &context)
  : level_(level)
  , stream_(context.stream)
{
  const Block &block = level.grid.block;
  if (level.has_one_metric_per_cell())
    throw std::invalid_argument("a level with one metric per cell has no metric at points");
  links_ = DeviceArray<laplace::BlockLink>(std::ssize(*level.links), Unset());
  links_.copy_from_host(level.links->data(), context.stream);
  borders_ =
      DeviceArray<C>(laplace::border_size(block, level.shape.per_direction, 0), context.stream);
  const auto numbers = level.metric.view();
  if (!std::is_same_v<C, double> && level.is_held_by_half)
    take(laplace::HalfMetric(block, numbers).view(), in_half_);
  else
    take(numbers, numbers_);
}

template <typename Number>
template <typename Given, typename Stored>
void DevicePointwiseKernel<Number>::take(
    const laplace::PointNumbers<Given> &from, Numbers<Stored> &to)
{
  const Block &block = level_.grid.block;
  const laplace::DeviceLayout layout{block, sizeof(Stored)};
  // Row by row: the host has no room for all of it once more.
  const auto take_one = [&](const auto *given, std::int64_t size, auto &numbers,
                            const auto &for_row) {
    using T = std::remove_cvref_t<decltype(*numbers.data())>;
    if (given == nullptr)
      return;
    numbers = DeviceArray<T>(size, Unset());
    const std::int64_t of_row = size / layout.rows();
    std::vector<T> ordered(static_cast<std::size_t>(of_row));
    for (std::int64_t row = 0; row < layout.rows(); ++row)
    {
      for_row(row, [&](std::int64_t there, std::int64_t here) {
        ordered[static_cast<std::size_t>(there - row * of_row)] = static_cast<T>(given[here]);
      });
      device::to_device(
          numbers.data() + row * of_row, ordered.data(), ordered.size() * sizeof(T), stream_);
      device::synchronize(stream_); // the next row takes its place
    }
  };
  take_one(from.volume, laplace::volume_size(block), to.volume,
      [&](auto row, const auto &move) { layout.for_volume(row, move); });
  take_one(from.face, laplace::face_size(block), to.face,
      [&](auto row, const auto &move) { layout.for_face(row, move); });
  take_one(from.reaction, laplace::reaction_size(block), to.reaction,
      [&](auto row, const auto &move) { layout.for_reaction(row, move); });
  take_one(from.powers, laplace::power_size(block), to.powers,
      [&](auto row, const auto &move) { layout.for_powers(row, move); });
}

template <typename Number>
void DevicePointwiseKernel<Number>::run(const BlockStep<Number> &step)
{
  if constexpr (!std::is_same_v<C, double>)
    if (in_half_.volume.size() > 0)
      return run_with(step, in_half_);
  run_with(step, numbers_);
}

template <typename Number>
template <typename Stored>
void DevicePointwiseKernel<Number>::run_with(
    const BlockStep<Number> &step, const Numbers<Stored> &numbers)
{
  const Block &block = level_.grid.block;
  laplace::PointwiseDeviceArguments<Number, Stored> a;
  a.block = block;
  a.per_direction = level_.shape.per_direction;
  a.basis = &level_.basis;
  a.tables = &level_.tables;
  a.links = links_.data();
  a.numbers = numbers.view();
  a.borders = borders_.data();
  a.stream = stream_;
  laplace::pointwise_cuda<Number, Stored>(block.dim, block.degree())(with_step(a, step));
}

template <typename Number>
std::int64_t DevicePointwiseKernel<Number>::bytes(const BlockLevels::Level &level)
{
  const Block &block = level.grid.block;
  const bool has_reaction = level.metric.view().reaction != nullptr;
  const std::int64_t numbers = laplace::volume_size(block) + laplace::face_size(block) +
      (has_reaction ? laplace::reaction_size(block) : 0);
  const bool in_half = !std::is_same_v<C, double> && level.is_held_by_half;
  return (in_half ? laplace::HalfMetric::bytes(block, has_reaction)
                  : numbers * std::int64_t{sizeof(C)}) +
      laplace::border_size(block, level.shape.per_direction, 0) * std::int64_t{sizeof(C)};
}

template class DevicePointwiseKernel<double>;
template class DevicePointwiseKernel<float>;
template class DevicePointwiseKernel<Half>;
} // namespace tensormg
