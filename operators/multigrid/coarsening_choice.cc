#include "operators/multigrid/coarsening_choice.h"

#include <algorithm>
#include <stdexcept>

#include "operators/cellwise/separation.h"
#include "operators/cellwise/vertex_amg.h"
#include "operators/constant/level_choices.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  /// Whether so many ranks have to hold the whole grid that `auto` takes something else.
  bool is_held_by_many(const Grid &grid)
  {
    return grid.finest().communicator != MPI_COMM_SELF && grid.n_ranks > most_dense_ranks;
  }

  /// Why the whole grid cannot be solved at once; nothing if it can be.
  std::string obstacle_to_whole_grid(const Grid &grid)
  {
    const LevelGrid &level = grid.finest();
    constexpr double most_condition = 1e13;
    if (!level.cells->separation)
      return "coefficients that are products of functions of x, y and z";
    for (int d = 0; d < level.block.dim; ++d)
      if (level.global_cells[d] * level.block.n > longest_dense_line)
        return "at most " + std::to_string(longest_dense_line) + " unknowns in each direction";
    const double condition = condition_number(level, *level.cells->separation, grid.problem);
    if (!(condition <= most_condition))
      return "a condition number of at most " + number_text(most_condition) + ", this grid has " +
          number_text(condition);
    return "";
  }

  /// What asks for more than coarser cells and the pointwise smoother; nothing if these do.
  std::string trouble_for_cells(const CellData &data)
  {
    constexpr double most_jump = 3., most_strength = 9., most_kappa = 10.;
    const double strongest = *std::max_element(data.strength.begin(), data.strength.end());
    if (data.largest_jump > most_jump)
      return "coefficients of neighbours differ by up to " + number_text(data.largest_jump);
    if (strongest > most_strength)
      return "directions of a cell differ by up to " + number_text(strongest);
    if (data.largest_kappa > most_kappa)
      return "Robin coefficients are up to " + number_text(data.largest_kappa) + " K / h";
    return "";
  }
} // namespace

CoarseningChoice choose_coarsening(const Grid &grid, const MultigridOptions &options)
{
  constexpr double most_jump = 3., most_strength = 9.;
  const CellData *data = grid.finest().cells.get();
  CoarseningChoice choice;
  if (data == nullptr)
    return choice;
  const std::string obstacle = obstacle_to_whole_grid(grid), trouble = trouble_for_cells(*data);
  const bool is_free = options.coarsening == Coarsening::automatic,
             all = options.coarsening == Coarsening::vertices_and_lines;
  if (options.coarsening == Coarsening::fast_diagonalisation && !obstacle.empty())
    throw std::invalid_argument("multigrid.coarsening = fast_diagonalisation needs " + obstacle +
        "; allowed: auto, cells, vertices, vertices_and_lines");
  choice.whole_grid = options.coarsening == Coarsening::fast_diagonalisation ||
      (is_free && !trouble.empty() && obstacle.empty() && !is_held_by_many(grid));
  choice.vertices = all || options.coarsening == Coarsening::vertices ||
      (is_free && !trouble.empty() && !choice.whole_grid);
  choice.algebraic =
      choice.vertices && (data->largest_jump > most_jump || all) && VertexAmg::is_available();
  if (choice.vertices)
    for (int d = 0; d < grid.problem.dim; ++d)
      choice.lines[d] = all || data->strength[d] > most_strength;
  if (!is_free)
    choice.reason = "multigrid.coarsening";
  else if (trouble.empty())
    choice.reason =
        "coefficients of neighbours differ by at most " + number_text(data->largest_jump);
  else
    choice.reason = trouble +
        (choice.whole_grid ? ", and K and c are products of functions of x, y and z" : "");
  return choice;
}

bool can_be_solved_at_once(const Grid &grid)
{
  return grid.finest().cells != nullptr && obstacle_to_whole_grid(grid).empty();
}

MultigridOptions with_chosen_precision(
    MultigridOptions options, const Grid &grid, const CellBasis &basis)
{
  if (choose_coarsening(grid, options).whole_grid)
    options.precision = Precision::double_precision;
  else if (options.precision == Precision::automatic)
    options.precision =
        needs_double(grid, basis) ? Precision::double_precision : Precision::single_precision;
  return options;
}

int longest_basis(const Grid &grid, const SolverOptions &options)
{
  constexpr int of_whole_grid = 5;
  const int longest = std::min(options.restart, options.max_iterations);
  return choose_coarsening(grid, options.multigrid).whole_grid ? std::min(longest, of_whole_grid)
                                                               : longest;
}

std::optional<MultigridOptions> next_cycle(
    const Grid &grid, const MultigridOptions &options, bool may_coarsen)
{
  if (grid.finest().cells == nullptr)
    return std::nullopt;
  const CoarseningChoice now = choose_coarsening(grid, options);
  MultigridOptions next = options;
  if (may_coarsen && !now.vertices)
  {
    const bool at_once =
        !now.whole_grid && !is_held_by_many(grid) && obstacle_to_whole_grid(grid).empty();
    next.coarsening = at_once ? Coarsening::fast_diagonalisation : Coarsening::vertices;
    if (at_once)
      next.precision = Precision::double_precision;
    return next;
  }
  if (options.falls_back_to_single())
  {
    next.precision = Precision::single_precision;
    next.single_levels = 0;
    return next;
  }
  next.coarsening = Coarsening::vertices_and_lines;
  if (!may_coarsen || now.whole_grid || choose_coarsening(grid, next).is_same_cycle(now))
    return std::nullopt;
  return next;
}
} // namespace tensormg
