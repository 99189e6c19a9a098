#include "operators/pointwise/block_problem.h"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "operators/blocks/generated_mesh.h"
#include "operators/blocks/mesh_file.h"
#include "operators/blocks/periodic.h"
#include "operators/data/tensor_rule.h"
#include "operators/division/block_division.h"
#include "operators/pointwise/block_function.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;

  /// With which the polynomials of a block are as good as the manifold of a generator.
  constexpr int generated_degree = 12;

  std::string name_of(const std::map<int, std::string> &names, int number)
  {
    const auto found = names.find(number);
    return found != names.end() ? found->second : std::to_string(number);
  }

  /// Where the expressions move points to.
  std::function<void(std::vector<Point> &)> movement(
      const Problem &problem, const std::array<std::string, 3> &map)
  {
    const std::vector<int> no_materials{0};
    auto functions = std::make_shared<std::vector<BlockFunction>>();
    for (int d = 0; d < problem.dim; ++d)
      functions->emplace_back(problem, "mesh.map", map[d], no_materials);
    return [functions](std::vector<Point> &points) {
      std::vector<Point> moved(points.size(), Point{});
      for (std::size_t d = 0; d < functions->size(); ++d)
      {
        const std::vector<double> values = (*functions)[d].values(0, points);
        for (std::size_t q = 0; q < points.size(); ++q)
          moved[q][d] = values[q];
      }
      points = std::move(moved);
    };
  }

  BlockProblem mapped(const Problem &problem, const MeshOptions &mesh)
  {
    const MeshCells cells =
        box_cells(problem.dim, problem.coarse_cells, problem.lower, problem.upper);
    BlockMesh blocks = make_block_mesh(cells);
    BlockGeometry geometry = BlockGeometry(blocks).moved(movement(problem, mesh.map));
    // In the box, wherever the map takes the sides to.
    for (int d = 0; d < problem.dim; ++d)
      if (problem.boundary[2 * d] == BoundaryKind::periodic)
        join_boundaries(blocks, 2 * d, 2 * d + 1,
            [d, length = problem.upper[d] - problem.lower[d]](Point x) {
              x[d] += length;
              return x;
            },
            {side_names[2 * d], side_names[2 * d + 1]});
    BlockProblem result{problem, std::move(blocks), std::move(geometry), {}, {}, {}, 1, true};
    for (int side = 0; side < 2 * problem.dim; ++side)
    {
      result.boundary_names[side] = side_names[side];
      if (problem.boundary[side] != BoundaryKind::periodic)
        result.conditions[side] = {
            problem.boundary[side], problem.boundary_value[side], problem.robin_coefficient[side]};
    }
    return result;
  }

  std::set<int> boundaries_of(const BlockMesh &mesh)
  {
    std::set<int> result;
    for (const auto &sides : mesh.sides)
      for (int side = 0; side < 2 * mesh.dim; ++side)
        if (sides[side].neighbour < 0)
          result.insert(sides[side].boundary);
    return result;
  }

  std::string names_text(const BlockProblem &problem, const std::set<int> &numbers)
  {
    std::string text;
    for (const int number : numbers)
      text += (text.empty() ? "" : ", ") + problem.boundary_name(number);
    return text;
  }

  /// Which boundary is meant by a name or a number.
  int boundary_of(
      const BlockProblem &problem, const std::set<int> &numbers, const std::string &name)
  {
    for (const int number : numbers)
      if (name == problem.boundary_name(number) || name == std::to_string(number))
        return number;
    throw std::invalid_argument("boundary.conditions: the mesh has no boundary '" + name +
        "'; allowed: " + names_text(problem, numbers) + ", and * for all others");
  }

  /// Whether the middles of joined sides lie where the motion takes them: corners alone do not tell.
  void check_joined(const BlockProblem &problem, const BlockMesh &before, int first,
      const RigidMotion &motion, const std::string &name)
  {
    const auto middle = [&](std::int64_t block, int side) {
      std::array<std::vector<double>, 3> at{{{0.5}, {0.5}, {0.5}}};
      at[side / 2] = {side % 2 == 1 ? 1. : 0.};
      return problem.geometry.points(block, at).front();
    };
    for (std::int64_t b = 0; b < before.n_blocks(); ++b)
      for (int side = 0; side < 2 * before.dim; ++side)
      {
        const BlockSide &was = before.sides[static_cast<std::size_t>(b)][side];
        if (was.neighbour >= 0 || was.boundary != first)
          continue;
        const BlockSide &is = problem.blocks.sides[static_cast<std::size_t>(b)][side];
        const Point here = motion(middle(b, side)), there = middle(is.neighbour, is.side);
        const auto &corners = before.corners[static_cast<std::size_t>(b)];
        double off = 0., size = 0.;
        for (int d = 0; d < 3; ++d)
        {
          off = std::max(off, std::abs(here[d] - there[d]));
          size = std::max(size, std::abs(corners[0][d] - corners[(1U << before.dim) - 1][d]));
        }
        if (!(off <= 1e-6 * size))
          throw MeshError("the boundary " + name +
              " is curved in another way than its partner at " + point_text(here, before.dim));
      }
  }

  /// Joins pairs, whose boundaries are then none.
  void join_pairs(BlockProblem &problem, const std::set<int> &numbers, const MeshOptions &mesh)
  {
    std::set<int> joined;
    for (const auto &[name, condition] : mesh.conditions)
    {
      if (condition.kind != BoundaryKind::periodic)
        continue;
      const int first = boundary_of(problem, numbers, name),
                second = boundary_of(problem, numbers, condition.value);
      if (joined.contains(first) && joined.contains(second))
        continue; // the other half of a pair
      if (first == second || joined.contains(first) || joined.contains(second))
        throw std::invalid_argument("boundary.conditions: '" + name +
            "' cannot be periodic with '" + condition.value +
            "'; allowed: pairs of two boundaries each");
      const std::array<std::string, 2> names{
          problem.boundary_name(first), problem.boundary_name(second)};
      const RigidMotion motion = motion_between(problem.blocks, first, second, names);
      const BlockMesh before = problem.blocks;
      join_boundaries(problem.blocks, first, second, motion, names);
      check_joined(problem, before, first, motion, names[0]);
      joined.insert({first, second});
    }
  }

  void set_conditions(BlockProblem &problem, const MeshOptions &mesh)
  {
    const std::set<int> all = boundaries_of(problem.blocks);
    join_pairs(problem, all, mesh);
    const std::set<int> numbers = boundaries_of(problem.blocks);
    const BoundaryCondition *others = nullptr;
    for (const auto &[name, condition] : mesh.conditions)
      if (name == "*")
        others = &condition;
      else if (condition.kind != BoundaryKind::periodic &&
          !problem.conditions.emplace(boundary_of(problem, numbers, name), condition).second)
        throw std::invalid_argument(
            "boundary.conditions: the boundary '" + name + "' has more than one");
    for (const int number : numbers)
      if (!problem.conditions.contains(number))
      {
        if (others == nullptr)
          throw std::invalid_argument("boundary.conditions: the boundary '" +
              problem.boundary_name(number) + "' of the mesh has none; allowed: one for each of " +
              names_text(problem, numbers) + ", or * for all others");
        problem.conditions[number] = *others;
      }
  }
} // namespace

