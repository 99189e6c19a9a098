// The operator with one metric per cell in device memory: see cell_mean_kernel.h.
#pragma once

#include <cstdint>

#include "kernels/device/device.h"
#include "kernels/laplace/cellmean/cuda.h"
#include "operators/curved/block_kernel.h"
#include "operators/pointwise/block_levels.h"
#include "operators/vectors/context.h"

namespace tensormg
{
template <typename Number>
class DeviceCellMeanKernel final : public BlockKernel<Number>
{
public:
  /// `level`, all of whose blocks are on this rank, must outlive the object. Waits for the stream of the context.
  DeviceCellMeanKernel(const BlockLevels::Level &level, const DeviceContext &context);

  void run(const BlockStep<Number> &step) override;

  /// Of its numbers, and of traces, in device memory.
  static std::int64_t bytes(const BlockLevels::Level &level);

private:
  using C = Compute<Number>;
  Stream stream_;
  DeviceArray<laplace::BlockLink> links_;
  DeviceArray<C> numbers_, traces_;
  laplace::CellMeanArguments<Number> arguments_;
  laplace::ApplyCellMeanDevice<Number> *apply_;
};
} // namespace tensormg
