#include "operators/solver/block_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/core/setup_times.h"
#include "operators/cellwise/dense_level.h"
#include "operators/cellwise/sparse_solver.h"
#include "operators/multigrid/block_family.h"
#include "operators/multigrid/multigrid_implementation.h"
#include "operators/solver/precision_fallback.h"
#include "operators/vectors/with_number.h"
#include "solvers/cg.h"
#include "solvers/fgmres.h"

namespace tensormg
{
namespace
{
  bool needs_double(const BlockLevels &levels)
  {
    constexpr double most_in_single = 1e9;
    return diagonal_range(levels) > most_in_single;
  }

  /// nullptr: with the metric at points.
  std::unique_ptr<BlockKernel<double>> outer_kernel(
      const BlockLevels &levels, const OperatorChoice &choice)
  {
    return choice.is_exact ? std::make_unique<CellMeanKernel<double>>(levels.levels().back())
                           : nullptr;
  }

  void check_options(const SolverOptions &options)
  {
    const auto refuse = [](const std::string &text) {
      throw std::invalid_argument("curved cells have no " + text);
    };
    if (options.solver == OuterSolver::direct)
      refuse("direct solver");
    if (options.full_multigrid)
      refuse("full multigrid");
    if (options.basis_precision == BasisPrecision::single_precision)
      refuse("basis in single precision");
    if (options.multigrid.smoother == Smoother::patch)
      refuse("patch smoother");
    if (takes_tensor_cores(options.multigrid.precision))
      refuse(std::string("cycle in ") + to_string(options.multigrid.precision) +
          ", which takes the tensor cores of a device");
  }
} // namespace

double diagonal_range(const BlockLevels &levels)
{
  const Vector<double> &diagonal = levels.levels().back().diagonal;
  double least = INFINITY, largest = 0.;
  for (std::int64_t at = 0; at < diagonal.size(); ++at)
    if (diagonal[at] > 0.) // no padding
    {
      least = std::min(least, diagonal[at]);
      largest = std::max(largest, diagonal[at]);
    }
  std::array<double, 2> bounds{-least, largest};
  MPI_Allreduce(MPI_IN_PLACE, bounds.data(), 2, MPI_DOUBLE, MPI_MAX, levels.communicator());
  return bounds[1] / -bounds[0];
}

MultigridOptions with_precision_of_blocks(MultigridOptions options)
{
  if (options.precision == Precision::automatic)
    options.precision = Precision::single_precision;
  return options;
}

BlockSolver::BlockSolver(const BlockLevels &levels, const SolverOptions &options)
  : levels_(levels)
  , options_(options)
  , space_(levels.levels().back().grid.block, levels.levels().back().grid.communicator)
  , family_(levels, options.multigrid)
  , operator_(levels, levels.levels().size() - 1, nullptr, outer_kernel(levels, cycle_operator()))
{
  check_options(options);
  if (options.multigrid.precision == Precision::automatic && needs_double(levels))
    options_.multigrid.precision = Precision::double_precision;
  options_.multigrid = with_precision_of_blocks(options_.multigrid);
  options_.basis_precision = BasisPrecision::double_precision;
  set_up();
}

void BlockSolver::set_up()
{
  const setup_times::Scope scope("multigrid");
  multigrid_ = with_number(
      options_.multigrid.precision, [&](auto number) -> std::unique_ptr<MultigridPreconditioner> {
        return std::make_unique<MultigridImplementation<BlockFamily, decltype(number)>>(
            family_, options_.multigrid, CycleOptions{});
      });
  using Operator = PointwiseOperator<double>;
  if (options_.solver == OuterSolver::cg)
    method_ = std::make_unique<KrylovMethod<Vector<double>, ConjugateGradients<VectorSpace>,
        Operator, MultigridPreconditioner>>(
        operator_, *multigrid_, space_, options_.tolerance, options_.max_iterations);
  else
    method_ = std::make_unique<
        KrylovMethod<Vector<double>, Fgmres<VectorSpace>, Operator, MultigridPreconditioner>>(
        operator_, *multigrid_, space_, options_.tolerance, options_.max_iterations,
        options_.restart);
}

SolveReport BlockSolver::solve(
    Vector<double> &x, const Vector<double> &b, Start start, const SolveEvents &events)
{
  const auto callback = [&](int iteration, double residual) {
    if (events.iteration)
      events.iteration(iteration, residual);
  };
  const double begin = MPI_Wtime();
  for (std::string fallback;;)
  {
    if (events.begins)
      events.begins();
    SolveReport report = method_->solve(x, b, callback, start, [] { return false; });
    report.seconds = MPI_Wtime() - begin;
    report.precision_fallback = fallback;
    if (events.has_ended)
      events.has_ended();
    const bool left_range = report.reason == StopReason::not_finite ||
        (report.reason == StopReason::stagnated && multigrid_->broken_level());
    if (!left_range || !options_.multigrid.falls_back_to_single())
    {
      explain(report);
      return report;
    }
    raise(report, events);
    fallback = report.precision_fallback;
    if (start == Start::given && events.restore_start)
      events.restore_start();
    else
      space_.axpby(0., b, 0., x);
  }
}

void BlockSolver::explain(SolveReport &report) const
{
  const Precision precision = options_.multigrid.precision;
  constexpr double much = 1e6;
  if (report.converged() || precision == Precision::double_precision ||
      diagonal_range(levels_) < much)
    return;
  report.detail += std::string("; multigrid.precision = ") + to_string(precision) +
      " may hold too little for these coefficients and cells: double";
}

void BlockSolver::raise(SolveReport &report, const SolveEvents &events)
{
  const Precision before = options_.multigrid.precision;
  report.precision_fallback += (report.precision_fallback.empty() ? "" : "; then ") + report.detail;
  const auto broken = multigrid_->broken_level();
  method_.reset();
  multigrid_.reset();
  options_.multigrid = raise_levels(options_.multigrid, broken, levels_.levels().size());
  if (events.restarts)
    events.restarts(fallback_text(before, report.detail, options_.multigrid));
  set_up();
}

ErrorEstimate BlockSolver::estimate_error(const Vector<double> &x, const Vector<double> &b)
{
  Vector<double> r = space_.make_vector(), e = space_.make_vector();
  operator_.residual(r, x, b);
  precondition(e, r);
  return {space_.norm(e), std::sqrt(std::max(space_.dot(e, r), 0.))};
}

void BlockSolver::precondition(Vector<double> &z, const Vector<double> &r)
{
  const double norm = space_.norm(r);
  if (norm > 0.)
    multigrid_->apply(z, r, norm);
  else
    space_.axpby(0., r, 0., z);
}

namespace
{
  /// Numbers of the metric of a level.
  double metric_numbers(const Block &block, bool has_reaction)
  {
    return static_cast<double>(laplace::volume_size(block) + laplace::face_size(block) +
        (has_reaction ? laplace::reaction_size(block) : 0));
  }

