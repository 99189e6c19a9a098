// The operator with the metric at points on one level, in one number type, in device memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/device/device.h"
#include "kernels/laplace/pointwise/cuda.h"
#include "operators/curved/block_kernel.h"
#include "operators/pointwise/block_levels.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// With the numbers that PointwiseKernel has: in double for vectors in double, otherwise in half precision where this holds them, or in float.
template <typename Number>
class DevicePointwiseKernel final : public BlockKernel<Number>
{
public:
  /// `level`, all of whose blocks are on this rank, must outlive the object. Throws std::invalid_argument if it has one metric per cell.
  DevicePointwiseKernel(const BlockLevels::Level &level, const DeviceContext &context);

  void run(const BlockStep<Number> &step) override;

  /// Of its metric and of traces at the sides of blocks, in device memory.
  static std::int64_t bytes(const BlockLevels::Level &level);

private:
  using C = Compute<Number>;
  template <typename Stored>
  struct Numbers
  {
    DeviceArray<Stored> volume, face, reaction;
    DeviceArray<float> powers;
    laplace::PointNumbers<Stored> view() const
    {
      return {volume.data(), face.data(), reaction.size() > 0 ? reaction.data() : nullptr,
          powers.size() > 0 ? powers.data() : nullptr};
    }
  };
  /// Rounded, in the order of the device.
  template <typename Given, typename Stored>
  void take(const laplace::PointNumbers<Given> &from, Numbers<Stored> &to);
  template <typename Stored>
  void run_with(const BlockStep<Number> &step, const Numbers<Stored> &numbers);

  const BlockLevels::Level &level_;
  Stream stream_;
  DeviceArray<laplace::BlockLink> links_;
  Numbers<C> numbers_;
  Numbers<Half> in_half_; ///< instead of these
  DeviceArray<C> borders_;
};
} // namespace tensormg
