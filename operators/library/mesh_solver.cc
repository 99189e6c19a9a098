#include "tensormg/mesh_solver.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <mpi.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/block_solver/block_solve.h"
#include "operators/data/tensor_rule.h"
#include "operators/library/array_mesh.h"
#include "operators/library/coefficient_values.h"
#include "operators/library/mesh_points.h"
#include "operators/mesh/agreement.h"
#include "operators/output/together.h"
#include "operators/pointwise/block_function.h"
#include "operators/pointwise/block_right_hand_side.h"
#include "operators/solver/argument_checks.h"
#include "operators/solver/available_memory.h"
#include "operators/solver/backend_choice.h"
#include "operators/solver/current_device.h"
#include "operators/solver/execution.h"
#include "operators/vectors/nodal_map.h"

namespace tensormg
{
namespace
{
  constexpr const char *size_text = "MeshSolver::size()",
                       *points_text = "MeshSolver::points_size()";

  /// What of the options a mesh is made from.
  const char *source_of(MeshType type)
  {
    switch (type)
    {
      case MeshType::mapped:
        return "mesh.map: ";
      case MeshType::generate:
        return "mesh.generator: ";
      case MeshType::file:
        return "mesh.file: ";
      default:
        return "mesh.arrays: ";
    }
  }

  std::string source_of(const CoefficientError &error, const BlockProblem &problem)
  {
    if (error.of == CoefficientError::Of::diffusion)
      return problem.k ? "set_coefficient_values: " : "problem.coefficient: ";
    if (error.of == CoefficientError::Of::reaction)
      return "problem.reaction: ";
    const std::string name = problem.boundary_name(error.boundary);
    return problem.has_sides ? "problem.robin_coefficient of " + name + ": "
                             : "mesh.conditions of '" + name + "': ";
  }

  /// f(); what is said about meshes and parameters are words about arguments. Coefficients are left to with_errors().
  template <typename F>
  auto with_mesh_errors(MeshType type, const F &f)
  {
    try
    {
      return f();
    }
    catch (const MeshError &error)
    {
      throw ArgumentError(source_of(type) + std::string(error.what()));
    }
    catch (const CoefficientError &)
    {
      throw;
    }
    catch (const std::invalid_argument &error)
    {
      const std::string parameter = "boundary.conditions", text = error.what();
      throw ArgumentError(
          text.starts_with(parameter) ? "mesh.conditions" + text.substr(parameter.size()) : text);
    }
  }

  BlockProblem made_problem(const Problem &problem, const MeshOptions &mesh, MPI_Comm communicator)
  {
    std::optional<BlockProblem> result;
    check_together(communicator, [&] {
      with_mesh_errors(mesh.type, [&] {
        if (mesh.type != MeshType::arrays)
          result = make_divided_problem(problem, mesh, communicator);
        else
          result = make_divided_problem(
              make_block_problem(problem, mesh, make_array_mesh(problem.dim, mesh.arrays)),
              communicator);
      });
    });
    return std::move(*result);
  }

