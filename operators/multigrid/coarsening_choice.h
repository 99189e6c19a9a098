// Which cycle serves coefficients of the cells, by their numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "tensormg/options.h"

namespace tensormg
{
struct CoarseningChoice
{
  /// A cycle of two levels, elements and vertices (vertex_cycle.h); otherwise elements on coarser cells with the pointwise smoother.
  bool vertices = false;
  /// No other level at all: the whole grid by fast diagonalisation, in double (operators/constant/box_solver.h).
  bool whole_grid = false;
  /// With vertices: algebraic multigrid on them, and two unknowns where stiff cells meet in a corner; otherwise black-box multigrid.
  bool algebraic = false;

  /// With vertices: directions whose lines are solved beside the cells.
  std::array<bool, 3> lines{false, false, false};
  std::string
      reason; ///< with the number that decided; empty where cells have no coefficients of their own

  bool has_levels() const { return !whole_grid && !vertices; }
  /// As MultigridOptions::coarsening says it.
  const char *word() const
  {
    return whole_grid ? "fast_diagonalisation" : vertices ? "vertices" : "cells";
  }
  bool is_same_cycle(const CoarseningChoice &other) const
  {
    return whole_grid == other.whole_grid && vertices == other.vertices &&
        algebraic == other.algebraic && lines == other.lines;
  }
};

/// Vertices where neighbouring coefficients differ by more than 3, directions of a cell by more than 9 (aspect 3), or where a Robin
/// coefficient exceeds 10 K / h, which the diagonal D of the pointwise smoother does not see as the term of rank one that it is: rediscretised
/// coarse levels and the pointwise smoother need more iterations from there on, or fail. Lines in the directions that are that strong.
/// Algebraic multigrid where coefficients differ that much, if the library is there: black-box multigrid loses small stiff parts.
/// In place of vertices the whole grid at once where the coefficients are products of functions of x, y and z, no direction has more than
/// longest_dense_line unknowns, no more than most_dense_ranks hold it, and rounding permits it. std::invalid_argument if that is asked for where it cannot be.
inline constexpr std::int64_t longest_dense_line = 2048;
inline constexpr int most_dense_ranks = 16;
CoarseningChoice choose_coarsening(const Grid &grid, const MultigridOptions &options);

/// Whether Coarsening::fast_diagonalisation is possible.
bool can_be_solved_at_once(const Grid &grid);

/// The options with a precision that is not automatic: double for the whole grid at once.
MultigridOptions with_chosen_precision(
    MultigridOptions options, const Grid &grid, const CellBasis &basis);

/// The longest basis of fgmres: that of options.restart, for the whole grid at once no longer than the few iterations that it takes.
int longest_basis(const Grid &grid, const SolverOptions &options);

/// What to go on with where the cycle of the options is too slow for coefficients of cells: after cells the whole grid at once, where that
/// can be, then vertices, then single precision, if levels may fall back to it, then vertices_and_lines. `may_coarsen`: nobody has named the coarsening. Nothing if there is nothing else.
std::optional<MultigridOptions> next_cycle(
    const Grid &grid, const MultigridOptions &options, bool may_coarsen);
} // namespace tensormg