std::string BlockProblem::boundary_name(int number) const
{
  return name_of(boundary_names, number);
}

std::string BlockProblem::material_name(int number) const
{
  return name_of(material_names, number);
}

bool BlockProblem::is_singular() const
{
  return problem.reaction.empty() &&
      std::all_of(conditions.begin(), conditions.end(),
          [](const auto &entry) { return entry.second.kind == BoundaryKind::neumann; });
}

BlockProblem make_block_problem(const Problem &problem, const MeshOptions &mesh)
{
  const auto make = [&]() -> BlockProblem {
    if (mesh.type == MeshType::mapped)
      return mapped(problem, mesh);
    NamedMesh made = mesh.type == MeshType::file
        ? read_mesh_file(problem.dim, mesh.file)
        : generate_mesh(problem.dim, mesh.generator, mesh.generator_arguments, generated_degree);
    BlockProblem result{problem, std::move(made.blocks), std::move(made.geometry),
        std::move(made.boundary_names), std::move(made.material_names), {}, 1, false};
    set_conditions(result, mesh);
    return result;
  };
  BlockProblem result = make();
  result.mapping_degree = mesh.degree > 0 ? std::min(mesh.degree, problem.degree) : problem.degree;
  return result;
}

void divide(BlockProblem &problem, int n_ranks)
{
  if (n_ranks == 1)
    return;
  int &refinements = problem.problem.refinements;
  for (; refinements > 0 && is_too_coarse(problem.blocks.n_blocks(), n_ranks); --refinements)
  {
    problem.blocks = split_blocks(problem.blocks);
    problem.geometry = problem.geometry.split();
  }
  const std::vector<std::int64_t> order = order_along_curve(problem.blocks);
  problem.blocks = reordered(problem.blocks, order);
  problem.geometry = problem.geometry.reordered(order);
}

