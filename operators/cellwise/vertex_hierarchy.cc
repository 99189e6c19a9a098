#include "operators/cellwise/vertex_hierarchy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "operators/cellwise/cholesky.h"

namespace tensormg
{
namespace
{
  constexpr std::int64_t most_dense = 6000;
}

SparseRows SparseRows::transposed(std::int64_t n_columns) const
{
  SparseRows result;
  result.begin.assign(static_cast<std::size_t>(n_columns) + 1, 0);
  for (const std::int32_t column : columns)
    ++result.begin[static_cast<std::size_t>(column) + 1];
  for (std::size_t i = 1; i < result.begin.size(); ++i)
    result.begin[i] += result.begin[i - 1];
  result.columns.resize(columns.size());
  result.values.resize(values.size());
  std::vector<std::int64_t> next(result.begin.begin(), result.begin.end() - 1);
  for (std::int64_t row = 0; row < rows(); ++row)
    for (std::int64_t e = begin[row]; e < begin[row + 1]; ++e)
    {
      const std::int64_t to = next[columns[e]]++;
      result.columns[to] = static_cast<std::int32_t>(row);
      result.values[to] = values[e];
    }
  return result;
}

VertexHierarchy::Level &VertexHierarchy::add_level(SparseRows matrix)
{
  if (matrix.rows() > std::numeric_limits<std::int32_t>::max())
    throw std::length_error("a matrix on vertices has more than 2^31 - 1 rows");
  Level &level = levels.emplace_back();
  level.matrix = std::move(matrix);
  for (std::int64_t row = 0; row < level.matrix.rows(); ++row)
  {
    double sum = 0., diagonal = 0.;
    for (std::int64_t e = level.matrix.begin[row]; e < level.matrix.begin[row + 1]; ++e)
    {
      sum += std::abs(level.matrix.values[e]);
      if (level.matrix.columns[e] == row)
        diagonal += level.matrix.values[e];
    }
    level.inverse_diagonal.push_back(1. / diagonal);
    level.lambda_max = std::max(level.lambda_max, sum / diagonal);
  }
  return level;
}

void VertexHierarchy::invert_coarsest()
{
  const SparseRows &matrix = levels.back().matrix;
  if (matrix.rows() > most_dense)
    throw std::runtime_error("multigrid on vertices ends on " + std::to_string(matrix.rows()) +
        " unknowns, too many for an inverse (allowed: at most " + std::to_string(most_dense) +
        "); on the CPU it has none");
  const auto size = static_cast<std::size_t>(matrix.rows());
  std::vector<double> dense(size * size, 0.);
  for (std::size_t row = 0; row < size; ++row)
    for (std::int64_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e)
      dense[static_cast<std::size_t>(matrix.columns[e]) * size + row] += matrix.values[e];
  coarsest_inverse = Cholesky(std::move(dense), "the matrix on the coarsest vertices").inverse();
}
} // namespace tensormg
