#include "operators/block_solver/block_solve.h"

#include <cmath>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/core/setup_times.h"
#include "kernels/device/device.h"
#include "operators/pointwise/affine_cells.h"
#include "operators/solver/available_memory.h"
#include "tensormg/solver.h"

namespace tensormg
{
namespace
{
  void check_number_of_blocks(const Problem &problem)
  {
    constexpr double bytes_per_block = 3000.; // of vertices, cells and neighbours, about
    double blocks = 1.;
    for (int d = 0; d < problem.dim; ++d)
      blocks *= static_cast<double>(problem.coarse_cells[static_cast<std::size_t>(d)]);
    const double available = available_memory();
    if (blocks * bytes_per_block > available)
      throw MemoryError("so many blocks need some " + number_text(blocks * bytes_per_block) +
          " bytes of memory, and " + number_text(available) +
          " are available; allowed: fewer coarse_cells with more refinements");
  }
} // namespace

BlockProblem make_divided_problem(
    const Problem &problem, const MeshOptions &mesh, MPI_Comm communicator)
{
  if (mesh.type == MeshType::mapped)
    check_number_of_blocks(problem);
  try
  {
    return make_divided_problem(make_block_problem(problem, mesh), communicator);
  }
  catch (const std::bad_alloc &)
  {
    throw MemoryError("the mesh does not fit into memory; allowed: one with fewer cells");
  }
}

BlockProblem make_divided_problem(BlockProblem problem, MPI_Comm communicator)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  divide(problem, n_ranks);
  return problem;
}

double dofs_of(const BlockProblem &problem)
{
  const Problem &p = problem.problem;
  return std::ldexp(static_cast<double>(problem.blocks.n_blocks()), p.refinements * p.dim) *
      std::pow(p.degree + 1., p.dim);
}

BlockSizes sizes_of(const BlockProblem &problem, int n_ranks)
{
  const Problem &p = problem.problem;
  const PointwiseData data = pointwise_data(problem);
  const bool is_affine =
      is_constant_in_cells(data, std::int64_t{1} << p.refinements) && are_affine(problem.geometry);
  return {p.dim, p.degree, problem.blocks.n_blocks(), p.refinements, !p.reaction.empty(),
      problem.geometry.degree(), n_ranks, is_affine, is_affine && data.k.is_constant_in_blocks()};
}

double available_at(MemoryPlace place)
{
  return place == MemoryPlace::device ? static_cast<double>(free_device_bytes())
                                      : available_memory();
}

PlanOfVertices plan_of_vertices(const BlockProblem &problem, const SolverOptions &options,
    MPI_Comm communicator, MemoryPlace place)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  SolverOptions on_vertices = options;
  on_vertices.multigrid.coarsening = Coarsening::vertices;
  MemoryPlan plan = make_memory_plan(sizes_of(problem, n_ranks), on_vertices, place);
  const MemoryBudget budget =
      make_memory_budget(plan.bytes(), available_at(place), communicator, part_of_node(place));
  return {std::move(plan), budget};
}

bool has_room_for_vertices(const BlockProblem &problem, const SolverOptions &options,
    MPI_Comm communicator, MemoryPlace place)
{
  const auto fits = [&](MemoryPlace where) {
    return plan_of_vertices(problem, options, communicator, where).budget.fits();
  };
  return fits(place) && (place != MemoryPlace::device || fits(MemoryPlace::beside_device));
}

std::unique_ptr<BlockLevels> make_levels(const BlockProblem &problem, MPI_Comm communicator,
    Coarsening coarsening, bool has_room_for_vertices)
{
  const setup_times::Scope scope("metric");
  BlockLevels::Options options = level_options(problem, communicator);
  options.coarsening = coarsening;
  options.has_room_for_vertices = has_room_for_vertices;
  auto levels = std::make_unique<BlockLevels>(
      problem.blocks, problem.geometry, pointwise_data(problem), options);
  levels->check_held();
  return levels;
}

ScaledSolve::ScaledSolve(BlockSolver &solver, Vector<double> &x, Vector<double> &b)
  : solver_(solver)
  , x_(x)
  , b_(b)
{
  const VectorSpace &space = solver.space();
  const double largest = space.max_abs(b);
  if (largest == 0. || (largest > 1e-100 && largest < 1e100))
    return;
  exponent_ = std::ilogb(largest);
  space.axpby(std::ldexp(1., -exponent_), b, 0., b);
}

void ScaledSolve::divide_start()
{
  if (exponent_ != 0)
    solver_.space().axpby(std::ldexp(1., -exponent_), x_, 0., x_);
}

SolveReport ScaledSolve::run(Start start, SolveEvents events)
{
  if (start != Start::zero)
  {
    divide_start();
    events.restore_start = [this, restore = std::move(events.restore_start)] {
      restore();
      divide_start();
    };
  }
  SolveReport report = solver_.solve(x_, b_, start, events);
  report.rhs_norm = std::ldexp(report.rhs_norm, exponent_);
  for (double &residual : report.residuals)
    residual = std::ldexp(residual, exponent_);
  return report;
}

Vector<double> ScaledSolve::error()
{
  const VectorSpace &space = solver_.space();
  Vector<double> r = space.make_vector(), e = space.make_vector();
  solver_.multiply(r, x_);
  space.axpby(1., b_, -1., r);
  solver_.precondition(e, r);
  if (exponent_ != 0)
    space.axpby(std::ldexp(1., exponent_), e, 0., e);
  return e;
}

void ScaledSolve::finish()
{
  if (exponent_ != 0)
    solver_.space().axpby(std::ldexp(1., exponent_), x_, 0., x_);
}
} // namespace tensormg
