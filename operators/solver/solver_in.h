// What tensormg::Solver does with the vectors of its system, in whatever memory it computes.
#pragma once

#include <memory>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/nodal_map.h"
#include "operators/vectors/vector.h"
#include "solvers/concepts.h"
#include "tensormg/options.h"
#include "tensormg/report.h"

namespace tensormg
{
/// Operator, multigrid, Krylov method and all of their vectors, for the dimensionless system B x = b on the finest level. Nodal
/// vectors (operators/vectors/nodal_map.h) lie in host memory or, on a device, in that of the device.
class SolverIn
{
public:
  using Matrix = NodalMap::Matrix;

  virtual ~SolverIn() = default;

  /// b = modes
  virtual void set_b(const Vector<double> &modes) = 0;
  /// b = factor times the matrix in every direction applied to `nodal`
  virtual void set_b(const Matrix &matrix, double factor, const double *nodal) = 0;
  /// b += what was given as the values on the sides
  virtual void add_sides() = 0;
  virtual void set_x(const Matrix &matrix, const double *nodal) = 0;
  virtual void get_b(const Matrix &matrix, double factor, double *nodal) = 0;
  virtual void get_x(const Matrix &matrix, double *nodal) = 0;

  /// Largest magnitudes, infinite if a number is not finite.
  virtual double largest_of_b() = 0;
  virtual double largest_of_x() = 0;
  /// Subtracts the means. What is left of a b that was nothing but its mean is rounding: it becomes zero.
  virtual void subtract_mean_of_b() = 0;
  virtual void subtract_mean_of_x() = 0;

  /// x = B^-1 b, from x with Start::given. b must be finite; it is not kept.
  virtual SolveReport solve(Start start, const IterationCallback &callback) = 0;
  /// b = B x
  virtual void multiply() = 0;
  /// x = M^-1 b, one cycle from zero
  virtual void precondition() = 0;
};

/// `grid` and `basis` must outlive the object; the precision in `options` is not automatic. `sides`: right-hand side of the values
/// on the sides.
std::unique_ptr<SolverIn> make_solver_in_host(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options, const Vector<double> &sides);
/// On the device that has been chosen, in a stream of its own.
std::unique_ptr<SolverIn> make_solver_in_device(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options, const Vector<double> &sides);
} // namespace tensormg
