#include "operators/solver/memory_plan.h"

#include <algorithm>
#include <array>

#include "kernels/device/device.h"
#include "operators/constant/box_solver.h"
#include "operators/constant/device_box_solver.h"
#include "operators/constant/transfer_operator.h"
#include "operators/mesh/cell_numbers.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/multigrid/multigrid_preconditioner.h"

namespace tensormg
{
namespace
{
  /// Numbers of a vector, padding included, for grids of any size.
  double numbers(const Block &block)
  {
    return static_cast<double>(block.pitch) * block.n * static_cast<double>(block.cells[1]) *
        block.n * static_cast<double>(block.cells[2]) * block.nz();
  }

  /// Above this, integers could overflow in the functions that are asked here. No machine has it.
  constexpr double countable_numbers = 0x1p50;

  double hierarchy_bytes(const Grid &grid, const MultigridOptions &options, bool on_device)
  {
    if (numbers(grid.finest().block) < countable_numbers)
      return static_cast<double>(on_device ? multigrid_bytes<DeviceContext>(grid, options)
                                           : multigrid_bytes<HostContext>(grid, options));
    return 3. * bytes_per_number(options.precision) * numbers(grid.finest().block);
  }

  /// Of the direct solver on the finest level.
  double box_solver_bytes(const Grid &grid, bool on_device)
  {
    const Block whole(grid.problem.dim, grid.problem.degree, grid.finest().global_cells);
    if (numbers(whole) < countable_numbers)
      return static_cast<double>(
          on_device ? DeviceBoxSolver<double>::memory(grid.finest()) : BoxSolver::memory(whole));
    return 2. * sizeof(double) * numbers(whole);
  }

  /// Of transfers in FP64 between levels of which not all directions are halved.
  double transfer_bytes(const Grid &grid)
  {
    double bytes = 0.;
    for (std::size_t l = 1; l < grid.levels.size(); ++l)
      bytes +=
          static_cast<double>(TransferOperator<double>::bytes(grid.levels[l], grid.levels[l - 1]));
    return bytes;
  }

  /// Send and receive buffers of the face traces of one level.
  double ghost_bytes(const LevelGrid &level, double bytes_per_number)
  {
    const Block &block = level.block;
    const double row = static_cast<double>(block.row());
    double sum = 0.;
    for (std::size_t s = 2; s < 6; ++s)
      if (level.sides[s] == Side::ghost)
        sum += 2. * row *
            (s < 4 ? static_cast<double>(block.planes())
                   : static_cast<double>(block.rows_per_plane()));
    return 2. * sum * bytes_per_number;
  }

  /// Coefficients of cells: those of the grid, and as the operators of the outer method and of the levels take them.
  void add_cells(MemoryPlan &plan, const Grid &grid, const SolverOptions &options)
  {
    const bool is_tensor = !grid.problem.cell_coefficient[1].empty();
    const double arrays =
        (is_tensor ? grid.problem.dim : 1) + (grid.problem.reaction.empty() ? 0 : 1);
    const double of_cycle = bytes_per_number(options.multigrid.precision) == 8 ? 1. : 0.5;
    double bytes = 0.;
    for (const LevelGrid &level : grid.levels)
    {
      const auto of_operator = static_cast<double>(CellNumbersOf<double>::bytes(level));
      const double array = sizeof(double) * static_cast<double>(CellArray::size(level.block));
      const bool is_finest = &level == &grid.finest();
      bytes += arrays * array +
          (of_cycle + (is_finest ? (options.has_single_basis() ? 2. : 1.) : 0.)) * of_operator;
    }
    plan.items.push_back({"coefficients of cells", "mixed", 1, bytes});
  }

