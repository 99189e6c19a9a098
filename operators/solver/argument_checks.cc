#include "operators/solver/argument_checks.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "operators/mesh/grid.h"

namespace tensormg
{
namespace
{
  [[noreturn]] void refuse(const std::string &what, const std::string &allowed)
  {
    throw ArgumentError(what + "; allowed: " + allowed);
  }

  template <typename Enumeration>
  void check_name(const char *name, Enumeration value, Enumeration last)
  {
    if (value < Enumeration{} || value > last)
      refuse(std::string(name) + " = " + std::to_string(static_cast<int>(value)),
          "names of the enumeration");
  }

  void check_degree(const Problem &problem)
  {
    if (problem.dim != 2 && problem.dim != 3)
      refuse("problem.dim = " + std::to_string(problem.dim), "2 or 3");
    if (problem.degree < 1 || problem.degree > 8)
      refuse("problem.degree = " + std::to_string(problem.degree), "1 to 8");
    if (problem.refinements < 0 || problem.refinements > 20)
      refuse("problem.refinements = " + std::to_string(problem.refinements), "0 to 20");
  }

  void check_box(const Problem &problem)
  {
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

  /// Whether it can be counted and resolved.
  void check_grid(const Problem &problem)
  {
    constexpr double most_dofs = 4.6e18; // about 2^62, with room for sums
    double dofs = 1.;
    for (int d = 0; d < problem.dim; ++d)
    {
      const auto axis = static_cast<std::size_t>(d);
      const double lower = problem.lower[axis], upper = problem.upper[axis];
      const double cells =
          std::ldexp(static_cast<double>(problem.coarse_cells[axis]), problem.refinements);
      const double h = (upper - lower) / cells;
      dofs *= cells * (problem.degree + 1);
      // 1/h^2 must be in range, and vertices must differ.
      if (!(h > 1e-100 && h < 1e100) || !(lower + 0.5 * h > lower && upper - 0.5 * h < upper))
        refuse("cells of the size " + number_text(h) + " in direction " + std::to_string(d),
            "what double precision resolves between problem.lower and problem.upper");
      if (const std::string complaint = complaint_about_corners(problem, d); !complaint.empty())
        throw ArgumentError("problem.corners[" + std::to_string(d) + "]: " + complaint);
    }
    if (!(dofs < most_dofs))
      refuse("problem.coarse_cells, refinements and degree give " + number_text(dofs) +
              " unknowns of all processes",
          "less than 2^62");
  }

  void check_coefficient(const Problem &problem)
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
  }

  void check_sides(const Problem &problem)
  {
    for (int d = 0; d < problem.dim; ++d)
    {
      const auto lower = 2 * static_cast<std::size_t>(d), upper = lower + 1;
      for (const std::size_t side : {lower, upper})
        check_name((std::string("problem.boundary[") + std::to_string(side) + "]").c_str(),
            problem.boundary[side], BoundaryKind::robin);
      if ((problem.boundary[lower] == BoundaryKind::periodic) !=
          (problem.boundary[upper] == BoundaryKind::periodic))
        refuse(std::string("of the sides ") + side_names[lower] + " and " + side_names[upper] +
                " one is periodic",
            "both or none");
    }
  }

  void check_data(const Problem &problem)
  {
    check_coefficient(problem);
    for (const std::string &mixed : problem.mixed_coefficient)
      if (!mixed.empty())
        refuse("problem.mixed_coefficient has '" + mixed + "'",
            "none, since the cells of a box have a diagonal tensor");
    for (const auto &[name, count] : problem.voxels)
      for (const std::int64_t n : count)
        if (n < 1 || n > (std::int64_t(1) << 30))
          refuse("problem.voxels: " + name + " has " + std::to_string(n), "1 to 2^30");
    check_sides(problem);
  }

  bool is_name(const std::string &text)
  {
    constexpr const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return !text.empty() && std::string(letters).find(text[0]) != std::string::npos &&
        text.find_first_not_of(std::string(letters) + "0123456789") == std::string::npos &&
        text != "x" && text != "y" && text != "z" && text != "pi";
  }

  /// Names of the caller that stand in expressions or for them.
  void check_names(const Problem &problem)
  {
    const std::string allowed = "letters, digits and _ that have no other meaning in expressions";
    for (const auto &[name, value] : problem.constants)
      if (!is_name(name))
        refuse("problem.constants has the name '" + name + "'", allowed);
    for (const auto &[name, function] : problem.functions)
      if (!is_name(name) || problem.constants.contains(name))
        refuse("problem.functions has the name '" + name + "'", allowed);
  }