  /// What tells meshes apart.
  std::string checksum(const BlockProblem &problem)
  {
    std::uint64_t sum = 0;
    const auto add = [&](std::uint64_t number) { sum = sum * 6364136223846793005U + number; };
    for (const auto &corners : problem.blocks.corners)
      for (const auto &corner : corners)
        for (const double x : corner)
          add(std::bit_cast<std::uint64_t>(x));
    for (const auto &sides : problem.blocks.sides)
      for (const BlockSide &side : sides)
        add(static_cast<std::uint64_t>(side.boundary));
    for (const int material : problem.blocks.material)
      add(static_cast<std::uint64_t>(material));
    add(static_cast<std::uint64_t>(problem.averages));
    add(static_cast<std::uint64_t>(problem.mapping_degree));
    // The polynomials of blocks, which corners do not tell: any node changes them here.
    const std::vector<double> line{0.2, 0.7};
    for (std::int64_t block = 0; block < problem.blocks.n_blocks(); ++block)
      for (const auto &point : problem.geometry.points(block, {line, line, line}))
        for (const double x : point)
          add(std::bit_cast<std::uint64_t>(x));
    for (const auto &[number, condition] : problem.conditions)
      add(static_cast<std::uint64_t>(number) * 4 + static_cast<std::uint64_t>(condition.kind));
    return std::to_string(problem.blocks.n_blocks()) + ' ' + std::to_string(sum);
  }
} // namespace

class MeshSolver::Implementation
{
public:
  Implementation(const Problem &problem, const MeshOptions &mesh, const SolverOptions &options,
      const Execution &execution, MPI_Comm communicator)
    : communicator_(communicator)
    , type_(mesh.type)
    , options_(options)
    , execution_(execution)
    , problem_(made_problem(problem, mesh, communicator))
    , map_(make_cell_basis(problem.degree), line_nodes(execution.nodes, problem.degree + 1))
    , order_{std::int64_t{1} << problem_.problem.refinements}
  {
    if (!is_same_on_all_ranks(checksum(problem_), communicator))
      throw ArgumentError(
          "the mesh, its degree, its averages or its conditions differ between processes; allowed: the same on all");
    check_functions();
    choose_place();
    require_memory();
    has_room_for_vertices_ = has_room_for_vertices(problem_, options_, communicator_, place_);
    levels_ = made_levels();
    make_solver();
    b_ = Vector<double>(level().grid.block);
    x_ = Vector<double>(level().grid.block);
    if (is_whole())
      tell("the mesh is too small for " + std::to_string(n_ranks()) +
          " processes: each computes all of it");
  }
  Implementation(const Implementation &) = delete;
  Implementation &operator=(const Implementation &) = delete;
  ~Implementation()
  {
    try
    {
      const CurrentDevice current(device_);
      solver_.reset();
    }
    catch (const DeviceError &)
    {
      solver_.reset(); // as well as it can be
    }
  }

  const char *backend() const { return place_ == MemoryPlace::device ? "cuda" : "cpu"; }

  template <typename F>
  void together(const F &f) const
  {
    check_together(communicator_, [&] { with_errors(f); });
  }
  /// with_mesh_errors(), also about values of coefficients and missing memory.
  template <typename F>
  auto with_errors(const F &f) const
  {
    try
    {
      return with_mesh_errors(type_, f);
    }
    catch (const CoefficientError &error)
    {
      throw ArgumentError(source_of(error, problem_) + std::string(error.what()));
    }
    catch (const std::bad_alloc &)
    {
      throw MemoryError(
          number_text(dofs_of(problem_)) + " unknowns need more memory than there is");
    }
  }

  int dim() const { return problem_.blocks.dim; }
  std::int64_t size() const { return level().grid.block.dofs(); }
  bool is_whole() const { return n_ranks() > 1 && !levels_->is_distributed(); }

  std::vector<RefinedCell> cells() const
  {
    std::vector<RefinedCell> result;
    for_each_cell(problem_.geometry, level().shape, [&](const CellPlace &place) {
      const auto block = static_cast<std::size_t>(place.block);
      const BlockOrigin &origin = problem_.origins[block];
      RefinedCell &cell = result.emplace_back(
          RefinedCell{origin.cell, origin.part, problem_.blocks.material[block]});
      for (int d = 0; d < dim(); ++d)
        cell.part[d] = cell.part[d] * level().shape.per_direction + place.cell[d];
    });
    return result;
  }

  void coordinates(const MeshPoints::Coordinates &to) const
  {
    const MeshPoints nodes = points_at(map_.nodes());
    std::size_t at = 0;
    nodes.for_cells([&](const CellPlace &place) { write_points(nodes.of(place), to, at); });
  }

  std::vector<std::string> boundaries() const
  {
    std::vector<std::string> names;
    for (const auto &[number, condition] : problem_.conditions)
      names.push_back(problem_.boundary_name(number));
    return names;
  }
  int boundary_number(const std::string &name) const
  {
    return with_errors([&] { return problem_.boundary_number(name); });
  }
  std::int64_t boundary_size(int boundary) const
  {
    const MeshPoints nodes = points_at(map_.nodes());
    std::int64_t size = 0;
    nodes.for_sides(boundary, [&](const CellPlace &, int) { size += nodes.per_side(); });
    return size;
  }
  void boundary_coordinates(int boundary, const MeshPoints::Coordinates &to) const
  {
    const MeshPoints nodes = points_at(map_.nodes());
    std::size_t at = 0;
    nodes.for_sides(boundary,
        [&](const CellPlace &place, int side) { write_points(nodes.of(place, side), to, at); });
  }
  void set_boundary_values(int boundary, std::span<const double> values)
  {
    problem_.on_boundary[boundary] = modes_on(boundary, values);
    sides_.reset();
  }
  void update_boundaries() { sides_.reset(); }

