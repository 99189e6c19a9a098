#include "tensormg/solver.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <mpi.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/device/device.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/data/right_hand_side.h"
#include "operators/mesh/grid.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/output/together.h"
#include "operators/solver/argument_checks.h"
#include "operators/solver/available_memory.h"
#include "operators/solver/backend_choice.h"
#include "operators/solver/current_device.h"
#include "operators/solver/execution.h"
#include "operators/solver/memory_plan.h"
#include "operators/solver/side_values.h"
#include "operators/solver/solver_in.h"
#include "operators/vectors/nodal_map.h"

namespace tensormg
{
class Solver::Implementation
{
public:
  Implementation(const Problem &problem, const SolverOptions &options, const Execution &execution,
      MPI_Comm communicator)
    : coefficient_(problem.coefficient)
    , basis_(make_cell_basis(problem.degree))
    , grid_(make_grid(problem, communicator, division_for_devices(options)))
    , problem_(grid_.problem)
    , map_(basis_, line_nodes(execution.nodes, problem.degree + 1))
  {
    together([&] {
      backend_ = choose_backend(problem, options, execution.backend, ranks_of(grid_)).backend;
    });
    if (!on_device() && grid_.n_ranks > 1) // otherwise nothing is divided
      grid_ = make_grid(problem, communicator);
    add_cell_coefficients(grid_, basis_);
    together([&] {
      visit_right_hand_side(problem_, level(), basis_, [](auto &&...) {}); // are these functions?
    });
    if (on_device())
      device_ = device_properties().number;
    options_ = options;
    asked_ = options.multigrid;
    together([&] { options_.multigrid = with_chosen_precision(options.multigrid, grid_, basis_); });
    require_memory(grid_, options_);
    const SolverEnvironment environment{execution.iteration_callback, execution.message_callback,
        [this](
            const SolverOptions &other) { require_memory(grid_, other, bytes_kept(grid_, other)); },
        execution.stream};
    in_ = on_device() ? make_solver_in_device(grid_, basis_, backend_, options_, environment)
                      : make_solver_in_host(grid_, basis_, backend_, options_, environment);
  }

  Implementation(const Implementation &) = delete;
  Implementation &operator=(const Implementation &) = delete;
  ~Implementation()
  {
    try
    {
      const CurrentDevice current(device_);
      in_.reset();
    }
    catch (const DeviceError &)
    {
      in_.reset(); // as well as it can be
    }
  }

  /// What only some processes may throw: then all do.
  template <typename F>
  void together(const F &f) const
  {
    check_together(grid_.communicator, [&f] { with_argument_errors(f); });
  }

  const LevelGrid &level() const { return grid_.finest(); }
  const char *backend() const { return laplace::to_string(backend_); }
  std::int64_t size() const { return level().block.dofs(); }

  LocalCells cells() const
  {
    LocalCells result;
    for (std::size_t d = 0; d < 3; ++d)
    {
      result.begin[d] = level().offset[d];
      result.end[d] = level().offset[d] + level().block.cells[d];
      result.box[d] = level().global_cells[d];
    }
    return result;
  }

  /// Of direction d at all nodes.
  void coordinates(std::size_t d, std::span<double> to) const
  {
    const Block &block = level().block;
    std::int64_t at = 0;
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        {
          const std::int64_t cell = std::array{cx, cy, cz}[d] + level().offset[d];
          for (int k = 0; k < block.nz(); ++k)
            for (int j = 0; j < block.n; ++j)
              for (int i = 0; i < block.n; ++i, ++at)
                to[at] = level().axis[d].coordinate(cell, map_.nodes()[std::array{i, j, k}[d]]);
        }
  }

