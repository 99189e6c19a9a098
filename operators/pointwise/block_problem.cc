#include "operators/pointwise/block_problem.h"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "operators/blocks/generated_mesh.h"
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
    BlockProblem result{problem, std::move(blocks), std::move(geometry), {}, {}, {}, 1, true};
    for (int side = 0; side < 2 * problem.dim; ++side)
    {
      result.boundary_names[side] = side_names[side];
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

  void set_conditions(BlockProblem &problem, const MeshOptions &mesh)
  {
    const std::set<int> numbers = boundaries_of(problem.blocks);
    const BoundaryCondition *others = nullptr;
    for (const auto &[name, condition] : mesh.conditions)
      if (name == "*")
        others = &condition;
      else if (!problem.conditions.emplace(boundary_of(problem, numbers, name), condition).second)
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
    GeneratedMesh made =
        generate_mesh(problem.dim, mesh.generator, mesh.generator_arguments, generated_degree);
    BlockProblem result{
        problem, std::move(made.blocks), std::move(made.geometry), {}, {}, {}, 1, false};
    set_conditions(result, mesh);
    return result;
  };
  BlockProblem result = make();
  result.mapping_degree = mesh.degree > 0 ? std::min(mesh.degree, problem.degree) : problem.degree;
  for (const auto &[number, condition] : result.conditions)
    if (condition.kind == BoundaryKind::periodic)
      throw std::invalid_argument("the boundary '" + result.boundary_name(number) +
          "' is periodic; allowed on curved cells: dirichlet, neumann, robin");
  return result;
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
      return DiffusionTensor::at_points([k](auto, const auto &, std::vector<SymmetricTensor> &out) {
        std::fill(out.begin(), out.end(), SymmetricTensor{k, k, k, 0., 0., 0.});
      });
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

BlockLevels::Options level_options(const BlockProblem &problem)
{
  BlockLevels::Options options;
  options.degree = problem.problem.degree;
  options.mapping_degree = problem.mapping_degree;
  options.refinements = problem.problem.refinements;
  options.is_singular = problem.is_singular();
  options.side = [&problem](int boundary) { return problem.side(boundary); };
  return options;
}
} // namespace tensormg