  std::int64_t points_size() const
  {
    return points_at({0.5}).n_cells() *
        points_of_cell_and_sides(dim(), problem_.problem.degree + 1);
  }
  void point_coordinates(const MeshPoints::Coordinates &to) const
  {
    const LineRule line = gauss_rule(levels_->basis(), levels_->basis().n);
    const MeshPoints gauss = points_at(line.points);
    std::size_t at = 0;
    gauss.for_cells([&](const CellPlace &place) {
      write_points(gauss.of(place), to, at);
      for (int side = 0; side < 2 * dim(); ++side)
        write_points(moved_inwards(gauss.of(place, side), gauss.middle(place)), to, at);
    });
  }
  void values_at_points(std::span<double> values, std::span<const double> u) const
  {
    Vector<double> modes(level().grid.block);
    nodes_to_modes(map_.modes_of_values(), 1., u.data(), modes, order_);
    const CellQuadrature gauss(
        problem_.geometry, level().shape, levels_->basis(), levels_->basis().n);
    auto at = values.begin();
    for_each_cell(problem_.geometry, level().shape, [&](const CellPlace &place) {
      const std::vector<double> of_cell = modes_of_cell(modes, level().shape, place);
      for (int side = -1; side < 2 * dim(); ++side)
        at = std::ranges::copy(gauss.values(of_cell, side), at).out;
    });
  }
  void set_coefficient_values(std::span<const double> k)
  {
    require(
        make_memory_budget(bytes_of_values(*levels_, k.size()), available_memory(), communicator_),
        "values of K at points need", "memory");
    std::optional<DiffusionTensor> before =
        tensor_of_values(*levels_, std::vector<double>(k.begin(), k.end()));
    std::swap(problem_.k, before);
    try
    {
      update_coefficients();
    }
    catch (...)
    {
      std::swap(problem_.k, before);
      throw;
    }
  }
  void update_coefficients()
  {
    const CurrentDevice current(device_);
    solver_.reset(); // its memory serves the new numbers
    std::unique_ptr<BlockLevels> before = std::move(levels_);
    try
    {
      require_memory_again();
      levels_ = made_levels();
      make_solver();
    }
    catch (...)
    {
      levels_ = std::move(before); // the next verb makes the solver of these again
      throw;
    }
    sides_.reset();
  }

  SolveReport solve_problem(std::span<double> u)
  {
    with_errors([&] {
      BlockRightHandSide right_hand_side = assemble_block_right_hand_side(problem_, *levels_);
      make_compatible(problem_, *levels_, right_hand_side);
      b_ = std::move(right_hand_side.b);
    });
    check_finite("the right-hand side");
    return solve(u, Start::zero);
  }
  SolveReport solve_for(std::span<const double> f, std::span<double> u, Start start)
  {
    if (!sides_)
      sides_ = with_errors([&] { return assemble_sides(problem_, *levels_); });
    nodes_to_modes(map_.modes_of_values(), 1., f.data(), x_, order_);
    solver().space().axpby(1., *sides_, 0., b_);
    add_integrals(problem_, *levels_, x_, b_);
    check_finite("f");
    subtract_mean_of_b();
    return solve(u, start);
  }
  SolveReport solve_system(std::span<const double> b, std::span<double> u, Start start)
  {
    nodes_to_modes(map_.modes_of_integrals(), 1. / level().scale, b.data(), b_, order_);
    check_finite("b");
    subtract_mean_of_b();
    return solve(u, start);
  }
  void multiply(std::span<double> y, std::span<const double> x)
  {
    nodes_to_modes(map_.modes_of_values(), 1., x.data(), x_, order_);
    solver().multiply(b_, x_);
    modes_to_nodes(map_.integrals_of_modes(), level().scale, b_, y.data(), order_);
  }
  void precondition(std::span<double> z, std::span<const double> r)
  {
    nodes_to_modes(map_.modes_of_integrals(), 1. / level().scale, r.data(), b_, order_);
    solver().precondition(x_, b_);
    modes_to_nodes(map_.values_of_modes(), 1., x_, z.data(), order_);
  }

private:
  const BlockLevels::Level &level() const { return levels_->levels().back(); }
  int n_ranks() const
  {
    int n = 1;
    MPI_Comm_size(communicator_, &n);
    return n;
  }
  void tell(const std::string &message) const
  {
    if (execution_.message_callback)
      execution_.message_callback(message);
  }
  MeshPoints points_at(const std::vector<double> &line) const
  {
    return {problem_, level().shape, line};
  }

