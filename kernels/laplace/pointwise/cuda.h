// The device kernels of pointwise.h: all arrays in device memory but basis and tables, queued in the stream.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg::laplace
{
/// As PointwiseArguments, with numbers of another type than that of the arithmetic, perhaps.
template <typename Number, typename Stored>
struct PointwiseDeviceArguments
{
  using C = Compute<Number>;

  Block block;
  std::int64_t per_direction = 1;
  const CellBasis *basis = nullptr;
  const PointTables *tables = nullptr;
  const BlockLink *links = nullptr;
  PointNumbers<Stored> numbers; ///< in the order of DeviceLayout (device_layout.h)
  const Number *src = nullptr;
  Number *dst = nullptr;
  const Number *b = nullptr;
  const C *inverse_diagonal = nullptr;
  const Number *old = nullptr;
  C theta{}, alpha{};
  /// V and F of the sides of blocks: border_index(). Those of sides of other ranks, whose number is BlockLink::remote, follow those of
  /// the own ones, and are there when borders_are_written(), which is called in between, has returned or queued what brings them.
  C *borders = nullptr;
  Callback borders_are_written;
  Stream stream = nullptr;
};

/// Where V of point (a, b) of a side of a block lies, F being next to it; number: 2 dim block + side, or behind them all that of a remote side.
constexpr std::int64_t border_index(const Block &block, std::int64_t per_direction,
    std::int64_t number, std::int64_t a, std::int64_t b)
{
  const std::int64_t points = per_direction * block.n;
  return 2 * ((number * (block.dim == 3 ? points : 1) + b) * points + a);
}
constexpr std::int64_t border_size(
    const Block &block, std::int64_t per_direction, std::int64_t remote_sides)
{
  const std::int64_t n_blocks = block.cells[0] / per_direction;
  return border_index(block, per_direction, 2 * block.dim * n_blocks + remote_sides, 0, 0);
}

template <typename Number, typename Stored>
using ApplyPointwiseDevice = void(const PointwiseDeviceArguments<Number, Stored> &);
/// Defined in cuda_launch.cuh, cmake/laplace_instances.cmake.
template <int dim, typename Number, typename Stored>
ApplyPointwiseDevice<Number, Stored> *pointwise_cuda_instance(int degree);

/// dst = A src, b - A src or the step. Stored: that of Compute<Number>, or float for vectors in double, or Half for others, in memory of the device.
template <typename Number, typename Stored>
TENSORMG_CUDA_FUNCTION ApplyPointwiseDevice<Number, Stored> *pointwise_cuda(int dim, int degree);
} // namespace tensormg::laplace
