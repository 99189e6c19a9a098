#include "operators/pointwise/block_function.h"

#include <algorithm>
#include <cmath>

#include "operators/data/tensor_rule.h"

namespace tensormg
{
BlockFunction::BlockFunction(const Problem &problem, const std::string &key,
    const std::string &expression, const std::vector<int> &materials)
  : key_(key)
  , expression_(expression)
  , dim_(problem.dim)
  , materials_(materials)
{
  Problem with_material;
  with_material.dim = problem.dim;
  with_material.constants = problem.constants;
  with_material.functions = problem.functions;
  try
  {
    for (const int material : materials)
      if (!by_material_.contains(material))
      {
        with_material.constants["material"] = material;
        by_material_.emplace(material, scalar_function(with_material, expression));
      }
  }
  catch (const ExpressionError &error)
  {
    throw ExpressionError(key, error.expression(), error.reason());
  }
}

std::vector<double> BlockFunction::any_values(
    std::int64_t block, const std::vector<std::array<double, 3>> &points) const
{
  std::array<std::vector<double>, 3> coordinates;
  for (std::size_t d = 0; d < 3; ++d)
    for (const auto &point : points)
      coordinates[d].push_back(point[d]);
  std::vector<double> result(points.size());
  by_material_.at(materials_[static_cast<std::size_t>(block)])
      .values(points.size(), coordinates[0].data(), coordinates[1].data(), coordinates[2].data(),
          result.data());
  return result;
}

std::vector<double> BlockFunction::values(
    std::int64_t block, const std::vector<std::array<double, 3>> &points) const
{
  std::vector<double> result = any_values(block, points);
  for (std::size_t q = 0; q < points.size(); ++q)
    if (!std::isfinite(result[q]))
      throw ExpressionError(key_, expression_, not_finite_text(result[q], points[q], dim_));
  return result;
}

bool BlockFunction::is_constant_in_blocks() const
{
  return std::all_of(by_material_.begin(), by_material_.end(),
      [](const auto &entry) { return entry.second.is_constant(); });
}

bool BlockFunction::is_affine_in_blocks() const
{
  return std::all_of(by_material_.begin(), by_material_.end(),
      [](const auto &entry) { return entry.second.is_affine(); });
}
} // namespace tensormg