  /// Whether what the levels and the first solve will evaluate are functions.
  void check_functions() const
  {
    together([&] {
      const Problem &p = problem_.problem;
      const std::vector<int> &materials = problem_.blocks.material;
      const auto check = [&](const std::string &key, const std::string &expression) {
        const BlockFunction function(p, key, expression, materials);
      };
      static_cast<void>(pointwise_data(problem_)); // coefficients
      check("problem.right_hand_side", p.right_hand_side);
      for (const auto &[number, condition] : problem_.conditions)
        check(problem_.value_key(number), condition.value);
    });
  }
  void require_memory() const
  {
    const double dofs = dofs_of(problem_);
    if (dofs > most_dofs_of_blocks)
      throw ArgumentError("problem.refinements and degree give " + number_text(dofs) +
          " unknowns; allowed: up to " + number_text(most_dofs_of_blocks));
    const double vector = sizeof(double) * dofs / n_ranks(); // of values on sides
    double needed = make_memory_plan(sizes_of(problem_, n_ranks()), options_, place_).bytes();
    const std::string unknowns = number_text(dofs) + " unknowns need";
    if (place_ == MemoryPlace::device)
    {
      require(budget_of(needed, place_), unknowns, "memory of the GPU");
      needed = make_memory_plan(sizes_of(problem_, n_ranks()), options_, MemoryPlace::beside_device)
                   .bytes();
    }
    require(budget_of(needed + vector, MemoryPlace::host), unknowns, "memory");
  }
  MemoryBudget budget_of(double needed, MemoryPlace place) const
  {
    return make_memory_budget(needed, available_at(place), communicator_, part_of_node(place));
  }
  /// Takes a device where there is one, or throws.
  void choose_place()
  {
    together([&] {
      const BackendChoice choice = with_argument_errors(
          [&] { return choose_backend_of_blocks(execution_.backend, communicator_); });
      if (!choice.reason.empty())
        tell("the GPU is not used: " + choice.reason);
      if (!laplace::is_device_backend(choice.backend))
        return;
      place_ = MemoryPlace::device;
      device_ = device_properties().number;
    });
  }
  /// Of new levels and their solver, while the old levels are there.
  void require_memory_again() const
  {
    const MemoryPlace place =
        place_ == MemoryPlace::device ? MemoryPlace::beside_device : MemoryPlace::host;
    const double dofs = dofs_of(problem_), kept = 2. * sizeof(double) * dofs / n_ranks(); // x_, b_
    double needed = make_memory_plan(sizes_of(problem_, n_ranks()), options_, place).bytes();
    if (options_.multigrid.coarsening == Coarsening::automatic && has_room_for_vertices_)
      needed =
          std::max(needed, plan_of_vertices(problem_, options_, communicator_, place).plan.bytes());
    const std::string unknowns =
        number_text(dofs) + " unknowns with other coefficients need another";
    require(budget_of(needed - kept, MemoryPlace::host), unknowns, "memory");
    if (place_ == MemoryPlace::device) // what it had there has gone
      require(budget_of(make_memory_plan(sizes_of(problem_, n_ranks()), options_, place_).bytes(),
                  place_),
          unknowns, "memory of the GPU");
  }
  std::unique_ptr<BlockLevels> made_levels() const
  {
    return with_errors([&] {
      return make_levels(
          problem_, communicator_, options_.multigrid.coarsening, has_room_for_vertices_);
    });
  }
  void make_solver()
  {
    const CurrentDevice current(device_);
    solver_ = with_errors([&] { return make_block_solver(*levels_, options_, x_, b_, place_); });
  }
  /// Where other coefficients were refused it has gone. Collective.
  BlockSolver &solver()
  {
    if (!solver_)
      make_solver();
    return *solver_;
  }

