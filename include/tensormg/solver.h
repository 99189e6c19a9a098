// The library: solvers of -div(K grad u) + c u = f on boxes, made once and called many times. For curved cells: tensormg/mesh_solver.h.
//
// Vectors are arrays of double with one number per node, each cell by itself:
//   u[cell][k][j][i],  cell = (cz * cells_y + cy) * cells_x + cx,  i fastest, in x; k in z (3D only),
// cells counted within the part of this process (Solver::cells()), nodes 0..degree from the lower to the upper end of the cell.
// Where a GPU computes they lie in host memory or, which spares copies, in that of the GPU (or managed memory): all functions wait
// until their results are there, and for what the caller has queued in Execution::stream.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "tensormg/options.h"
#include "tensormg/problem.h"
#include "tensormg/report.h"

namespace tensormg
{
/// What a function of the library was called with cannot be used: what() names it and says what is allowed. The object it was
/// called for is as before. Collective functions throw on all processes: elsewhere what() begins with the rank it is about.
class ArgumentError : public std::invalid_argument
{
  using std::invalid_argument::invalid_argument;
};

/// The machine has less memory than the solver needs: what() says how much. Thrown before it is taken.
class MemoryError : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/// The nodes of a direction of a cell: those of Gauss or of Gauss-Lobatto quadrature with degree + 1 points. The latter are those
/// of deal.II's FE_DGQ.
enum class Nodes : std::uint8_t
{
  gauss,
  gauss_lobatto
};

/// Where and how a solver runs.
struct Execution
{
  std::string backend =
      "auto"; ///< auto, cpu, cuda, mma, wmma or reference, as operator.backend in docs/parameters.md
  Nodes nodes = Nodes::gauss;
  /// Communicator as MPI_Comm_c2f() gives it; negative: this process alone. MPI is begun where nobody has, and then ended at exit.
  int communicator = -1;
  /// Called with the number of the iteration and the residual relative to the right-hand side, on every process. It may throw if it
  /// does so on all of them.
  std::function<void(int iteration, double residual)> iteration_callback;
  /// Called with a sentence where a solver does something else than was asked for, on every process; without line end.
  std::function<void(const std::string &message)> message_callback;
  /// The cudaStream_t in which the caller's work on vectors in device memory is queued: it is waited for before they are read or
  /// written. nullptr: the default stream.
  void *stream = nullptr;
};

/// The cells begin[d] <= c_d < end[d] of this process among those of the box.
struct LocalCells
{
  std::array<std::int64_t, 3> begin{0, 0, 0}, end{1, 1, 1}, box{1, 1, 1};
  std::int64_t count() const
  {
    return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
};

/// A solver for one problem, with the data of its sides. What needs memory takes it when the object is made, or in the first call
/// that needs it: for values on the sides, for vectors in host memory where a GPU computes, for a longer Krylov basis than before.
/// With several processes every function is collective, but those that only tell sizes and coordinates. Not for several threads at a time. The same calls give the same bits.
///
/// A below is the matrix of the symmetric interior penalty method in the nodal basis, of (a grad u, grad v), the face terms and
/// penalty degree (degree + 1) (1/h + 1/h') a / 2 (twice that on Dirichlet sides), as in deal.II's step-39; docs/mathematics.md.
class Solver
{
public:
  /// Options are those of docs/parameters.md; solver = direct neither iterates nor reads u. Throws ArgumentError; MemoryError where
  /// memory is missing; std::runtime_error where a GPU fails.
  explicit Solver(
      const Problem &problem, const SolverOptions &options = {}, const Execution &execution = {});
  ~Solver();
  Solver(Solver &&) noexcept;
  Solver &operator=(Solver &&) noexcept;

  /// Numbers in a vector of this process: cells().count() * (degree + 1)^dim.
  std::int64_t size() const;
  LocalCells cells() const;
  /// "cpu", "cuda", ...: where vectors of the solve lie and what computes.
  std::string backend() const;
  /// The coordinates of all nodes, each array as long as a vector; z may be empty in 2D.
  void coordinates(std::span<double> x, std::span<double> y, std::span<double> z) const;

  /// The nodes of side 0 to 5, left to top (problem.h), [cell][j][i] as above along the two directions of the side, the first one
  /// fastest; in 2D [cell][i]. Of the cells of this process: none where it has none at the side.
  std::int64_t side_size(int side) const;
  void side_coordinates(
      int side, std::span<double> x, std::span<double> y, std::span<double> z) const;
  /// Values at these nodes, in host memory, take the place of the problem's for the side: u on a Dirichlet side, a du/dn on a Neumann
  /// side, q on a Robin side, whose r stays.
  void set_side_values(int side, std::span<const double> values);
  /// The problem's functions give other values now (data that depend on time): those of sides are evaluated again, by the next
  /// call that needs them. The right-hand side of solve(u) is in every call.
  void update_sides();
  /// The same for K, the reaction and r of Robin sides: evaluated again now. All vectors are kept, unless these numbers ask for another cycle;
  /// for a moment it takes four more, for the estimate of an eigenvalue. Where one K serves the whole box there is nothing to do. Throws
  /// ArgumentError for values that no coefficient may have, MemoryError where that cycle does not fit; then the old ones stay.
  void update_coefficients();

  /// u = the solution of the problem as it was given.
  SolveReport solve(std::span<double> u);
  /// The same with the right-hand side f in place of the problem's: its values at the nodes. With Start::given the iteration
  /// starts from u. Without a Dirichlet side the mean of f and the fluxes is removed, and u has mean zero.
  SolveReport solve(std::span<const double> f, std::span<double> u, Start start = Start::zero);
  /// A u = b, b being a vector of residuals (integrals with the nodal basis functions), values on sides included by the caller.
  SolveReport solve_system(
      std::span<const double> b, std::span<double> u, Start start = Start::zero);

  /// y = A x. x and y may be the same.
  void multiply(std::span<double> y, std::span<const double> x);
  /// z = M^-1 r, one cycle of multigrid for A z = r from zero: the preconditioner for a solver of the caller's. z and r may be the
  /// same. With solver = direct it is the inverse of A. Symmetric and positive definite for chebyshev and jacobi, up to
  /// rounding in the precision of the cycle, and where coefficients jump up to 3 per cent in its part on vertices.
  void precondition(std::span<double> z, std::span<const double> r);

private:
  class Implementation;
  Implementation &implementation() const;
  std::unique_ptr<Implementation> implementation_;
};
} // namespace tensormg