  /// Of one rank, coarsest first.
  std::vector<Block> blocks_of_levels(const BlockSizes &sizes, bool vertices)
  {
    std::vector<Block> blocks;
    const auto add = [&](int degree, std::int64_t cells) {
      const auto with = [&](std::int64_t n_blocks) {
        return Block(sizes.dim, degree, {n_blocks * cells, cells, sizes.dim == 3 ? cells : 1});
      };
      const Block whole = with(sizes.n_blocks);
      const bool is_part = (vertices || !blocks.empty()) &&
          are_divided(whole, sizes.n_blocks, sizes.n_ranks, replicated_dofs_of_blocks);
      blocks.push_back(
          is_part ? with((sizes.n_blocks + sizes.n_ranks - 1) / sizes.n_ranks) : whole);
    };
    if (vertices)
    {
      for (const int degree : degrees_on_vertices(sizes.degree))
        add(degree, std::int64_t{1} << sizes.refinements);
      return blocks;
    }
    for (const int degree : degrees_of_blocks(sizes.dim, sizes.degree, sizes.n_blocks))
      add(degree, 1);
    for (int l = 1; l <= sizes.refinements; ++l)
      add(sizes.degree, std::int64_t{1} << l);
    return blocks;
  }

  /// A mesh has about as many vertices as cells, and every rank has all of them.
  double bytes_of_coarse_solver(const Block &coarsest, const BlockSizes &sizes, bool vertices)
  {
    const auto dofs = static_cast<double>(coarsest.dofs()), size = double(coarsest.size());
    if (!vertices && DenseLevel::suits(stacked_grid(coarsest)))
      return sizeof(double) * (dofs * dofs + 3. * size);
    const std::int64_t cells = sizes.n_blocks << (vertices ? sizes.refinements * sizes.dim : 0);
    return sizeof(double) * (4. * size + static_cast<double>(laplace::trace_size(coarsest))) +
        BlockVertices::bytes(cells, sizes.dim) + SparseSolver::bytes(cells, sizes.dim);
  }