namespace
{
  DiffusionTensor tensor_of(const BlockProblem &problem)
  {
    const Problem &p = problem.problem;
    const char *key = "problem.coefficient";
    if (p.cell_coefficient[0].empty())
    {
      const double k = p.coefficient;
      return DiffusionTensor::constant({k, k, k, 0., 0., 0.});
    }
    const auto &materials = problem.blocks.material;
    // By place in a SymmetricTensor.
    auto parts = std::make_shared<std::map<int, BlockFunction>>();
    for (int d = 0; d < p.dim; ++d)
      if (!p.cell_coefficient[d].empty())
        parts->emplace(d, BlockFunction(p, key, p.cell_coefficient[d], materials));
    const bool is_scalar = parts->size() == 1;
    for (int m = 0; m < 3; ++m)
      if (!p.mixed_coefficient[m].empty())
        parts->emplace(3 + m, BlockFunction(p, key, p.mixed_coefficient[m], materials));
    return DiffusionTensor::at_points(
        [parts, is_scalar](
            std::int64_t block, const std::vector<Point> &points, std::vector<SymmetricTensor> &k) {
          std::fill(k.begin(), k.end(), SymmetricTensor{1., 1., 1., 0., 0., 0.});
          for (const auto &[place, function] : *parts)
          {
            const std::vector<double> values = function.values(block, points);
            for (std::size_t q = 0; q < k.size(); ++q)
              if (is_scalar)
                k[q] = {values[q], values[q], values[q], 0., 0., 0.};
              else
                k[q][static_cast<std::size_t>(place)] = values[q];
          }
        });
  }
} // namespace

PointwiseData pointwise_data(const BlockProblem &problem)
{
  const Problem &p = problem.problem;
  const std::vector<int> &materials = problem.blocks.material;
  PointwiseData data(tensor_of(problem));
  if (!p.reaction.empty())
    data.reaction = [c = std::make_shared<BlockFunction>(
                         p, "problem.reaction", p.reaction, materials)](std::int64_t block, int,
                        const std::vector<Point> &points) { return c->values(block, points); };
  auto robin = std::make_shared<std::map<int, BlockFunction>>();
  for (const auto &[number, condition] : problem.conditions)
    if (condition.kind == BoundaryKind::robin)
      robin->emplace(
          number, BlockFunction(p, "boundary.conditions", condition.robin_coefficient, materials));
  if (!robin->empty())
    data.robin = [robin](std::int64_t block, int boundary, const std::vector<Point> &points) {
      const auto r = robin->find(boundary);
      return r != robin->end() ? r->second.values(block, points)
                               : std::vector<double>(points.size(), 0.);
    };
  return data;
}

BlockLevels::Options level_options(const BlockProblem &problem, MPI_Comm communicator)
{
  BlockLevels::Options options;
  options.communicator = communicator;
  options.degree = problem.problem.degree;
  options.mapping_degree = problem.mapping_degree;
  options.refinements = problem.problem.refinements;
  options.is_singular = problem.is_singular();
  options.side = [&problem](int boundary) { return problem.side(boundary); };
  return options;
}
} // namespace tensormg
