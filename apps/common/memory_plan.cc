#include "apps/common/memory_plan.h"

#include <algorithm>
#include <cmath>

#include "apps/common/console.h"
#include "apps/parameters/text.h"
#include "apps/parameters/words.h"
#include "operators/multigrid/coarsening_choice.h"

namespace tensormg
{
namespace
{
  /// Both bases of a restart cycle that runs to its end, which the solver takes one by one, and the residual.
  int n_vectors(const Grid &grid, const SolverOptions &options)
  {
    return 2 * longest_basis(grid, options) + (options.has_single_basis() ? 2 : 1);
  }

  /// The least number of basis vectors worth recommending.
  constexpr int shortest_restart = 2;

  /// The memory that is asked.
  struct Room
  {
    double available;
    MemoryPlace place;
    double kept; ///< bytes of the plan that are in use
  };

  /// Collective.
  MemoryBudget budget_of(const Grid &grid, const SolverOptions &options, const Room &room)
  {
    return make_memory_budget(make_memory_plan(grid, options, room.place).bytes() - room.kept,
        room.available, grid.communicator, part_of_node(room.place));
  }

  /// Whether a solve with other choices would fit. Collective.
  bool would_fit(const Grid &grid, const SolverOptions &options, const Room &room)
  {
    return budget_of(grid, options, room).fits();
  }

  /// The longest basis of fgmres that fits; 0 if none does that is worth it. Collective.
  int largest_restart(const Grid &grid, const SolverOptions &options, const Room &room)
  {
    SolverOptions changed = options;
    int fits = shortest_restart - 1, too_long = std::min(options.restart, options.max_iterations);
    while (fits + 1 < too_long)
    {
      changed.restart = fits + (too_long - fits) / 2;
      (would_fit(grid, changed, room) ? fits : too_long) = changed.restart;
    }
    return fits >= shortest_restart ? fits : 0;
  }

  /// The changes of parameters with each of which the solve would fit. Collective.
  std::vector<std::string> helpful_changes(
      const Grid &grid, const SolverOptions &options, const Room &room)
  {
    std::vector<std::string> changes;
    const auto try_change = [&](const std::string &change, const SolverOptions &changed) {
      if (would_fit(grid, changed, room))
        changes.push_back(change);
    };
    if (options.solver == OuterSolver::fgmres)
      if (const int restart = largest_restart(grid, options, room); restart > 0)
        changes.push_back("solver.restart = " + std::to_string(restart));
    if (options.solver != OuterSolver::direct && !options.has_single_basis())
    {
      SolverOptions changed = options;
      changed.basis_precision = BasisPrecision::single_precision;
      try_change("solver.basis_precision = single", changed);
    }
    if (options.solver != OuterSolver::cg)
    {
      SolverOptions changed = options;
      changed.solver = OuterSolver::cg;
      try_change("solver.solver = cg", changed);
    }
    const bool whole_grid = choose_coarsening(grid, options.multigrid).whole_grid;
    if (whole_grid)
    {
      SolverOptions changed = options;
      changed.multigrid.coarsening = Coarsening::vertices;
      try_change("multigrid.coarsening = vertices", changed);
    }
    else if (options.solver != OuterSolver::direct)
      for (const Precision precision : {Precision::single_precision, Precision::half_precision})
        if (bytes_per_number(precision) < bytes_per_number(options.multigrid.precision))
        {
          SolverOptions changed = options;
          changed.multigrid.precision = precision;
          const std::string text = "multigrid.precision = " + to_word(precision);
          try_change(text, changed);
          if (options.solver == OuterSolver::fgmres)
          {
            changed.solver = OuterSolver::cg;
            try_change(text + " with solver.solver = cg", changed);
          }
        }
    return changes;
  }

  /// The largest number of refinements that fits; -1 if none does. Collective.
  int largest_refinements(const Grid &grid, const SolverOptions &options, const Room &room)
  {
    Problem problem = grid.problem;
    for (int refinements = problem.refinements - 1; refinements >= 0; --refinements)
    {
      problem.refinements = refinements;
      if (would_fit(make_grid(problem, grid.communicator, grid.division), options, room))
        return refinements;
    }
    return -1;
  }

} // namespace

void check_memory(const Grid &grid, const SolverOptions &options, double available,
    MemoryPlace place, double kept)
{
  const Room room{available, place, kept};
  const MemoryBudget budget = budget_of(grid, options, room);
  if (budget.fits())
    return;
  std::string text = "problem.refinements = " + std::to_string(grid.problem.refinements) + ": " +
      format_count(grid.finest().global_dofs()) + " degrees of freedom need " +
      format_bytes(budget.needed) +
      (options.solver == OuterSolver::fgmres && place != MemoryPlace::beside_device
              ? " (with all " + std::to_string(n_vectors(grid, options)) + " vectors of fgmres)"
              : "") +
      (place == MemoryPlace::device ? " on a device with " : " on a node with ") +
      format_bytes(budget.available) +
      (place == MemoryPlace::device ? " free, of which " : " available, of which ") +
      std::to_string(std::lround(100. * MemoryBudget::usable_part)) + " % may be used";
  const std::vector<std::string> changes = helpful_changes(grid, options, room);
  const int refinements = largest_refinements(grid, options, room);
  SolverOptions frugal = options;
  frugal.solver = OuterSolver::cg;
  frugal.multigrid.precision = Precision::half_precision;
  const int most = largest_refinements(grid, frugal, room);
  if (refinements >= 0)
    text += "; the largest number of refinements that fits is " + std::to_string(refinements);
  else
    text += "; no smaller number of refinements fits";
  if (changes.empty() && most > refinements)
    text += ", with solver.solver = cg and multigrid.precision = half " + std::to_string(most);
  if (!changes.empty())
    text += "; " + std::to_string(grid.problem.refinements) + " would fit with " +
        join(changes, ", or with ");
  throw ParameterError(text +
      (place == MemoryPlace::device ? "; operator.backend = cpu takes that of the node" : ""));
}
} // namespace tensormg
