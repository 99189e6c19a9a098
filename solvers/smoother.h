// What multigrid asks of a smoother and of a coarse solver.
#pragma once

#include <stdexcept>

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
  /// alpha, if the first step from zero is x = alpha D^-1 b with the diagonal of the cell blocks; 0 if it is not.
  virtual double first_step() const { return 0.; }
  /// smooth() from zero without that step, which x has seen.
  virtual void smooth_after_first_step(
      VectorType & /*x*/, const VectorType & /*b*/, VectorType & /*work*/)
  {
    throw std::logic_error("this smoother has no first step");
  }
  /// How often smooth() exchanges x and work.
  virtual int exchanges(bool /*zero_start*/) const { return 0; }
};

template <typename VectorType>
class CoarseSolverBase
{
public:
  virtual ~CoarseSolverBase() = default;
  /// B is another one now, of the same size.
  virtual void update() {}
  /// x = B^-1 b (pseudo-inverse where constants are in the kernel)
  virtual void solve(VectorType &x, const VectorType &b) = 0;
  /// Whether the solution has more digits than one vector holds: then there is solve_pair().
  virtual bool gives_pair() const { return false; }
  /// x + d = B^-1 b, where x is the sum rounded
  virtual void solve_pair(VectorType & /*x*/, VectorType & /*d*/, const VectorType & /*b*/)
  {
    throw std::logic_error("this coarse solver gives one vector");
  }
};
} // namespace tensormg
