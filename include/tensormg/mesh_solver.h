// The library on curved cells: solvers of -div(K grad u) + c u = f on meshes of hexahedra or quadrilaterals, on the CPU or on one GPU.
//
// Vectors are arrays of double in host memory, wherever the work is done, with one number per node, each cell by itself, as those of Solver:
//   u[cell][k][j][i],  i fastest, along the first direction of the cell; k in 3D only; nodes 0..degree along each direction.
// The cells are those of this process, in the order of MeshSolver::cells(): the 2^refinements cells per direction of one cell of the mesh, the first
// direction fastest, then those of the next one. On one process that is the order of the mesh; several divide it among themselves, and cells as well.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensormg/mesh.h"
#include "tensormg/options.h"
#include "tensormg/problem.h"
#include "tensormg/report.h"
#include "tensormg/solver.h"

namespace tensormg
{
/// A cell of the refined mesh.
struct RefinedCell
{
  std::int64_t coarse = 0;            ///< the cell of the mesh that it is a part of
  std::array<std::int64_t, 3> part{}; ///< which one, of 2^refinements per direction
  int material = 0;
};

/// A solver for one problem on one mesh. As with Solver, what needs memory takes it when the object is made or in the first call that needs it; with several
/// processes every function is collective, but values_at_points() and those that only tell sizes, cells and coordinates; not for several threads at a
/// time; the same calls give the same bits, as long as the memory that is free when the object is made suffices for the levels that
/// multigrid.coarsening = automatic would take. A mesh that is too small for its processes is computed by each of them as a whole (is_whole()), which then pass the same vectors.
///
/// A is the matrix of the symmetric interior penalty method in the nodal basis, as docs/mathematics.md has it for curved cells.
class MeshSolver
{
public:
  /// Of the problem: dim, degree, refinements (of every cell of the mesh), the right-hand side, constants, functions; K, the full tensor and the reaction as
  /// expressions or names of functions, which may vary in cells, expressions also with `material`, the number of the cell's; for mapped boxes the box
  /// (lower, upper, coarse_cells) and its sides. Other meshes have mesh.conditions. Options as docs/parameters.md has them for curved cells; where
  /// meshes are hard restart = 30 serves better than the default.
  /// Throws ArgumentError, of wrong meshes with the place, MemoryError where memory is missing.
  MeshSolver(const Problem &problem, const MeshOptions &mesh, const SolverOptions &options = {},
      const Execution &execution = {});
  ~MeshSolver();
  MeshSolver(MeshSolver &&) noexcept;
  MeshSolver &operator=(MeshSolver &&) noexcept;

  /// cpu or cuda: what computes. On several processes the CPU.
  std::string backend() const;
  /// Numbers in a vector of this process: its cells times (degree + 1)^dim.
  std::int64_t size() const;
  /// Those of this process.
  std::vector<RefinedCell> cells() const;
  /// Whether each of several processes has all cells.
  bool is_whole() const;
  /// The coordinates of all nodes, each array as long as a vector; z may be empty in 2D.
  void coordinates(std::span<double> x, std::span<double> y, std::span<double> z) const;

  /// The boundaries of the mesh by name, or by number where they have none.
  std::vector<std::string> boundaries() const;
  /// The nodes on a boundary, [face][j][i] along the two directions of each face of a cell of this process, the lower one fastest; in 2D [face][i].
  std::int64_t boundary_size(const std::string &name) const;
  void boundary_coordinates(
      const std::string &name, std::span<double> x, std::span<double> y, std::span<double> z) const;
  /// Values at these nodes take the place of the problem's: u on a Dirichlet boundary, K du/dn on a Neumann boundary, q on a Robin boundary.
  void set_boundary_values(const std::string &name, std::span<const double> values);
  /// Functions of the problem on boundaries give other values now: they are called again by the next call that needs them.
  void update_boundaries();

  /// The points at which A has K: [cell][point], first the (degree + 1)^dim Gauss points of the cell, then (degree + 1)^(dim - 1) on each of its sides,
  /// 0 to 2 dim - 1, from the lower to the upper end of direction 0, 1, 2; i fastest, and points of sides within the cell by 1e-9 of it.
  std::int64_t points_size() const;
  void point_coordinates(std::span<double> x, std::span<double> y, std::span<double> z) const;
  /// values = the function with the nodal values u at these points, as K(u) needs.
  void values_at_points(std::span<double> values, std::span<const double> u) const;
  /// From now on K has these values at these points, in place of the problem's: k holds points_size() numbers of each component, all of one
  /// component before the next: 1 of a scalar, dim of a diagonal, or those of a symmetric tensor, xx, yy, xy in 2D, xx, yy, zz, xy, xz, yz in 3D.
  /// Errors as update_coefficients().
  void set_coefficient_values(std::span<const double> k);
  /// Functions of the problem that are K, the reaction or r give other values now: everything that depends on them is made again, as in the set-up,
  /// beside the old numbers. Throws ArgumentError for values that no coefficient may have, MemoryError where memory is missing; then the old ones stay.
  void update_coefficients();

  /// u = the solution of the problem as it was given.
  SolveReport solve(std::span<double> u);
  /// The same with f in place of the problem's right-hand side, by its values at the nodes: the polynomials through them. Start and singular
  /// problems as in Solver.
  SolveReport solve(std::span<const double> f, std::span<double> u, Start start = Start::zero);
  /// A u = b, b being a vector of residuals (integrals with the nodal basis functions), values on boundaries included by the caller.
  SolveReport solve_system(
      std::span<const double> b, std::span<double> u, Start start = Start::zero);

  /// y = A x. x and y may be the same.
  void multiply(std::span<double> y, std::span<const double> x);
  /// z = M^-1 r, one cycle of multigrid for A z = r from zero. z and r may be the same. Symmetric and positive definite up to
  /// rounding in the precision of the cycle, and where coefficients jump up to 3 per cent in its part on vertices.
  void precondition(std::span<double> z, std::span<const double> r);

private:
  class Implementation;
  Implementation &implementation() const;
  std::unique_ptr<Implementation> implementation_;
};
} // namespace tensormg
