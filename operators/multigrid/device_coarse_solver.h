// The coarsest level in device memory where cells have numbers of their own.
#pragma once

#include <memory>
#include <optional>

#include "operators/constant/laplace_operator.h"
#include "operators/multigrid/device_dense_inverse.h"
#include "solvers/chebyshev.h"
#include "solvers/smoother.h"

namespace tensormg
{
/// x = B^-1 b: with few unknowns by the inverse of the dense matrix, which is the pseudo-inverse where constants are in the kernel;
/// otherwise by steps of Chebyshev's method in double, to about `accuracy` of the error; of waves for which 2000 steps are too few, less. All
/// of it can be recorded.
template <typename Number>
class DeviceCellwiseSolver : public CoarseSolverBase<DeviceVector<Number>>
{
public:
  /// `level` and `basis` must outlive the object. Throws std::runtime_error if the matrix is not positive definite.
  DeviceCellwiseSolver(const LevelGrid &level, const CellBasis &basis, bool is_singular,
      const DeviceContext &context);
  void update() override;
  void solve(DeviceVector<Number> &x, const DeviceVector<Number> &b) override;

  static std::int64_t bytes(const LevelGrid &level);
  static constexpr double accuracy = 0.03;

private:
  using Operator = LaplaceOperator<double, DeviceContext>;
  void invert();
  void make_steps();

  const LevelGrid &level_;
  const CellBasis &basis_;
  bool is_singular_;
  DeviceContext context_;
  DeviceVectorSpace space_;
  std::optional<DeviceDenseInverse> inverse_;
  std::unique_ptr<Operator> operator_; ///< of steps
  std::optional<ThreeTermSmoother<Operator>> steps_;
  DeviceVector<double> x_, b_, work_;
};
} // namespace tensormg