  /// A number of an option, NaN being none.
  void check_number(const char *name, double value, bool is_allowed, const std::string &allowed)
  {
    if (!is_allowed)
      refuse(std::string("options.") + name + " = " + number_text(value), allowed);
  }
  void check_integer(const char *name, int value, int least, int most)
  {
    if (value < least || value > most)
      refuse(std::string("options.") + name + " = " + std::to_string(value),
          std::to_string(least) +
              (most == std::numeric_limits<int>::max() ? " or more"
                                                       : " to " + std::to_string(most)));
  }

  void check_solver(const SolverOptions &options)
  {
    constexpr int any = std::numeric_limits<int>::max();
    check_name("options.solver", options.solver, OuterSolver::direct);
    check_name(
        "options.basis_precision", options.basis_precision, BasisPrecision::single_precision);
    check_number("tolerance", options.tolerance, options.tolerance > 0. && options.tolerance < 1.,
        "numbers between 0 and 1");
    check_integer("max_iterations", options.max_iterations, 0, any);
    check_integer("restart", options.restart, 1, any);
    check_integer("full_multigrid_cycles", options.full_multigrid_cycles, 1, any);
  }

  /// As the parameter file has them.
  void check_multigrid(const MultigridOptions &multigrid)
  {
    check_name(
        "options.multigrid.precision", multigrid.precision, Precision::corrected_half_precision);
    check_name("options.multigrid.cycle", multigrid.cycle, Cycle::w);
    check_name("options.multigrid.smoother", multigrid.smoother, Smoother::jacobi);
    check_name(
        "options.multigrid.cycle_operator", multigrid.cycle_operator, CycleOperator::cell_mean);
    check_name("options.multigrid.chebyshev_kind", multigrid.chebyshev_kind, ChebyshevKind::fourth);
    check_name("options.multigrid.schwarz_kind", multigrid.schwarz_kind, SchwarzKind::additive);
    check_integer("multigrid.degree", multigrid.degree, 1, 100);
    check_integer("multigrid.eigenvalue_steps", multigrid.eigenvalue_steps, 6, 1000);
    check_integer("multigrid.single_levels", multigrid.single_levels, 0, 60);
    check_integer("multigrid.replicated_dofs", multigrid.replicated_dofs, 0, 100000000);
    check_name(
        "options.multigrid.coarsening", multigrid.coarsening, Coarsening::fast_diagonalisation);
    const auto number = [](const char *name, double value, bool is_large, const char *allowed) {
      check_number(name, value, is_large && std::isfinite(value), allowed);
    };
    number("multigrid.smoothing_range", multigrid.smoothing_range, multigrid.smoothing_range > 1.,
        "finite numbers above 1");
    number("multigrid.eigenvalue_safety", multigrid.eigenvalue_safety,
        multigrid.eigenvalue_safety >= 1., "finite numbers from 1 on");
    number("multigrid.damping", multigrid.damping, multigrid.damping >= 0.,
        "finite numbers from 0 on");
  }

  template <typename Enumeration>
  double number(Enumeration value)
  {
    return static_cast<double>(value);
  }

  /// Of the same names on all processes.
  void refuse_differences(
      const std::vector<std::pair<std::string, double>> &mine, MPI_Comm communicator)
  {
    const std::size_t count = mine.size();
    std::vector<double> largest(2 * count);
    for (std::size_t i = 0; i < count; ++i)
    {
      largest[i] = mine[i].second;
      largest[count + i] = -mine[i].second;
    }
    MPI_Allreduce(MPI_IN_PLACE, largest.data(), static_cast<int>(largest.size()), MPI_DOUBLE,
        MPI_MAX, communicator);
    for (std::size_t i = 0; i < count; ++i)
      if (largest[i] != -largest[count + i])
        refuse(mine[i].first + " differs between processes, from " +
                number_text(-largest[count + i]) + " to " + number_text(largest[i]),
            "the same on all");
  }
} // namespace

namespace
{
  void check_mixed_coefficient(const Problem &problem)
  {
    const auto &mixed = problem.mixed_coefficient;
    const auto n_mixed = static_cast<std::size_t>(problem.dim == 3 ? 3 : 1);
    const bool is_tensor = !mixed[0].empty();
    for (std::size_t m = 0; m < 3; ++m)
      if (mixed[m].empty() != !(is_tensor && m < n_mixed))
        refuse("problem.mixed_coefficient[" + std::to_string(m) + "] = '" + mixed[m] + "'",
            "none, or those of a whole tensor: " +
                std::string(problem.dim == 3 ? "xy, xz and yz" : "xy"));
    if (is_tensor && problem.cell_coefficient[1].empty())
      refuse("problem.mixed_coefficient without a diagonal",
          "with one problem.cell_coefficient for each direction");
  }