  void side_coordinates(int side, int d, std::span<double> to) const
  {
    tensormg::side_coordinates(level(), side, map_.nodes(), d, to);
  }
  void set_side_values(int side, std::span<const double> values)
  {
    const std::string name = std::string("values of ") + side_names[static_cast<std::size_t>(side)];
    problem_.functions[name] = side_function(level(), side, map_.nodes(), values);
    problem_.boundary_value[static_cast<std::size_t>(side)] = name;
    in_->forget_sides();
  }
  void update_sides() { in_->forget_sides(); }
  void update_coefficients()
  {
    const CurrentDevice current(device_);
    if (level().cells == nullptr)
      return;
    Grid other = grid_;
    other.problem.coefficient = coefficient_;
    SolverOptions chosen = options_;
    together([&] {
      add_cell_coefficients(other, basis_);
      chosen.multigrid = with_chosen_precision(asked_, other, basis_);
    });
    // Another cycle may serve these, which takes more.
    const double now = make_memory_plan(grid_, options_, place()).bytes();
    require_memory(other, chosen, now + vectors_beside_plan());
    options_ = chosen;
    problem_.coefficient = other.problem.coefficient;
    for (std::size_t l = 0; l < grid_.levels.size(); ++l)
      grid_.levels[l].cells = other.levels[l].cells;
    in_->update_cells(options_.multigrid);
  }
  bool is_periodic(int side) const
  {
    return problem_.boundary[static_cast<std::size_t>(side)] == BoundaryKind::periodic;
  }

  SolveReport solve_problem(std::span<double> u)
  {
    const CurrentDevice current(device_);
    together([&] { in_->set_b_of_problem(); });
    return solve("the right-hand side", u, Start::zero);
  }
  SolveReport solve_for(std::span<const double> f, std::span<double> u, Start start)
  {
    const CurrentDevice current(device_);
    in_->set_b(map_.modes_of_values(), length_squared() / problem_.coefficient, f.data());
    in_->weigh_b();
    try
    {
      together([&] { in_->add_sides(); });
    }
    catch (...) // on all ranks
    {
      in_->forget_sides();
      throw;
    }
    return solve("f", u, start);
  }
  SolveReport solve_system(std::span<const double> b, std::span<double> u, Start start)
  {
    const CurrentDevice current(device_);
    in_->set_b(map_.modes_of_integrals(), 1. / scale_of_matrix(), b.data());
    return solve("b", u, start);
  }
  void multiply(std::span<double> y, std::span<const double> x)
  {
    const CurrentDevice current(device_);
    in_->set_x(map_.modes_of_values(), x.data());
    in_->multiply();
    in_->get_b(map_.integrals_of_modes(), scale_of_matrix(), y.data());
  }
  void precondition(std::span<double> z, std::span<const double> r)
  {
    const CurrentDevice current(device_);
    in_->set_b(map_.modes_of_integrals(), 1. / scale_of_matrix(), r.data());
    in_->precondition();
    in_->get_x(map_.values_of_modes(), z.data());
  }

private:
  bool on_device() const { return laplace::is_device_backend(backend_); }

  /// Nodal vectors in host memory pass through a vector on the device, and values on the sides have one.
  double vectors_beside_plan() const
  {
    return (on_device() ? 2. : 1.) * sizeof(double) * static_cast<double>(level().block.size());
  }
  MemoryPlace place() const { return on_device() ? MemoryPlace::device : MemoryPlace::host; }
  /// Throws MemoryError where a solver for the grid would not fit, of which so many bytes are in use. Collective.
  void require_memory(const Grid &grid, const SolverOptions &options, double kept = 0.) const
  {
    const double needed =
        make_memory_plan(grid, options, place()).bytes() + vectors_beside_plan() - kept;
    const double available =
        on_device() ? static_cast<double>(free_device_bytes()) : available_memory();
    const MemoryBudget budget =
        make_memory_budget(needed, available, grid.communicator, part_of_node(place()));
    require(budget,
        std::to_string(level().global_dofs()) + " unknowns need" + (kept > 0. ? " another" : ""),
        on_device() ? "device memory" : "memory");
  }

  double length_squared() const { return level().reference_length() * level().reference_length(); }
  /// A = scale B for modes.
  double scale_of_matrix() const
  {
    return problem_.coefficient * level().mean_cell_volume() / length_squared();
  }

  /// For the b that has been set, made of the vector `name`.
  SolveReport solve(const std::string &name, std::span<double> u, Start start)
  {
    if (!std::isfinite(in_->largest_of_b()))
      throw ArgumentError(name + " holds numbers that are not finite, or leads to such");
    if (problem_.is_singular())
      in_->subtract_mean_of_b();
    const auto read_start = [&] { in_->set_x(map_.modes_of_values(), u.data()); };
    if (start != Start::zero)
    {
      read_start();
      if (!std::isfinite(in_->largest_of_x()))
        throw ArgumentError(
            "u, from which the iteration shall start, holds numbers that are not finite");
    }
    SolveReport report = in_->solve(start, read_start);
    if (problem_.is_singular())
      in_->subtract_mean_of_x();
    in_->get_x(map_.values_of_modes(), u.data());
    return report;
  }