  ModesOnSide modes_on(int boundary, std::span<const double> values) const
  {
    const MeshPoints nodes = points_at(map_.nodes());
    std::map<std::pair<std::int64_t, int>, std::vector<double>> by_side;
    auto at = values.begin();
    nodes.for_sides(boundary, [&](const CellPlace &place, int side) {
      by_side[{cell_number(level().shape, dim(), place), side}] = {at, at + nodes.per_side()};
      at += nodes.per_side();
    });
    return [this, by_side = std::move(by_side)](
               std::int64_t block, const std::array<std::int64_t, 3> &cell, int side) {
      const std::int64_t number = cell_number(level().shape, dim(), {block, cell});
      return extended(by_side.at({number, side}), side);
    };
  }
  /// Modes of the polynomial of a cell with these values at the nodes of a side, constant in the direction across it.
  std::vector<double> extended(const std::vector<double> &of_side, int side) const
  {
    const Block one(dim(), problem_.problem.degree, {1, 1, 1});
    const auto [a, b] = tangential(side / 2);
    std::vector<double> nodal(static_cast<std::size_t>(one.dofs_per_cell()));
    for (std::size_t node = 0; node < nodal.size(); ++node)
    {
      const auto n = static_cast<std::size_t>(one.n);
      const std::array<std::size_t, 3> at{node % n, node / n % n, node / n / n};
      nodal[node] = of_side[at[a] + (dim() == 3 ? n * at[b] : 0)];
    }
    Vector<double> modes(one);
    nodes_to_modes(map_.modes_of_values(), 1., nodal.data(), modes);
    return modes_of_cell(modes, {}, {});
  }

  void check_finite(const std::string &name)
  {
    if (!std::isfinite(solver().space().max_abs(b_)))
      throw ArgumentError(name + " holds numbers that are not finite, or leads to such");
  }
  /// Of a singular problem. What is left of a b that was nothing but its mean is rounding: it becomes zero.
  void subtract_mean_of_b()
  {
    constexpr double rounding = 1e-13;
    if (!levels_->is_singular())
      return;
    const VectorSpace &space = solver().space();
    const double before = space.norm(b_);
    subtract_mean_of_integrals(problem_, *levels_, b_);
    if (space.norm(b_) <= rounding * before)
      space.axpby(0., b_, 0., b_);
  }
  SolveReport solve(std::span<double> u, Start start)
  {
    const VectorSpace &space = solver().space();
    SolveEvents events;
    events.iteration = execution_.iteration_callback;
    events.restarts = [this](const std::string &text) { tell(text); };
    events.restore_start = [&] {
      nodes_to_modes(map_.modes_of_values(), 1., u.data(), x_, order_);
    };
    if (start == Start::zero)
      x_ = Vector<double>(level().grid.block);
    else
      events.restore_start();
    if (!std::isfinite(space.max_abs(x_)))
      throw ArgumentError(
          "u, from which the iteration shall start, holds numbers that are not finite");
    ScaledSolve scaled(solver(), x_, b_);
    SolveReport report = scaled.run(start, events);
    scaled.finish();
    if (levels_->is_singular())
      subtract_mean(problem_, *levels_, x_);
    modes_to_nodes(map_.values_of_modes(), 1., x_, u.data(), order_);
    return report;
  }