  void check_mesh_options(const Problem &problem, const MeshOptions &mesh)
  {
    check_name("mesh.type", mesh.type, MeshType::arrays);
    check_name("mesh.averages", mesh.averages, FaceAverage::harmonic);
    check_name("mesh.arrays.places", mesh.arrays.places, CellNodePlaces::equidistant);
    if (mesh.type == MeshType::box)
      refuse("mesh.type = box", "mapped, generate, file, arrays; tensormg::Solver has boxes");
    if (mesh.degree < 0 || mesh.degree > 8)
      refuse("mesh.degree = " + std::to_string(mesh.degree), "0 to 8");
    for (const auto &[name, condition] : mesh.conditions)
      check_name(("mesh.conditions of " + name).c_str(), condition.kind, BoundaryKind::robin);
    if (mesh.type != MeshType::mapped)
      return;
    check_box(problem);
    check_sides(problem);
    for (const std::vector<double> &corners : problem.corners)
      if (!corners.empty())
        refuse("problem.corners with mesh.type = mapped", "none: the map may move cells");
  }

  void check_methods_of_meshes(const SolverOptions &options)
  {
    if (options.solver == OuterSolver::direct)
      refuse("options.solver = direct on curved cells", "fgmres, cg");
    if (options.full_multigrid)
      refuse("options.full_multigrid on curved cells", "false");
    if (options.basis_precision == BasisPrecision::single_precision)
      refuse("options.basis_precision = single on curved cells", "auto, double");
    if (options.multigrid.smoother == Smoother::patch)
      refuse("options.multigrid.smoother = patch on curved cells", "chebyshev, jacobi");
    if (takes_tensor_cores(options.multigrid.precision))
      refuse(std::string("options.multigrid.precision = ") +
              to_string(options.multigrid.precision) + " on curved cells",
          "auto, double, single, half");
    if (options.multigrid.replicated_dofs != MultigridOptions().replicated_dofs)
      refuse("options.multigrid.replicated_dofs = " +
              std::to_string(options.multigrid.replicated_dofs) + " on curved cells",
          "the default");
    if (options.multigrid.coarsening > Coarsening::vertices)
      refuse("options.multigrid.coarsening = " +
              std::string(options.multigrid.coarsening == Coarsening::vertices_and_lines
                      ? "vertices_and_lines"
                      : "fast_diagonalisation") +
              " on curved cells",
          "auto, cells, vertices");
    check_name(
        "options.multigrid.relaxation", options.multigrid.relaxation, Relaxation::cells_and_lines);
  }
} // namespace

void check_arguments(const Problem &problem, const MeshOptions &mesh, const SolverOptions &options,
    const Execution &execution)
{
  check_degree(problem);
  check_mesh_options(problem, mesh);
  check_coefficient(problem);
  check_mixed_coefficient(problem);
  check_names(problem);
  check_solver(options);
  check_multigrid(options.multigrid);
  check_methods_of_meshes(options);
  if (mesh.averages == FaceAverage::harmonic &&
      options.multigrid.cycle_operator == CycleOperator::cell_mean)
    refuse("options.multigrid.cycle_operator = cell_mean with mesh.averages = harmonic",
        "auto, true_metric");
  if (execution.backend != "auto" && execution.backend != "cpu" && execution.backend != "cuda")
    refuse("execution.backend = '" + execution.backend + "' on curved cells", "auto, cpu, cuda");
}

void check_arguments(const Problem &problem, const SolverOptions &options)
{
  check_degree(problem);
  check_box(problem);
  check_grid(problem);
  check_data(problem);
  check_names(problem);
  check_solver(options);
  check_multigrid(options.multigrid);
  if (options.solver == OuterSolver::direct && options.full_multigrid)
    refuse("options.solver = direct with full_multigrid", "full_multigrid with fgmres or cg");
  const std::string cells = problem.has_side(BoundaryKind::robin) ? " for Robin sides"
      : problem.is_graded()                                       ? " for graded cells"
                            : " for coefficients that differ from cell to cell";
  if (problem.is_cellwise() && options.solver == OuterSolver::direct)
    refuse("options.solver = direct" + cells, "fgmres, cg");
  if (problem.is_cellwise() && options.multigrid.smoother == Smoother::patch)
    refuse("options.multigrid.smoother = patch" + cells, "chebyshev, jacobi");
}

void check_same(const Problem &problem, const SolverOptions &options, MPI_Comm communicator)
{
  const MultigridOptions &multigrid = options.multigrid;
  std::vector<std::pair<std::string, double>> mine{{"problem.dim", problem.dim},
      {"problem.degree", problem.degree}, {"problem.refinements", problem.refinements},
      {"problem.coefficient", problem.coefficient}, {"options.solver", number(options.solver)},
      {"options.tolerance", options.tolerance}, {"options.max_iterations", options.max_iterations},
      {"options.restart", options.restart},
      {"options.basis_precision", number(options.basis_precision)},
      {"options.full_multigrid", options.full_multigrid},
      {"options.full_multigrid_cycles", options.full_multigrid_cycles},
      {"options.multigrid.precision", number(multigrid.precision)},
      {"options.multigrid.cycle", number(multigrid.cycle)},
      {"options.multigrid.smoother", number(multigrid.smoother)},
      {"options.multigrid.relaxation", number(multigrid.relaxation)},
      {"options.multigrid.cycle_operator", number(multigrid.cycle_operator)},
      {"options.multigrid.chebyshev_kind", number(multigrid.chebyshev_kind)},
      {"options.multigrid.degree", multigrid.degree},
      {"options.multigrid.smoothing_range", multigrid.smoothing_range},
      {"options.multigrid.eigenvalue_steps", multigrid.eigenvalue_steps},
      {"options.multigrid.eigenvalue_safety", multigrid.eigenvalue_safety},
      {"options.multigrid.schwarz_kind", number(multigrid.schwarz_kind)},
      {"options.multigrid.damping", multigrid.damping},
      {"options.multigrid.single_levels", multigrid.single_levels},
      {"options.multigrid.replicated_dofs", multigrid.replicated_dofs},
      {"options.multigrid.coarsening", number(multigrid.coarsening)},
      {"options.multigrid.precision_fallback", multigrid.precision_fallback}};
  // As many numbers in 2D, which a process with another dimension compares its own with.
  for (std::size_t d = 0; d < 3; ++d)
  {
    const std::string index = "[" + std::to_string(d) + "]";
    const bool is_there = d < static_cast<std::size_t>(problem.dim);
    mine.emplace_back("problem.lower" + index, is_there ? problem.lower[d] : 0.);
    mine.emplace_back("problem.upper" + index, is_there ? problem.upper[d] : 0.);
    mine.emplace_back("problem.coarse_cells" + index,
        is_there ? static_cast<double>(problem.coarse_cells[d]) : 0.);
    std::uint64_t sum = 0;
    if (is_there)
      for (const double corner : problem.corners[d])
        sum = sum * 6364136223846793005U + std::bit_cast<std::uint64_t>(corner);
    mine.emplace_back("the checksum of problem.corners" + index, static_cast<double>(sum >> 11U));
  }
  for (std::size_t side = 0; side < 6; ++side)
    mine.emplace_back(
        std::string("problem.boundary of ") + side_names[side], number(problem.boundary[side]));
  refuse_differences(mine, communicator);
}

void check_side(int side, int dim)
{
  if (side < 0 || side >= 2 * dim)
    refuse("side " + std::to_string(side), "0 to " + std::to_string(2 * dim - 1));
}

void check_size(const char *name, std::size_t found, std::int64_t wanted, const char *of)
{
  if (found != static_cast<std::size_t>(wanted))
    refuse(std::string(name) + " has " + std::to_string(found) + " numbers",
        std::to_string(wanted) + ", " + of);
}

void check_coordinates(std::span<double> x, std::span<double> y, std::span<double> z, int dim,
    std::int64_t wanted, const char *of)
{
  check_size("x", x.size(), wanted, of);
  check_size("y", y.size(), wanted, of);
  if (!z.empty() || dim == 3)
    check_size("z", z.size(), wanted, of);
}

void check_numbers(const char *who_holds, std::span<const double> numbers)
{
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i]))
      throw ArgumentError(std::string(who_holds) + " numbers that are not finite: number " +
          std::to_string(i) + " is " + number_text(numbers[i]));
}

} // namespace tensormg