  double coefficient_; ///< of the caller's problem
  CellBasis basis_;
  Grid grid_;
  Problem &problem_;
  laplace::Backend backend_{};
  MultigridOptions asked_;    ///< perhaps with an automatic precision
  SolverOptions options_;     ///< whose precision is not automatic
  std::optional<int> device_; ///< of the vectors, if they are in the memory of one
  NodalMap map_;
  std::unique_ptr<SolverIn> in_;
};

Solver::Solver(const Problem &problem, const SolverOptions &options, const Execution &execution)
{
  MPI_Comm communicator = communicator_of(execution);
  check_together(communicator, [&] { check_arguments(problem, options); });
  check_same(problem, options, communicator);
  with_argument_errors([&] {
    implementation_ = std::make_unique<Implementation>(problem, options, execution, communicator);
  });
}
Solver::~Solver() = default;
Solver::Solver(Solver &&) noexcept = default;
Solver &Solver::operator=(Solver &&) noexcept = default;

Solver::Implementation &Solver::implementation() const
{
  if (!implementation_)
    throw ArgumentError(
        "the solver has been moved to another object; allowed: to assign one to it");
  return *implementation_;
}

std::int64_t Solver::size() const { return implementation().size(); }
LocalCells Solver::cells() const { return implementation().cells(); }
std::string Solver::backend() const { return implementation().backend(); }

void Solver::coordinates(std::span<double> x, std::span<double> y, std::span<double> z) const
{
  check_coordinates(x, y, z, implementation().level().block.dim, size());
  implementation().coordinates(0, x);
  implementation().coordinates(1, y);
  if (!z.empty())
    implementation().coordinates(2, z);
}

std::int64_t Solver::side_size(int side) const
{
  check_side(side, implementation().level().block.dim);
  return tensormg::side_size(implementation().level(), side);
}
void Solver::side_coordinates(
    int side, std::span<double> x, std::span<double> y, std::span<double> z) const
{
  check_coordinates(
      x, y, z, implementation().level().block.dim, side_size(side), "Solver::side_size()");
  implementation().side_coordinates(side, 0, x);
  implementation().side_coordinates(side, 1, y);
  if (!z.empty())
    implementation().side_coordinates(side, 2, z);
}
void Solver::set_side_values(int side, std::span<const double> values)
{
  implementation().together([&] {
    check_size("values", values.size(), side_size(side), "Solver::side_size()");
    if (implementation().is_periodic(side))
      throw ArgumentError("side " + std::to_string(side) +
          " is periodic: it has no values; allowed: dirichlet, neumann and robin sides");
    check_numbers("values hold", values);
  });
  implementation().set_side_values(side, values);
}
void Solver::update_sides() { implementation().update_sides(); }
void Solver::update_coefficients() { implementation().update_coefficients(); }

SolveReport Solver::solve(std::span<double> u)
{
  implementation().together([&] { check_size("u", u.size(), size()); });
  return implementation().solve_problem(u);
}
SolveReport Solver::solve(std::span<const double> f, std::span<double> u, Start start)
{
  implementation().together([&] {
    check_size("f", f.size(), size());
    check_size("u", u.size(), size());
  });
  return implementation().solve_for(f, u, start);
}
SolveReport Solver::solve_system(std::span<const double> b, std::span<double> u, Start start)
{
  implementation().together([&] {
    check_size("b", b.size(), size());
    check_size("u", u.size(), size());
  });
  return implementation().solve_system(b, u, start);
}
void Solver::multiply(std::span<double> y, std::span<const double> x)
{
  implementation().together([&] {
    check_size("y", y.size(), size());
    check_size("x", x.size(), size());
  });
  implementation().multiply(y, x);
}
void Solver::precondition(std::span<double> z, std::span<const double> r)
{
  implementation().together([&] {
    check_size("z", z.size(), size());
    check_size("r", r.size(), size());
  });
  implementation().precondition(z, r);
}
} // namespace tensormg
