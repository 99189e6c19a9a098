#include "operators/solver/argument_checks.h"

#include <cmath>
#include <string>

namespace tensormg
{
namespace
{
  [[noreturn]] void refuse(const std::string &what, const std::string &allowed)
  {
    throw ArgumentError(what + "; allowed: " + allowed);
  }

  void check_box(const Problem &problem)
  {
    if (problem.dim != 2 && problem.dim != 3)
      refuse("problem.dim = " + std::to_string(problem.dim), "2 or 3");
    if (problem.degree < 1 || problem.degree > 8)
      refuse("problem.degree = " + std::to_string(problem.degree), "1 to 8");
    if (problem.refinements < 0 || problem.refinements > 20)
      refuse("problem.refinements = " + std::to_string(problem.refinements), "0 to 20");
    for (std::size_t d = 0; d < 3; ++d)
    {
      const std::string index = "[" + std::to_string(d) + "]";
      const std::int64_t cells = problem.coarse_cells[d];
      if (d == 2 && problem.dim == 2)
      {
        if (cells != 1)
          refuse("problem.coarse_cells[2] = " + std::to_string(cells), "1 in 2D");
        continue;
      }
      if (cells < 1 || cells > (std::int64_t(1) << 30))
        refuse("problem.coarse_cells" + index + " = " + std::to_string(cells), "1 to 2^30");
      if (!(std::isfinite(problem.lower[d]) && std::isfinite(problem.upper[d]) &&
              problem.lower[d] < problem.upper[d]))
        refuse("problem.lower" + index + ", upper" + index + " = " + number_text(problem.lower[d]) +
                ", " + number_text(problem.upper[d]),
            "finite numbers, the lower one first");
    }
  }

  void check_data(const Problem &problem)
  {
    if (!(problem.coefficient > 0. && std::isfinite(problem.coefficient)))
      refuse("problem.coefficient = " + number_text(problem.coefficient), "finite numbers above 0");
    const auto &k = problem.cell_coefficient;
    for (std::size_t d = 1; d < 3; ++d)
      if (d < static_cast<std::size_t>(problem.dim)
              ? k[d].empty() != k[1].empty() || (k[0].empty() && !k[d].empty())
              : !k[d].empty())
        refuse("problem.cell_coefficient[" + std::to_string(d) + "] = '" + k[d] + "'",
            "none, the first alone, or one for each of the " + std::to_string(problem.dim) +
                " directions");
    for (const auto &[name, count] : problem.voxels)
      for (const std::int64_t n : count)
        if (n < 1 || n > (std::int64_t(1) << 30))
          refuse("problem.voxels: " + name + " has " + std::to_string(n), "1 to 2^30");
    for (int d = 0; d < problem.dim; ++d)
    {
      const auto lower = 2 * static_cast<std::size_t>(d), upper = lower + 1;
      if ((problem.boundary[lower] == BoundaryKind::periodic) !=
          (problem.boundary[upper] == BoundaryKind::periodic))
        refuse(std::string("of the sides ") + side_names[lower] + " and " + side_names[upper] +
                " one is periodic",
            "both or none");
    }
  }
} // namespace

void check_arguments(const Problem &problem, const SolverOptions &options)
{
  check_box(problem);
  check_data(problem);
  if (options.solver == OuterSolver::direct && options.full_multigrid)
    refuse("options.solver = direct with full_multigrid", "full_multigrid with fgmres or cg");
  if (problem.is_cellwise() && options.solver == OuterSolver::direct)
    refuse("options.solver = direct for coefficients that differ from cell to cell", "fgmres, cg");
  if (problem.is_cellwise() && options.multigrid.smoother == Smoother::patch)
    refuse("options.multigrid.smoother = patch for coefficients that differ from cell to cell",
        "chebyshev, jacobi");
  if (!(options.tolerance > 0. && options.tolerance < 1.))
    refuse("options.tolerance = " + number_text(options.tolerance), "numbers between 0 and 1");
  if (options.max_iterations < 0)
    refuse("options.max_iterations = " + std::to_string(options.max_iterations), "0 or more");
  if (options.restart < 1)
    refuse("options.restart = " + std::to_string(options.restart), "1 or more");
  if (options.multigrid.degree < 1)
    refuse("options.multigrid.degree = " + std::to_string(options.multigrid.degree), "1 or more");
}

void check_side(int side, int dim)
{
  if (side < 0 || side >= 2 * dim)
    refuse("side " + std::to_string(side), "0 to " + std::to_string(2 * dim - 1));
}

void check_size(const char *name, std::size_t found, std::int64_t wanted)
{
  if (found != static_cast<std::size_t>(wanted))
    refuse(std::string(name) + " has " + std::to_string(found) + " numbers",
        std::to_string(wanted) + ", Solver::size()");
}

} // namespace tensormg
