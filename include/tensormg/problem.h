// What is solved: -div(K grad u) + c u = f on a box, as plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace tensormg
{
enum class BoundaryKind : std::uint8_t
{
  dirichlet,
  neumann,
  periodic,
  robin
};

/// What a coefficient may be within a cell.
enum class InCell : std::uint8_t
{
  constant, ///< "constant": one value, or it is refused
  mean ///< "mean": its arithmetic mean is taken; the order of convergence falls to that of the data
};

/// Sides of the box in the order x-, x+, y-, y+, z-, z+ (deal.II's boundary numbering).
inline constexpr std::array<const char *, 6> side_names{
    "left", "right", "front", "back", "bottom", "top"};

/// values[q] = f(x[q], y[q], z[q]), q < n; z holds zeros in 2D. Must not depend on the order of calls.
using Function = std::function<void(
    std::size_t n, const double *x, const double *y, const double *z, double *values)>;

/// The box, its discretisation and the data. Expressions are muParser expressions in x, y (and z);
/// an empty exact solution means that none is known. Units are the user's.
struct Problem
{
  int dim = 3;
  int degree = 3;
  std::array<double, 3> lower{0., 0., 0.};
  std::array<double, 3> upper{1., 1., 1.};
  std::array<std::int64_t, 3> coarse_cells{1, 1, 1}; ///< per direction; entry 2 is 1 in 2D
  int refinements = 4;                               ///< cells = coarse_cells * 2^refinements
  /// Where cells of a direction end, if they are not equal: ascending, from lower to upper, coarse_cells * 2^k + 1 numbers
  /// (tensormg/graded.h makes some). With k < refinements the intervals are halved, with k > refinements merged. Empty: equal cells.
  std::array<std::vector<double>, 3> corners;
  double coefficient = 1.; ///< a > 0
  /// In place of it an expression with one value per cell; with three of them (2D: two) the diagonal of a tensor.
  std::array<std::string, 3> cell_coefficient;
  /// On meshes of curved cells also xy, xz, yz of a symmetric tensor (2D: xy), whose diagonal stands above; there coefficients vary in cells,
  /// but for InCell::mean: K then is its mean over each cell.
  std::array<std::string, 3> mixed_coefficient;
  InCell coefficient_in_cell = InCell::constant;
  std::string reaction; ///< c >= 0 of c u, likewise with one value per cell; empty: none
  std::array<BoundaryKind, 6> boundary{}; ///< per side
  /// Dirichlet: u; Neumann: the flux K du/dn; Robin: q of K du/dn + r u = q
  std::array<std::string, 6> boundary_value{"0", "0", "0", "0", "0", "0"};
  /// Robin: r >= 0, with one value per face as coefficient_in_cell says.
  std::array<std::string, 6> robin_coefficient{"1", "1", "1", "1", "1", "1"};
  std::string right_hand_side = "1";
  /// Read by the programs, not by Solver, whose solve(f, u, Start::given) starts from u; empty: zero, unknown.
  std::string initial_guess;
  std::string exact_solution;
  std::array<std::string, 3> exact_gradient;
  std::map<std::string, double> constants; ///< names usable in every expression
  /// Names that may stand for a whole expression: right_hand_side = "f" with functions["f"]. Evaluated on the host.
  std::map<std::string, Function> functions;
  /// Of functions that are constant in each of n_x, n_y, n_z equal voxels of the box (entry 2 is 1 in 2D): these numbers. Then a
  /// coefficient is compared within a cell, or its mean is taken, exactly (tensormg/voxels.h).
  std::map<std::string, std::array<std::int64_t, 3>> voxels;

  std::int64_t cells(int d) const { return coarse_cells[d] << refinements; }
  /// The mean of the direction.
  double cell_size(int d) const { return (upper[d] - lower[d]) / static_cast<double>(cells(d)); }
  /// Whether the cells of direction d differ in size by more than rounding.
  bool is_graded(int d) const;
  /// Whether there are as many corners as direction d may have.
  bool has_right_corners(int d) const;
  /// The lower end of cell i of direction d, 0 <= i <= cells(d), of as many corners as it may have.
  double corner(int d, std::int64_t i) const;
  bool is_graded() const { return is_graded(0) || is_graded(1) || (dim == 3 && is_graded(2)); }
  /// Whether cells have numbers of their own.
  bool is_cellwise() const
  {
    return !cell_coefficient[0].empty() || !reaction.empty() || has_side(BoundaryKind::robin) ||
        is_graded();
  }
  bool has_side(BoundaryKind kind) const
  {
    for (int s = 0; s < 2 * dim; ++s)
      if (boundary[s] == kind)
        return true;
    return false;
  }
  /// True if no side is Dirichlet or Robin and there is no reaction: the solution is fixed up to a constant (mean zero is chosen).
  bool is_singular() const
  {
    return reaction.empty() && !has_side(BoundaryKind::dirichlet) && !has_side(BoundaryKind::robin);
  }
};

inline bool Problem::has_right_corners(int d) const
{
  if (corners[d].empty())
    return true;
  const std::int64_t given = static_cast<std::int64_t>(corners[d].size()) - 1,
                     coarse = coarse_cells[d], factor = coarse > 0 ? given / coarse : 0;
  return factor > 0 && factor * coarse == given && (factor & (factor - 1)) == 0;
}

inline double Problem::corner(int d, std::int64_t i) const
{
  if (corners[d].empty())
    return lower[d] + static_cast<double>(i) * cell_size(d);
  const std::int64_t given = static_cast<std::int64_t>(corners[d].size()) - 1;
  if (given > cells(d))
    return corners[d][static_cast<std::size_t>(i * (given / cells(d)))];
  const std::int64_t parts = cells(d) / given, part = i % parts;
  const double *begin = corners[d].data() + i / parts;
  return part == 0
      ? begin[0]
      : begin[0] + (begin[1] - begin[0]) * (static_cast<double>(part) / static_cast<double>(parts));
}

inline bool Problem::is_graded(int d) const
{
  const double largest = std::max(std::abs(lower[d]), std::abs(upper[d]));
  const double rounding = 8. * std::numeric_limits<double>::epsilon() * largest;
  const auto parts = static_cast<double>(corners[d].size()) - 1.;
  for (std::size_t i = 0; i < corners[d].size(); ++i)
  {
    const double equal = lower[d] + (upper[d] - lower[d]) * (static_cast<double>(i) / parts);
    if (!(std::abs(corners[d][i] - equal) <= rounding))
      return true;
  }
  return false;
}
} // namespace tensormg