  /// Of all levels.
  struct BytesOfLevels
  {
    double in_double = 0., in_cycle = 0.; ///< metric and diagonal
    double traces = 0., vectors = 0., inverses = 0.;
  };
  BytesOfLevels bytes_of_levels(
      const std::vector<Block> &blocks, bool has_reaction, const MultigridOptions &multigrid)
  {
    BytesOfLevels sum;
    const double bytes = bytes_per_number(multigrid.precision);
    const double of_numbers = std::max(bytes, 4.); // half computes with those of single
    for (const Block &block : blocks)
    {
      const double metric = metric_numbers(block, has_reaction),
                   diagonal = static_cast<double>(block.size());
      sum.in_double += sizeof(double) * (metric + diagonal);
      if (multigrid.cycle_operator == CycleOperator::cell_mean && &block != &blocks.front())
      {
        sum.in_cycle +=
            of_numbers * (static_cast<double>(laplace::cell_mean_size(block)) + diagonal);
        sum.traces += of_numbers * static_cast<double>(laplace::border_size(block, block.cells[1]));
      }
      else
      {
        sum.in_cycle += multigrid.precision == Precision::double_precision
            ? sizeof(double) * diagonal
            : of_numbers * (metric + diagonal);
        sum.traces += of_numbers * static_cast<double>(laplace::trace_size(block));
      }
      sum.vectors += bytes * static_cast<double>(6 * block.size());
      const int numbers =
          laplace::cell_inverse_numbers(block.n) + laplace::line_inverse_numbers(block.n);
      sum.inverses += (sizeof(double) + of_numbers) *
          static_cast<double>(laplace::relaxation_size(block, numbers));
    }
    return sum;
  }
} // namespace

MemoryPlan make_memory_plan(const BlockSizes &sizes, const SolverOptions &options)
{
  MemoryPlan plan;
  const MultigridOptions multigrid = with_precision_of_blocks(options.multigrid);
  const bool vertices = multigrid.coarsening == Coarsening::vertices;
  const std::vector<Block> blocks = blocks_of_levels(sizes, vertices);
  const BytesOfLevels levels = bytes_of_levels(blocks, sizes.has_reaction, multigrid);
  const double vector = sizeof(double) * static_cast<double>(blocks.back().size());
  const double of_traces =
      levels.traces + sizeof(double) * static_cast<double>(laplace::trace_size(blocks.back()));
  const std::string fp64 = to_string(Precision::double_precision),
                    of_cycle = to_string(multigrid.precision);
  const auto add = [&](const std::string &name, const std::string &precision, std::int64_t count,
                       double size) {
    plan.items.push_back({name, precision, count, size});
  };
  add("solution, right-hand side", fp64, 2, 2. * vector);
  if (options.solver == OuterSolver::cg)
    add("cg: r, z, p, q", fp64, 4, 4. * vector);
  else
  {
    const std::int64_t length = std::min(options.restart, options.max_iterations);
    add("fgmres: both bases, at most", fp64, 2 * length + 1,
        static_cast<double>(2 * length + 1) * vector);
  }
  add("metric and diagonal of all levels", fp64, 1, levels.in_double);
  add("the same for the cycle, at most", of_cycle, 1, levels.in_cycle);
  add("traces of faces", "mixed", 1, of_traces);
  add("vectors of the cycle", of_cycle, 6, levels.vectors);
  add("inverses of cells and lines, at most", "mixed", 1, levels.inverses);
  add("polynomials of the blocks", fp64, 1,
      3. * sizeof(double) * static_cast<double>(sizes.n_blocks) *
          std::pow(sizes.geometry_degree + 1., sizes.dim));
  add(vertices ? "coarse solver, all vertices on each rank" : "coarse solver", fp64, 1,
      bytes_of_coarse_solver(blocks.front(), sizes, vertices));
  return plan;
}
} // namespace tensormg
