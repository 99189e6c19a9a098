#include "operators/block_solver/block_memory.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/laplace/pointwise/cuda.h"
#include "operators/block_solver/block_solver.h"
#include "operators/cellwise/dense_level.h"
#include "operators/cellwise/sparse_solver.h"
#include "operators/pointwise/block_levels.h"

namespace tensormg
{
namespace
{
  int relaxation_numbers(int n)
  {
    return laplace::cell_inverse_numbers(n) + laplace::line_inverse_numbers(n);
  }
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

  bool has_one_metric_per_cell(const Block &block, const BlockSizes &sizes)
  {
    return block.cells[1] == std::int64_t{1} << sizes.refinements ? sizes.has_affine_cells
                                                                  : sizes.has_affine_coarse_cells;
  }
  /// Numbers of traces.
  double traces_of(const Block &block, bool has_means)
  {
    return static_cast<double>(
        has_means ? laplace::border_size(block, block.cells[1]) : laplace::trace_size(block));
  }

  /// A mesh has about as many vertices as cells, and every rank has all of them, on the host.
  double bytes_of_coarse_solver(
      const Block &coarsest, const BlockSizes &sizes, bool vertices, MemoryPlace place)
  {
    const auto dofs = static_cast<double>(coarsest.dofs()), size = double(coarsest.size());
    const bool on_device = place == MemoryPlace::device;
    if (!vertices && DenseLevel::suits(stacked_grid(coarsest)))
      return sizeof(double) * (dofs * dofs + (on_device ? dofs : 3. * size));
    const bool is_affine = has_one_metric_per_cell(coarsest, sizes);
    if (on_device) // with the operator in double
      return sizeof(double) *
          (5. * size + 2. * double(laplace::border_size(coarsest, coarsest.cells[1], 0)) +
              (is_affine ? double(laplace::cell_mean_size(coarsest))
                         : metric_numbers(coarsest, sizes.has_reaction)) +
              double(laplace::relaxation_size(coarsest, relaxation_numbers(coarsest.n))));
    const std::int64_t cells = sizes.n_blocks << (vertices ? sizes.refinements * sizes.dim : 0);
    return sizeof(double) * (4. * size + traces_of(coarsest, is_affine)) +
        BlockVertices::bytes(cells, sizes.dim) + SparseSolver::bytes(cells, sizes.dim);
  }

  /// Of all levels.
  struct BytesOfLevels
  {
    double in_double = 0., in_cycle = 0.; ///< metric and diagonal
    double finest_in_double = 0.;
    double traces = 0., borders = 0., vectors = 0., inverses = 0.;
  };
  BytesOfLevels bytes_of_levels(const std::vector<Block> &blocks, const BlockSizes &sizes,
      const MultigridOptions &multigrid, bool on_device)
  {
    BytesOfLevels sum;
    const double bytes = bytes_per_number(multigrid.precision);
    const double of_numbers = std::max(bytes, 4.); // half computes with those of single
    for (const Block &block : blocks)
    {
      const bool is_affine = has_one_metric_per_cell(block, sizes),
                 has_means = is_affine ||
          (multigrid.cycle_operator == CycleOperator::cell_mean && &block != &blocks.front());
      const auto means = static_cast<double>(laplace::cell_mean_size(block)),
                 diagonal = static_cast<double>(block.size());
      const double at_points = metric_numbers(block, sizes.has_reaction);
      // In double the cycle takes the numbers of the level, of which means may be none.
      const bool has_copy =
          on_device || multigrid.precision != Precision::double_precision || has_means != is_affine;
      const double of_cycle = has_means ? means : at_points;
      sum.finest_in_double = sizeof(double) * ((is_affine ? means : at_points) + diagonal);
      sum.in_double += sum.finest_in_double;
      sum.in_cycle += of_numbers * ((has_copy ? of_cycle : 0.) + diagonal);
      sum.traces += of_numbers * traces_of(block, has_means);
      sum.borders +=
          of_numbers * static_cast<double>(laplace::border_size(block, block.cells[1], 0));
      sum.vectors += bytes * static_cast<double>(6 * block.size());
      const auto inverses =
          static_cast<double>(laplace::relaxation_size(block, relaxation_numbers(block.n)));
      // On a device lines have a vector for each direction, and what is eliminated.
      sum.inverses += (sizeof(double) + of_numbers) * inverses +
          (on_device ? block.dim * (bytes + 12. / block.n) * diagonal : 0.);
    }
    return sum;
  }

  void add_method(const SolverOptions &options, double vector, MemoryPlan &plan)
  {
    const std::string fp64 = to_string(Precision::double_precision);
    if (options.solver == OuterSolver::cg)
      plan.items.push_back({"cg: r, z, p, q", fp64, 4, 4. * vector});
    else
    {
      const std::int64_t count = 2 * std::min(options.restart, options.max_iterations) + 1;
      plan.items.push_back(
          {"fgmres: both bases, at most", fp64, count, static_cast<double>(count) * vector});
    }
  }
} // namespace

MemoryPlan make_memory_plan(
    const BlockSizes &sizes, const SolverOptions &options, MemoryPlace place)
{
  MemoryPlan plan;
  const bool on_device = place == MemoryPlace::device,
             is_beside = place == MemoryPlace::beside_device;
  const MultigridOptions multigrid = with_precision_of_blocks(options.multigrid);
  const bool vertices = multigrid.coarsening == Coarsening::vertices;
  const std::vector<Block> blocks = blocks_of_levels(sizes, vertices);
  const BytesOfLevels levels = bytes_of_levels(blocks, sizes, multigrid, on_device);
  const double vector = sizeof(double) * static_cast<double>(blocks.back().size());
  const std::string fp64 = to_string(Precision::double_precision),
                    of_cycle = to_string(multigrid.precision);
  const auto add = [&](const std::string &name, const std::string &precision, std::int64_t count,
                       double size) {
    plan.items.push_back({name, precision, count, size});
  };
  add("solution, right-hand side", fp64, 2, 2. * vector);
  if (!is_beside)
    add_method(options, vector, plan);
  if (on_device)
    add("metric and diagonal of the finest level", fp64, 1, levels.finest_in_double);
  else
    add("metric and diagonal of all levels", fp64, 1, levels.in_double);
  if (!is_beside)
  {
    add("the same for the cycle, at most", of_cycle, 1, levels.in_cycle);
    add(on_device ? "traces of sides of blocks" : "traces of faces", "mixed", 1,
        on_device
            ? levels.borders +
                sizeof(double) *
                    static_cast<double>(
                        laplace::border_size(blocks.back(), blocks.back().cells[1], 0))
            : levels.traces + sizeof(double) * traces_of(blocks.back(), sizes.has_affine_cells));
    add("vectors of the cycle", of_cycle, 6, levels.vectors);
  }
  add("inverses of cells and lines, at most", "mixed", 1, levels.inverses);
  if (is_beside && multigrid.precision != Precision::double_precision) // on its way
    add("metric of the finest level in half precision", "half", 1,
        sizeof(Half) * metric_numbers(blocks.back(), sizes.has_reaction));
  if (!on_device)
    add("polynomials of the blocks", fp64, 1,
        3. * sizeof(double) * static_cast<double>(sizes.n_blocks) *
            std::pow(sizes.geometry_degree + 1., sizes.dim));
  add(vertices ? "coarse solver, all vertices on each rank" : "coarse solver", fp64, 1,
      bytes_of_coarse_solver(blocks.front(), sizes, vertices, place));
  return plan;
}
} // namespace tensormg