  /// Returns the bytes of the traces that its levels exchange.
  double add_multigrid(
      MemoryPlan &plan, const Grid &grid, const SolverOptions &options, bool on_device)
  {
    const MultigridOptions &multigrid = options.multigrid;
    const std::string word = to_string(multigrid.precision);
    plan.items.push_back({"multigrid: x, b, work of all levels", word,
        3 * static_cast<std::int64_t>(grid.levels.size()),
        hierarchy_bytes(grid, multigrid, on_device)});
    if (options.full_multigrid)
    {
      double coarser = 0.;
      for (std::size_t l = 0; l + 1 < grid.levels.size(); ++l)
        coarser += numbers(grid.levels[l].block);
      plan.items.push_back({"full multigrid: residuals, coarser solutions, right-hand sides",
          to_string(Precision::double_precision),
          3 * static_cast<std::int64_t>(grid.levels.size()) - 2,
          sizeof(double) * numbers(grid.finest().block) + 3. * sizeof(double) * coarser +
              transfer_bytes(grid)});
    }
    // Half precision exchanges the numbers with which it computes.
    const double of_trace = std::max(4, bytes_per_number(multigrid.precision));
    double traces = 0.;
    for (const LevelGrid &level : grid.levels)
      traces += ghost_bytes(level, of_trace);
    return traces;
  }
} // namespace

double MemoryPlan::bytes() const
{
  double sum = 0.;
  for (const MemoryItem &item : items)
    sum += item.bytes;
  return sum;
}

MemoryPlan make_memory_plan(const Grid &grid, const SolverOptions &options, MemoryPlace place)
{
  MemoryPlan plan;
  const bool on_device = place == MemoryPlace::device;
  const std::string fp64 = to_string(Precision::double_precision);
  const double vector = sizeof(double) * numbers(grid.finest().block);
  const auto add_vectors = [&](const std::string &name, std::int64_t count) {
    plan.items.push_back({name, fp64, count, static_cast<double>(count) * vector});
  };

  add_vectors("solution, right-hand side", 2);
  if (place == MemoryPlace::beside_device)
    return plan;
  double traces = ghost_bytes(grid.finest(), sizeof(double));
  const bool is_single = options.has_single_basis();
  const auto add_krylov = [&](const std::string &name, std::int64_t count) {
    plan.items.push_back(
        {name, to_string(is_single ? Precision::single_precision : Precision::double_precision),
            count, static_cast<double>(count) * (is_single ? 0.5 : 1.) * vector});
  };
  switch (options.solver)
  {
    case OuterSolver::fgmres:
    {
      const std::int64_t length = longest_basis(grid, options);
      if (is_single)
      {
        add_vectors("fgmres: residual", 1);
        traces += ghost_bytes(grid.finest(), sizeof(double)); // of the products with the basis
      }
      add_krylov("fgmres: Krylov basis, at most", length + 1);
      add_krylov("fgmres: preconditioned basis, at most", length);
      break;
    }
    case OuterSolver::cg:
      if (is_single)
      {
        add_vectors("cg: residual", 1);
        traces += ghost_bytes(grid.finest(), sizeof(double)); // of the products with directions
      }
      add_krylov("cg: r, z, p, q", 4);
      break;
    case OuterSolver::direct:
      add_vectors("direct: residual, correction", 2);
      plan.items.push_back({on_device ? "direct: coefficients, eigenvectors"
                                      : "direct: whole grid on every rank, eigenvectors",
          fp64, on_device ? 1 : 2, box_solver_bytes(grid, on_device)});
      break;
  }
  if (options.solver != OuterSolver::direct)
    traces += add_multigrid(plan, grid, options, on_device);
  if (grid.problem.is_cellwise() && numbers(grid.finest().block) < countable_numbers)
    add_cells(plan, grid, options);
  if (traces > 0.)
    plan.items.push_back({"face traces of neighbouring ranks", "mixed", 1, traces});
  return plan;
}

double bytes_kept(const Grid &grid, const SolverOptions &options)
{
  const LevelGrid &level = grid.finest();
  const double vectors = 2. * sizeof(double) * static_cast<double>(level.block.size());
  const double operators = options.has_single_basis() ? 2. : 1.;
  return vectors +
      (level.cells == nullptr
              ? 0.
              : operators * static_cast<double>(CellNumbersOf<double>::bytes(level)));
}

int part_of_node(MemoryPlace place)
{
  return place == MemoryPlace::device && device_count() > 0 ? device_properties().place_on_bus : 0;
}

MemoryBudget make_memory_budget(double bytes, double available, MPI_Comm communicator, int part)
{
  MPI_Comm whole = MPI_COMM_NULL, node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &whole);
  MPI_Comm_split(whole, part, 0, &node);
  MPI_Comm_free(&whole);
  MemoryBudget budget;
  MPI_Comm_size(node, &budget.ranks);
  MPI_Allreduce(&bytes, &budget.needed, 1, MPI_DOUBLE, MPI_SUM, node);
  MPI_Allreduce(&available, &budget.available, 1, MPI_DOUBLE, MPI_MIN, node);
  MPI_Comm_free(&node);

  // The tightest node tells the others.
  struct
  {
    double room;
    int rank;
  } mine{}, tightest{};
  mine.room = MemoryBudget::usable_part * budget.available - budget.needed;
  MPI_Comm_rank(communicator, &mine.rank);
  MPI_Allreduce(&mine, &tightest, 1, MPI_DOUBLE_INT, MPI_MINLOC, communicator);
  std::array<double, 3> data{budget.needed, budget.available, static_cast<double>(budget.ranks)};
  MPI_Bcast(data.data(), 3, MPI_DOUBLE, tightest.rank, communicator);
  return {data[0], data[1], static_cast<int>(data[2])};
}
} // namespace tensormg
