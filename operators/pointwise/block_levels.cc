#include "operators/pointwise/block_levels.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/pointwise/half_metric.h"
#include "operators/cellwise/dense_level.h"
#include "operators/cellwise/sparse_solver.h"
#include "operators/pointwise/affine_cells.h"
#include "operators/pointwise/cell_variety.h"
#include "operators/pointwise/diagonal.h"
#include "tensormg/report.h"

namespace tensormg
{
LevelGrid stacked_grid(const Block &block)
{
  LevelGrid grid;
  grid.block = block;
  grid.global_cells = block.cells;
  for (int d = 0; d < block.dim; ++d)
    grid.axis[d] = Axis(0., static_cast<double>(block.cells[d]), block.cells[d]);
  return grid;
}

std::vector<int> degrees_of_blocks(int dim, int degree, std::int64_t n_blocks)
{
  std::vector<int> degrees{degree};
  while (degrees.front() > 1 &&
      !DenseLevel::suits(stacked_grid(Block(dim, degrees.front(), {n_blocks, 1, 1}))))
    degrees.insert(degrees.begin(), degrees.front() / 2);
  return degrees;
}

std::vector<int> degrees_on_vertices(int degree)
{
  std::vector<int> degrees{degree};
  while (degrees.front() > 1)
    degrees.insert(degrees.begin(), degrees.front() / 2);
  return degrees;
}

bool are_divided(
    const Block &whole, std::int64_t n_blocks, int n_ranks, std::int64_t replicated_dofs)
{
  return n_ranks > 1 && n_blocks >= n_ranks && whole.dofs() > replicated_dofs * n_ranks;
}

BlockLevels::BlockLevels(const BlockMesh &mesh, const BlockGeometry &geometry,
    const PointwiseData &data, const Options &options)
  : communicator_(options.communicator)
  , replicated_dofs_(options.replicated_dofs)
  , are_affine_(are_affine(geometry))
  , averages_(data.averages)
{
  for (const auto &sides : mesh.sides)
    for (int side = 0; side < 2 * mesh.dim; ++side)
    {
      const BlockSide &other = sides[side];
      const Side kind = other.neighbour >= 0 ? Side::ghost : options.side(other.boundary);
      is_singular_ = is_singular_ && kind != Side::dirichlet;
      links_.push_back({kind, other.neighbour, other.side, other.map, other.boundary});
    }
  is_singular_ = options.is_singular.value_or(is_singular_);
  divide(mesh);
  const bool is_alone = options.refinements == 0 && options.coarsening != Coarsening::vertices &&
      degrees_of_blocks(mesh.dim, options.degree, mesh.n_blocks()).size() == 1;
  const std::int64_t n = std::int64_t{1} << options.refinements;
  Level finest = make_level_that_may_fold(geometry, data,
      {options.degree,
          {n, n == 1 ? std::min(options.mapping_degree, options.degree) : options.mapping_degree},
          false, !is_alone});
  choose_coarsening(finest, options);
  add_coarse_levels(geometry, data, options);
  levels_.push_back(std::move(finest));
  if (coarsening_.vertices || !DenseLevel::suits(levels_.front().grid))
    vertices_.emplace(
        mesh.dim, links_, levels_.front().shape.per_direction, cell_strengths(levels_.front()));
}

void BlockLevels::choose_coarsening(const Level &finest, const Options &options)
{
  const Coarsening asked = options.coarsening;
  if (asked != Coarsening::automatic && asked != Coarsening::cells && asked != Coarsening::vertices)
    throw std::invalid_argument("multigrid.coarsening: curved cells have auto, cells and vertices");
  coarsening_ = {asked == Coarsening::vertices, "multigrid.coarsening"};
  if (asked != Coarsening::automatic)
    return;
  if (finest.shape.per_direction == 1)
  {
    coarsening_.reason = "blocks have one cell";
    return;
  }
  const double jump = cell_variety(finest).within_blocks;
  const bool jumps = jump > most_jump_in_blocks;
  coarsening_ = {jumps && options.has_room_for_vertices,
      std::string("the coefficient of neighbours in a block differs by ") +
          (jumps ? "up to " : "at most ") + number_text(jump) +
          (jumps && !options.has_room_for_vertices ? ", but memory does not suffice for vertices"
                                                   : "")};
}

void BlockLevels::add_coarse_levels(
    const BlockGeometry &geometry, const PointwiseData &data, const Options &options)
{
  const auto add = [&](int degree, std::int64_t n, bool may_be_divided) {
    const int mapping_degree = coarsening_.vertices || n == 1
        ? std::min(options.mapping_degree, degree)
        : options.mapping_degree;
    levels_.push_back(make_level_that_may_fold(
        geometry, data, {degree, {n, mapping_degree}, true, may_be_divided}));
  };
  if (coarsening_.vertices)
  {
    for (const int degree : degrees_on_vertices(options.degree))
      if (degree < options.degree)
        add(degree, std::int64_t{1} << options.refinements, true);
    return;
  }
  for (const int degree : degrees_of_blocks(geometry.dim(), options.degree, geometry.n_blocks()))
    if (options.refinements > 0 || degree < options.degree)
      add(degree, 1, !levels_.empty());
  for (int l = 1; l < options.refinements; ++l)
    add(options.degree, std::int64_t{1} << l, true);
}

void BlockLevels::check_held() const
{
  const auto is = [](Side kind) {
    return [kind](const laplace::BlockLink &link) { return link.kind == kind; };
  };
  if (is_singular_ || std::any_of(links_.begin(), links_.end(), is(Side::dirichlet)))
    return;
  const Level &finest = levels_.back();
  const Block &block = finest.grid.block;
  double sum = 0.;
  for_stacked_cells(block, [&](const std::array<std::int64_t, 3> &cell) {
    const std::int64_t row = cell[2] * block.cells[1] + cell[1];
    for (std::int64_t q = 0; q < laplace::points_of_cell(block); ++q)
      sum += finest.metric.reaction(row, q, cell[0]);
    for (int side = 0; side < 2 * block.dim; ++side)
      if (laplace::point_behind(
              block, finest.shape.per_direction, finest.links->data(), cell, side, 0, 0)
              .kind == Side::neumann)
        for (std::int64_t q = 0; q < laplace::points_of_face(block); ++q)
          sum += finest.metric.face(row, side, q, block.dim, cell[0]);
  });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_MAX, finest.grid.communicator);
  if (!(sum > 0.))
    throw std::invalid_argument(
        "the reaction and the r of robin boundaries are zero everywhere: nothing holds the solution; allowed: no reaction and neumann "
        "boundaries, which give the solution with mean zero, or numbers > 0 somewhere");
}

