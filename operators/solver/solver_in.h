// What tensormg::Solver does with vectors of modes, whatever memory it computes in.
#pragma once

#include <memory>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"
#include "solvers/concepts.h"
#include "tensormg/options.h"
#include "tensormg/report.h"

namespace tensormg
{
/// Operator, multigrid, Krylov method and all of their vectors, for the dimensionless system B x = b on the finest level.
class SolverIn
{
public:
  virtual ~SolverIn() = default;

  /// x = B^-1 b; with Start::given from x. Every entry of b must be finite.
  virtual SolveReport solve(const Vector<double> &b, Vector<double> &x, Start start,
      const IterationCallback &callback) = 0;
  /// y = B x
  virtual void multiply(Vector<double> &y, const Vector<double> &x) = 0;
  /// z = M^-1 r, one cycle from zero
  virtual void precondition(Vector<double> &z, const Vector<double> &r) = 0;
};

/// `grid` and `basis` must outlive the object; the precision in `options` is not automatic.
std::unique_ptr<SolverIn> make_solver_in_host(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options);
/// On the device that has been chosen, in a stream of its own.
std::unique_ptr<SolverIn> make_solver_in_device(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options);
} // namespace tensormg
