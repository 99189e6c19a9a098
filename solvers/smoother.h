// What multigrid asks of a smoother and of a coarse solver.
#pragma once

namespace tensormg
{
/// One application of a smoother. `work` is a vector of the level whose contents are lost.
template <typename VectorType>
class SmootherBase
{
public:
  virtual ~SmootherBase() = default;
  /// Improves x towards B x = b; with zero_start the old contents of x count as zero. `forward` is true
  /// before and false after the coarse correction (adjoint order, where order matters).
  virtual void smooth(
      VectorType &x, const VectorType &b, VectorType &work, bool zero_start, bool forward) = 0;
  /// How often smooth() exchanges x and work.
  virtual int exchanges(bool /*zero_start*/) const { return 0; }
};

template <typename VectorType>
class CoarseSolverBase
{
public:
  virtual ~CoarseSolverBase() = default;
  /// x = B^-1 b (pseudo-inverse where constants are in the kernel)
  virtual void solve(VectorType &x, const VectorType &b) = 0;
};
} // namespace tensormg
