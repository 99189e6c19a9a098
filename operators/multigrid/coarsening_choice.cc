#include "operators/multigrid/coarsening_choice.h"

#include <algorithm>

#include "operators/cellwise/vertex_amg.h"
#include "tensormg/report.h"

namespace tensormg
{
CoarseningChoice choose_coarsening(const Grid &grid, const MultigridOptions &options)
{
  constexpr double most_jump = 3., most_strength = 9., most_kappa = 10.;
  const CellData *data = grid.finest().cells.get();
  CoarseningChoice choice;
  if (data == nullptr)
    return choice;
  const double strongest = *std::max_element(data->strength.begin(), data->strength.end());
  const bool jumps = data->largest_jump > most_jump, is_stretched = strongest > most_strength,
             is_held = data->largest_kappa > most_kappa;
  const bool all = options.coarsening == Coarsening::vertices_and_lines;
  choice.vertices = all || options.coarsening == Coarsening::vertices ||
      (options.coarsening == Coarsening::automatic && (jumps || is_stretched || is_held));
  choice.algebraic = choice.vertices && (jumps || all) && VertexAmg::is_available();
  if (choice.vertices)
    for (int d = 0; d < grid.problem.dim; ++d)
      choice.lines[d] = all || data->strength[d] > most_strength;
  if (options.coarsening != Coarsening::automatic)
    choice.reason = "multigrid.coarsening";
  else if (jumps)
    choice.reason = "coefficients of neighbours differ by up to " + number_text(data->largest_jump);
  else if (is_stretched)
    choice.reason = "directions of a cell differ by up to " + number_text(strongest);
  else if (is_held)
    choice.reason = "Robin coefficients are up to " + number_text(data->largest_kappa) + " K / h";
  else
    choice.reason =
        "coefficients of neighbours differ by at most " + number_text(data->largest_jump);
  return choice;
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
    next.coarsening = Coarsening::vertices;
    return next;
  }
  if (options.falls_back_to_single())
  {
    next.precision = Precision::single_precision;
    next.single_levels = 0;
    return next;
  }
  next.coarsening = Coarsening::vertices_and_lines;
  if (!may_coarsen || choose_coarsening(grid, next).is_same_cycle(now))
    return std::nullopt;
  return next;
}
} // namespace tensormg
