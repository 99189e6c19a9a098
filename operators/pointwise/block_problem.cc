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

  /// With which the polynomials of a block are as good as the manifold of a generator for cells of this degree: they hold (degree + 1)^dim points.
  int generated_degree(int degree) { return std::min(degree + 6, 12); }

  std::string name_of(const std::map<int, std::string> &names, int number)
  {
    const auto found = names.find(number);
    return found != names.end() ? found->second : std::to_string(number);
  }

  /// The box where the expressions move its points to; affine ones make polynomials of it.
  BlockGeometry moved_box(
      const BlockMesh &box, const Problem &problem, const std::array<std::string, 3> &map)
  {
    const std::vector<int> no_materials{0};
    auto functions = std::make_shared<std::vector<BlockFunction>>();
    for (int d = 0; d < problem.dim; ++d)
      functions->emplace_back(problem, "mesh.map", map[d], no_materials);
    const auto move = [functions](std::vector<Point> &points) {
      std::vector<Point> moved(points.size(), Point{});
      for (std::size_t d = 0; d < functions->size(); ++d)
      {
        const std::vector<double> values = (*functions)[d].values(0, points);
        for (std::size_t q = 0; q < points.size(); ++q)
          moved[q][d] = values[q];
      }
      points = std::move(moved);
    };
    const bool is_affine = std::all_of(functions->begin(), functions->end(),
        [](const BlockFunction &function) { return function.is_affine_in_blocks(); });
    if (!is_affine)
      return BlockGeometry(box).moved(move);
    return BlockGeometry(box).mapped(1, [&](const Point &x) {
      std::vector<Point> point{x};
      move(point);
      return point.front();
    });
  }

  BlockProblem mapped(const Problem &problem, const MeshOptions &mesh)
  {
    const MeshCells cells =
        box_cells(problem.dim, problem.coarse_cells, problem.lower, problem.upper);
    BlockMesh blocks = make_block_mesh(cells);
    BlockGeometry geometry = moved_box(blocks, problem, mesh.map);
    // In the box, wherever the map takes the sides to.
    for (int d = 0; d < problem.dim; ++d)
      if (problem.boundary[2 * d] == BoundaryKind::periodic)
        join_boundaries(blocks, 2 * d, 2 * d + 1,
            [d, length = problem.upper[d] - problem.lower[d]](Point x) {
              x[d] += length;
              return x;
            },
            {side_names[2 * d], side_names[2 * d + 1]});
    BlockProblem result{problem, std::move(blocks), std::move(geometry), {}, {}, {}, 1, true, {}};
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

  /// Which boundary is meant by a name or a number. `others`: what else is allowed.
  int boundary_of(const BlockProblem &problem, const std::set<int> &numbers,
      const std::string &name, const std::string &others = "")
  {
    std::set<int> found;
    for (const int number : numbers)
      if (name == problem.boundary_name(number) || name == std::to_string(number))
        found.insert(number);
    if (found.size() == 1)
      return *found.begin();
    if (found.size() > 1)
      throw std::invalid_argument("'" + name + "' is the name or the number of " +
          std::to_string(found.size()) +
          " boundaries of the mesh; allowed: names that are different, and no numbers of others");
    throw std::invalid_argument("the mesh has no boundary '" + name +
        "'; allowed: " + names_text(problem, numbers) + others);
  }

  /// The same of a condition, with words about these.
  int boundary_of_condition(
      const BlockProblem &problem, const std::set<int> &numbers, const std::string &name)
  {
    try
    {
      return boundary_of(problem, numbers, name, ", and * for all others");
    }
    catch (const std::invalid_argument &error)
    {
      throw std::invalid_argument("boundary.conditions: " + std::string(error.what()));
    }
  }

  /// Points of a side by the nodes of these polynomials, those of the lower tangential direction fastest.
  std::vector<Point> side_nodes(
      const BlockProblem &problem, std::int64_t block, int side, int degree)
  {
    const std::vector<double> line = lobatto_nodes(degree);
    std::array<std::vector<double>, 3> at{line, line, line};
    at[side / 2] = {side % 2 == 1 ? 1. : 0.};
    return problem.geometry.points(block, at);
  }

  /// Whether joined sides are curved alike: corners alone do not tell.
  void check_joined(const BlockProblem &problem, const BlockMesh &before, int first,
      const RigidMotion &motion, const std::string &name)
  {
    constexpr double rounding = 1e-6; // of the block
    const int degree = std::max(problem.geometry.degree(), 2);
    const std::int64_t n = degree + 1, of_b = before.dim == 3 ? n : 1;
    for (std::int64_t b = 0; b < before.n_blocks(); ++b)
      for (int side = 0; side < 2 * before.dim; ++side)
      {
        const BlockSide &was = before.sides[static_cast<std::size_t>(b)][side];
        if (was.neighbour >= 0 || was.boundary != first)
          continue;
        const BlockSide &is = problem.blocks.sides[static_cast<std::size_t>(b)][side];
        const std::vector<Point> here = side_nodes(problem, b, side, degree),
                                 there = side_nodes(problem, is.neighbour, is.side, degree);
        const auto &corners = before.corners[static_cast<std::size_t>(b)];
        double size = 0.;
        for (int d = 0; d < 3; ++d)
          size = std::max(size, std::abs(corners[0][d] - corners[(1U << before.dim) - 1][d]));
        for (std::int64_t q = 0; q < n * of_b; ++q)
        {
          const auto to = is.map(q % n, q / n, n, of_b);
          const Point moved = motion(here[static_cast<std::size_t>(q)]),
                      &other = there[static_cast<std::size_t>(to[0] + n * to[1])];
          for (int d = 0; d < 3; ++d)
            if (!(std::abs(moved[d] - other[d]) <= rounding * size))
              throw MeshError("the boundary " + name +
                  " is curved in another way than its partner at " +
                  point_text(here[static_cast<std::size_t>(q)], before.dim));
        }
      }
  }

  /// Joins pairs, whose boundaries are then none.
  void join_pairs(BlockProblem &problem, const std::set<int> &numbers, const MeshOptions &mesh)
  {
    std::map<int, int> joined; // by both
    for (const auto &[name, condition] : mesh.conditions)
    {
      if (condition.kind != BoundaryKind::periodic)
        continue;
      const int first = boundary_of_condition(problem, numbers, name),
                second = boundary_of_condition(problem, numbers, condition.value);
      if (joined.contains(first) && joined.at(first) == second)
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
      joined[first] = second;
      joined[second] = first;
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
          !problem.conditions.emplace(boundary_of_condition(problem, numbers, name), condition)
               .second)
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

int BlockProblem::boundary_number(const std::string &name) const
{
  std::set<int> numbers;
  for (const auto &[number, condition] : conditions)
    numbers.insert(number);
  return boundary_of(*this, numbers, name);
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

namespace
{
  /// Of the connected parts of the mesh, the least number of a block in each block's part.
  std::vector<std::int64_t> parts_of(const BlockMesh &mesh)
  {
    std::vector<std::int64_t> part(static_cast<std::size_t>(mesh.n_blocks()), -1);
    for (std::int64_t first = 0; first < mesh.n_blocks(); ++first)
    {
      std::vector<std::int64_t> next{first};
      while (!next.empty())
      {
        const std::int64_t block = next.back();
        next.pop_back();
        if (part[static_cast<std::size_t>(block)] >= 0)
          continue;
        part[static_cast<std::size_t>(block)] = first;
        for (int side = 0; side < 2 * mesh.dim; ++side)
          if (const int other = mesh.sides[static_cast<std::size_t>(block)][side].neighbour;
              other >= 0)
            next.push_back(other);
      }
    }
    return part;
  }
} // namespace

void check_parts(const BlockProblem &problem)
{
  const BlockMesh &mesh = problem.blocks;
  const std::vector<std::int64_t> part = parts_of(mesh);
  const bool has_parts = std::any_of(part.begin(), part.end(), [](auto p) { return p > 0; });
  if (!problem.problem.reaction.empty() || (problem.is_singular() && !has_parts))
    return;
  std::set<std::int64_t> held;
  for (std::size_t b = 0; b < part.size(); ++b)
    for (int side = 0; side < 2 * mesh.dim; ++side)
      if (const BlockSide &other = mesh.sides[b][side]; other.neighbour < 0 &&
          problem.conditions.at(other.boundary).kind != BoundaryKind::neumann)
        held.insert(part[b]);
  for (std::size_t b = 0; b < part.size(); ++b)
    if (!held.contains(part[b]))
      throw std::invalid_argument(
          "boundary.conditions: the mesh has parts that are not connected, and nothing holds the solution in that of the cell at " +
          point_text(mesh.corners[b][0], mesh.dim) +
          "; allowed: a dirichlet or robin boundary in each part");
}

namespace
{
  BlockProblem finished(BlockProblem problem, const MeshOptions &mesh)
  {
    const Problem &p = problem.problem;
    if (p.constants.contains("material"))
      throw std::invalid_argument(
          "problem.constants: `material` is the number of the material on this mesh; allowed: other names");
    problem.averages = mesh.averages;
    problem.mapping_degree = mesh.degree > 0 ? std::min(mesh.degree, p.degree) : p.degree;
    for (std::int64_t block = 0; block < problem.blocks.n_blocks(); ++block)
      problem.origins.push_back({block});
    check_parts(problem);
    return problem;
  }
} // namespace

BlockProblem make_block_problem(const Problem &problem, const MeshOptions &options, NamedMesh mesh)
{
  BlockProblem result{problem, std::move(mesh.blocks), std::move(mesh.geometry),
      std::move(mesh.boundary_names), std::move(mesh.material_names), {}, 1, false};
  set_conditions(result, options);
  return finished(std::move(result), options);
}

BlockProblem make_block_problem(const Problem &problem, const MeshOptions &mesh)
{
  if (mesh.type == MeshType::mapped)
    return finished(mapped(problem, mesh), mesh);
  return make_block_problem(problem, mesh,
      mesh.type == MeshType::file
          ? read_mesh_file(problem.dim, mesh.file)
          : generate_mesh(problem.dim, mesh.generator, mesh.generator_arguments,
                generated_degree(mesh.degree > 0 ? mesh.degree : problem.degree)));
}

namespace
{
  /// As split_blocks() orders them.
  std::vector<BlockOrigin> split_origins(const std::vector<BlockOrigin> &origins, int dim)
  {
    std::vector<BlockOrigin> result;
    for (const BlockOrigin &origin : origins)
      for (int half = 0; half < 1 << dim; ++half)
      {
        BlockOrigin &part = result.emplace_back(origin);
        for (int d = 0; d < dim; ++d)
          part.part[d] = 2 * part.part[d] + (half >> d & 1);
      }
    return result;
  }
} // namespace

void divide(BlockProblem &problem, int n_ranks)
{
  if (n_ranks == 1)
    return;
  int &refinements = problem.problem.refinements;
  for (; refinements > 0 && is_too_coarse(problem.blocks.n_blocks(), n_ranks); --refinements)
  {
    problem.blocks = split_blocks(problem.blocks);
    problem.geometry = problem.geometry.split();
    problem.origins = split_origins(problem.origins, problem.blocks.dim);
  }
  const std::vector<std::int64_t> order = order_along_curve(problem.blocks);
  problem.blocks = reordered(problem.blocks, order);
  problem.geometry = problem.geometry.reordered(order);
  std::vector<BlockOrigin> origins;
  for (const std::int64_t block : order)
    origins.push_back(problem.origins[static_cast<std::size_t>(block)]);
  problem.origins = std::move(origins);
}

namespace
{
  bool are_constant_in_blocks(const std::map<int, BlockFunction> &functions)
  {
    return std::all_of(functions.begin(), functions.end(),
        [](const auto &entry) { return entry.second.is_constant_in_blocks(); });
  }

  DiffusionTensor tensor_of(const BlockProblem &problem)
  {
    if (problem.k)
      return *problem.k;
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
    DiffusionTensor::AtPoints k = [parts, is_scalar](std::int64_t block,
                                      const std::vector<Point> &points,
                                      std::vector<SymmetricTensor> &k) {
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
    };
    return are_constant_in_blocks(*parts) ? DiffusionTensor::constant_in_blocks(std::move(k))
                                          : DiffusionTensor::at_points(std::move(k));
  }
} // namespace

PointwiseData pointwise_data(const BlockProblem &problem)
{
  const Problem &p = problem.problem;
  const std::vector<int> &materials = problem.blocks.material;
  PointwiseData data(tensor_of(problem));
  data.averages = problem.averages;
  if (p.coefficient_in_cell == InCell::mean)
    data.means_of_k = {std::int64_t{1} << p.refinements, 2 * (p.degree + 1)};
  data.has_numbers_of_blocks = true;
  if (!p.reaction.empty())
  {
    const auto c = std::make_shared<BlockFunction>(p, "problem.reaction", p.reaction, materials);
    data.has_numbers_of_blocks = c->is_constant_in_blocks();
    data.reaction = [c](std::int64_t block, int, const std::vector<Point> &points) {
      return c->values(block, points);
    };
  }
  auto robin = std::make_shared<std::map<int, BlockFunction>>();
  for (const auto &[number, condition] : problem.conditions)
    if (condition.kind == BoundaryKind::robin)
      robin->emplace(number,
          BlockFunction(p, problem.robin_key(number), condition.robin_coefficient, materials));
  data.has_numbers_of_blocks = data.has_numbers_of_blocks && are_constant_in_blocks(*robin);
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