  MPI_Comm communicator_;
  MeshType type_;
  SolverOptions options_;
  Execution execution_;
  BlockProblem problem_;
  NodalMap map_;
  CellOrder order_;
  MemoryPlace place_ = MemoryPlace::host;
  std::optional<int> device_;          ///< a program may work with another one between calls
  bool has_room_for_vertices_ = false; ///< asked once: later the object itself has taken memory
  std::unique_ptr<BlockLevels> levels_;
  std::unique_ptr<BlockSolver> solver_;
  Vector<double> b_, x_;
  std::optional<Vector<double>> sides_; ///< what values on boundaries make of b
};

MeshSolver::MeshSolver(const Problem &problem, const MeshOptions &mesh,
    const SolverOptions &options, const Execution &execution)
{
  MPI_Comm communicator = communicator_of(execution);
  check_together(communicator, [&] { check_arguments(problem, mesh, options, execution); });
  check_same(problem, options, communicator);
  implementation_ =
      std::make_unique<Implementation>(problem, mesh, options, execution, communicator);
}
MeshSolver::~MeshSolver() = default;
MeshSolver::MeshSolver(MeshSolver &&) noexcept = default;
MeshSolver &MeshSolver::operator=(MeshSolver &&) noexcept = default;

MeshSolver::Implementation &MeshSolver::implementation() const
{
  if (!implementation_)
    throw ArgumentError(
        "the solver has been moved to another object; allowed: to assign one to it");
  return *implementation_;
}

std::string MeshSolver::backend() const { return implementation().backend(); }
std::int64_t MeshSolver::size() const { return implementation().size(); }
std::vector<RefinedCell> MeshSolver::cells() const { return implementation().cells(); }
bool MeshSolver::is_whole() const { return implementation().is_whole(); }
std::vector<std::string> MeshSolver::boundaries() const { return implementation().boundaries(); }

void MeshSolver::coordinates(std::span<double> x, std::span<double> y, std::span<double> z) const
{
  check_coordinates(x, y, z, implementation().dim(), size(), size_text);
  implementation().coordinates({x, y, z});
}

std::int64_t MeshSolver::boundary_size(const std::string &name) const
{
  return implementation().boundary_size(implementation().boundary_number(name));
}
void MeshSolver::boundary_coordinates(
    const std::string &name, std::span<double> x, std::span<double> y, std::span<double> z) const
{
  check_coordinates(
      x, y, z, implementation().dim(), boundary_size(name), "MeshSolver::boundary_size()");
  implementation().boundary_coordinates(implementation().boundary_number(name), {x, y, z});
}
void MeshSolver::set_boundary_values(const std::string &name, std::span<const double> values)
{
  implementation().together([&] {
    check_size("values", values.size(), boundary_size(name), "MeshSolver::boundary_size()");
    check_numbers("values hold", values);
  });
  implementation().set_boundary_values(implementation().boundary_number(name), values);
}
void MeshSolver::update_boundaries() { implementation().update_boundaries(); }

std::int64_t MeshSolver::points_size() const { return implementation().points_size(); }
void MeshSolver::point_coordinates(
    std::span<double> x, std::span<double> y, std::span<double> z) const
{
  check_coordinates(x, y, z, implementation().dim(), points_size(), points_text);
  implementation().point_coordinates({x, y, z});
}
void MeshSolver::values_at_points(std::span<double> values, std::span<const double> u) const
{
  check_size("values", values.size(), points_size(), points_text);
  check_size("u", u.size(), size(), size_text);
  implementation().values_at_points(values, u);
}
void MeshSolver::set_coefficient_values(std::span<const double> k)
{
  implementation().together([&] {
    const int dim = implementation().dim();
    const auto found = static_cast<std::int64_t>(k.size()), points = points_size();
    if (found != points && found != dim * points && found != dim * (dim + 1) / 2 * points)
      throw ArgumentError("k has " + std::to_string(found) +
          " numbers; allowed: " + std::to_string(points) + " (" + points_text + ") times 1, " +
          std::to_string(dim) + " or " + std::to_string(dim * (dim + 1) / 2));
    check_numbers("k holds", k);
  });
  implementation().set_coefficient_values(k);
}
void MeshSolver::update_coefficients() { implementation().update_coefficients(); }

SolveReport MeshSolver::solve(std::span<double> u)
{
  implementation().together([&] { check_size("u", u.size(), size(), size_text); });
  return implementation().solve_problem(u);
}
SolveReport MeshSolver::solve(std::span<const double> f, std::span<double> u, Start start)
{
  implementation().together([&] {
    check_size("f", f.size(), size(), size_text);
    check_size("u", u.size(), size(), size_text);
  });
  return implementation().solve_for(f, u, start);
}
SolveReport MeshSolver::solve_system(std::span<const double> b, std::span<double> u, Start start)
{
  implementation().together([&] {
    check_size("b", b.size(), size(), size_text);
    check_size("u", u.size(), size(), size_text);
  });
  return implementation().solve_system(b, u, start);
}
void MeshSolver::multiply(std::span<double> y, std::span<const double> x)
{
  implementation().together([&] {
    check_size("y", y.size(), size(), size_text);
    check_size("x", x.size(), size(), size_text);
  });
  implementation().multiply(y, x);
}
void MeshSolver::precondition(std::span<double> z, std::span<const double> r)
{
  implementation().together([&] {
    check_size("z", z.size(), size(), size_text);
    check_size("r", r.size(), size(), size_text);
  });
  implementation().precondition(z, r);
}
} // namespace tensormg
