// What tensormg::Solver does with the vectors of its system, in whatever memory it computes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/nodal_map.h"
#include "solvers/concepts.h"
#include "tensormg/options.h"
#include "tensormg/report.h"

namespace tensormg
{
/// Who is told what, and where the caller works.
struct SolverEnvironment
{
  IterationCallback iteration;
  std::function<void(const std::string &message)> message; ///< may be empty
  /// Throws on all ranks if memory does not suffice for these options beside bytes_kept(); may be empty.
  std::function<void(const SolverOptions &options)> check_memory;
  void *stream = nullptr; ///< in which the caller's work on vectors in device memory is queued
};

/// Operator, multigrid, outer method and all of their vectors, for the dimensionless system B x = b on the finest level. Nodal
/// vectors (operators/vectors/nodal_map.h) lie in host memory or, on a device, in that of the device.
class SolverIn
{
public:
  using Matrix = NodalMap::Matrix;

  virtual ~SolverIn() = default;

  /// b of the problem
  virtual void set_b_of_problem() = 0;
  /// b = factor times the matrix in every direction applied to `nodal`
  virtual void set_b(const Matrix &matrix, double factor, const double *nodal) = 0;
  /// b of each cell times its volume in units of the mean one
  virtual void weigh_b() = 0;
  /// b += what the values on the sides make. Takes a vector in the first call, if they are not all zero.
  virtual void add_sides() = 0;
  /// The values on the sides, grid.problem's, are others now.
  virtual void forget_sides() = 0;
  /// The cells of the grid have other numbers now.
  virtual void update_cells(const MultigridOptions &options) = 0;
  virtual void set_x(const Matrix &matrix, const double *nodal) = 0;
  virtual void get_b(const Matrix &matrix, double factor, double *nodal) = 0;
  virtual void get_x(const Matrix &matrix, double *nodal) = 0;

  /// Largest magnitudes, infinite if a number is not finite.
  virtual double largest_of_b() = 0;
  virtual double largest_of_x() = 0;
  /// Subtracts the means. What is left of a b that was nothing but its mean is rounding: it becomes zero.
  virtual void subtract_mean_of_b() = 0;
  virtual void subtract_mean_of_x() = 0;

  /// x = B^-1 b, from x with Start::given, which `restore` writes again where the solve begins anew. b must be finite; it is
  /// not kept.
  virtual SolveReport solve(Start start, const std::function<void()> &restore) = 0;
  /// b = B x
  virtual void multiply() = 0;
  /// x = M^-1 b, one cycle from zero
  virtual void precondition() = 0;
};

/// `grid` and `basis` must outlive the object; the precision in `options` is not automatic.
std::unique_ptr<SolverIn> make_solver_in_host(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options, const SolverEnvironment &environment);
/// On the device that has been chosen, in a stream of its own.
std::unique_ptr<SolverIn> make_solver_in_device(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options, const SolverEnvironment &environment);
} // namespace tensormg