void BlockLevels::divide(const BlockMesh &mesh)
{
  int rank = 0;
  MPI_Comm_rank(communicator_, &rank);
  MPI_Comm_size(communicator_, &n_ranks_);
  if (n_ranks_ == 1)
    return;
  const std::vector<std::int64_t> firsts = divide_blocks(mesh.n_blocks(), n_ranks_);
  first_ = firsts[static_cast<std::size_t>(rank)];
  count_ = firsts[static_cast<std::size_t>(rank) + 1] - first_;
  own_ = own_links(mesh.dim, links_, firsts, communicator_);
}

std::string BlockLevels::coarse_text() const
{
  std::string text;
  for (const Level &level : levels_)
    if (level.shape.per_direction == levels_.front().shape.per_direction)
      text = std::to_string(level.basis.n - 1) + (text.empty() ? "" : ", ") + text;
  text = (text.find(',') != std::string::npos ? "degrees " : "degree ") + text;
  const Block &coarsest = levels_.front().grid.block;
  if (!vertices_)
    return text + ", " + std::to_string(coarsest.dofs()) + " unknowns, " +
        to_text(SparseMethod::dense);
  const std::int64_t size = vertices_->size();
  if (size == 0)
    return text + ", smoothing alone, since all vertices are on Dirichlet sides";
  return text + " and " + std::to_string(size) + (size == 1 ? " vertex, " : " vertices, ") +
      to_text(sparse_method(size, coarsest.dim));
}

BlockLevels::Level BlockLevels::make_level_that_may_fold(
    const BlockGeometry &geometry, const PointwiseData &data, Wish wish) const
{
  try
  {
    return make_level(geometry, data, wish);
  }
  catch (const MeshError &error)
  {
    if (!wish.is_coarse)
      throw MeshError(std::string(error.what()) + "; " +
          (wish.shape.mapping_degree > 1 ? "straight sides (mesh.degree = 1) or " : "") +
          "blocks that are bent less help");
    if (wish.shape.mapping_degree == 1)
      throw MeshError("on a coarse level, with " + std::to_string(wish.shape.per_direction) +
          " cells per direction of a block and straight sides, " + error.what() +
          "; more blocks with fewer refinements help");
    wish.shape.mapping_degree = 1;
    return make_level_that_may_fold(geometry, data, wish);
  }
}

BlockLevels::Level BlockLevels::make_level(
    const BlockGeometry &geometry, const PointwiseData &data, Wish wish) const
{
  BlockLevel &shape = wish.shape;
  const CellBasis basis = make_cell_basis(wish.degree);
  const laplace::PointTables tables = make_point_tables(basis);
  LevelGrid grid = stacked_grid(shape.cells(geometry, wish.degree));
  const bool is_part = wish.may_be_divided && may_divide(grid.block);
  if (is_part)
  {
    shape.first = first_;
    shape.count = count_;
    grid.block = shape.cells(geometry, wish.degree);
    grid.offset[0] = first_ * shape.per_direction;
    grid.communicator = own_->shared.communicator;
  }
  grid.replicated = own_ && !is_part;
  const Block &block = grid.block;
  const std::vector<laplace::BlockLink> &links = is_part ? own_->links : links_;
  const SharedSides *const shared = is_part ? &own_->shared : nullptr;
  const bool is_per_cell = are_affine_ && is_constant_in_cells(data, shape.per_direction);
  PointwiseMetric metric = is_per_cell
      ? affine_metric(geometry, shape, basis, data, links, shared)
      : PointwiseMetric(geometry, shape, basis, data, links, wish.is_coarse, shared);
  Vector<double> diagonal = is_per_cell
      ? cell_mean_diagonal(block, shape.per_direction, basis, links, metric.means())
      : pointwise_diagonal(block, shape.per_direction, basis, tables, links, metric.view());
  double largest = *std::max_element(diagonal.data(), diagonal.data() + diagonal.size());
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, grid.communicator);
  const double of_cubes = block.dim * *std::max_element(basis.lambda.begin(), basis.lambda.end());
  const double scale = std::exp2(std::ceil(std::log2(largest / of_cubes)));
  metric.scale(1. / scale);
  for (std::int64_t at = 0; at < diagonal.size(); ++at)
    diagonal[at] /= scale;
  const bool is_held_by_half = !is_per_cell && laplace::holds_in_half(block, metric.view());
  return {shape, std::move(grid), basis, tables, std::move(metric), std::move(diagonal), scale,
      &links, shared, is_held_by_half};
}
} // namespace tensormg
