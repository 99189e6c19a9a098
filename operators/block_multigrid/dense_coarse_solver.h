// The coarsest level of curved cells in device memory where it has few unknowns.
#pragma once

#include <cstddef>

#include "operators/cellmean/cell_mean_kernel.h"
#include "operators/curved/pointwise_operator.h"
#include "operators/multigrid/device_dense_inverse.h"
#include "operators/pointwise/block_levels.h"
#include "solvers/smoother.h"

namespace tensormg
{
template <typename Number>
class DenseCoarseSolver : public CoarseSolverBase<DeviceVector<Number>>
{
public:
  /// Of level l, which DenseLevel::suits(). Throws as DeviceDenseInverse.
  DenseCoarseSolver(const BlockLevels &levels, std::size_t l, Stream stream)
    : inverse_(invert(levels, l, stream))
  {}
  void solve(DeviceVector<Number> &x, const DeviceVector<Number> &b) override
  {
    inverse_.multiply(b.data(), x.data());
  }

private:
  static DeviceDenseInverse invert(const BlockLevels &levels, std::size_t l, Stream stream)
  {
    const BlockLevels::Level &level = levels.levels()[l];
    std::unique_ptr<BlockKernel<double>> kernel;
    if (level.has_one_metric_per_cell())
      kernel = std::make_unique<CellMeanKernel<double>>(level);
    PointwiseOperator<double> on_host(levels, l, nullptr, std::move(kernel));
    return {level.grid, level.basis, [&](auto &y, const auto &x) { on_host.vmult(y, x); },
        levels.is_singular(), stream};
  }

  DeviceDenseInverse inverse_;
};
} // namespace tensormg
