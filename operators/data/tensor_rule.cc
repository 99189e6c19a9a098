#include "operators/data/tensor_rule.h"

#include <cmath>
#include <sstream>
#include <stdexcept>

#include <deal.II/base/quadrature_lib.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/vectors/contract.h"

namespace tensormg
{
namespace
{
  [[noreturn]] void throw_not_finite(
      const ScalarFunction &f, int dim, const TilePoints &points, const std::vector<double> &values)
  {
    const auto &[x, y, z] = points.coordinates;
    std::size_t q = 0;
    while (q + 1 < values.size() && std::isfinite(values[q]))
      ++q;
    throw ExpressionError(f.expression(),
        not_finite_text(values[q],
            {x[q % x.size()], y[q / x.size() % y.size()], z[q / x.size() / y.size()]}, dim));
  }

  /// The projection of a constant needs no points, and most of its coefficients are zero.
  void add_constant(const Block &block, double value, const CellRange &range,
      const TensorRule &rule, Vector<double> &b)
  {
    std::array<std::vector<double>, 3> mode;
    for (int d = 0; d < 3; ++d)
    {
      const int n_points = rule[d].n_points();
      double largest = 0.;
      for (int i = 0; i < rule[d].n_modes; ++i)
      {
        double sum = 0.;
        for (int q = 0; q < n_points; ++q)
          sum += rule[d].projection[i * n_points + q];
        mode[d].push_back(sum);
        largest = std::max(largest, std::abs(sum));
      }
      for (double &m : mode[d])
        if (std::abs(m) <= 1e-14 * largest) // the odd modes, up to rounding
          m = 0.;
    }
    for (std::int64_t cz = range.begin[2]; cz < range.end[2]; ++cz)
      for (int k = 0; k < rule[2].n_modes; ++k)
        for (std::int64_t cy = range.begin[1]; cy < range.end[1]; ++cy)
          for (int j = 0; j < rule[1].n_modes; ++j)
            for (int i = 0; i < rule[0].n_modes; ++i)
            {
              const double coefficient = value * mode[0][i] * mode[1][j] * mode[2][k];
              if (coefficient == 0.)
                continue;
              double *row = b.data() + block.index(0, cy, cz, i, j, k);
              for (std::int64_t cx = range.begin[0]; cx < range.end[0]; ++cx)
                row[cx] += coefficient;
            }
  }
} // namespace

LineRule gauss_rule(const CellBasis &basis, int n_points)
{
  const dealii::QGauss<1> quadrature(n_points);
  std::vector<double> points(n_points);
  for (int q = 0; q < n_points; ++q)
    points[q] = quadrature.point(q)[0];
  LineRule rule = point_rule(basis, points);
  rule.weights = quadrature.get_weights();
  for (int i = 0; i < rule.n_modes; ++i)
    for (int q = 0; q < n_points; ++q)
      rule.projection[i * n_points + q] = rule.weights[q] * rule.values[q * rule.n_modes + i];
  return rule;
}

LineRule point_rule(const CellBasis &basis, std::span<const double> points)
{
  LineRule rule;
  rule.n_modes = basis.n;
  rule.points.assign(points.begin(), points.end());
  rule.weights.assign(points.size(), 0.);
  rule.values = mode_value_matrix(basis, points);
  rule.derivatives = mode_derivative_matrix(basis, points);
  rule.projection.assign(rule.values.size(), 0.);
  return rule;
}

LineRule end_rule(const CellBasis &basis, int end, std::span<const double> factors)
{
  const double point = end;
  LineRule rule = point_rule(basis, std::span(&point, 1));
  rule.weights = {1.};
  rule.projection.assign(factors.begin(), factors.begin() + basis.n);
  return rule;
}

TensorRule tensor_rule(const Block &block, const LineRule &line)
{
  return {line, line, block.dim == 3 ? line : LineRule{}};
}

CellRange all_cells(const Block &block) { return {{0, 0, 0}, block.cells}; }

CellRange side_cells(const Block &block, int side)
{
  CellRange range = all_cells(block);
  const int d = side / 2;
  if (side % 2 == 0)
    range.end[d] = 1;
  else
    range.begin[d] = block.cells[d] - 1;
  return range;
}

std::string point_text(const std::array<double, 3> &point, int dim)
{
  std::ostringstream text;
  text.precision(10); // boxes may lie far from the origin
  for (int d = 0; d < dim; ++d)
    text << (d == 0 ? "(" : ", ") << point[d];
  text << ')';
  return text.str();
}

std::string not_finite_text(double value, const std::array<double, 3> &point, int dim)
{
  return std::string("is ") + (std::isinf(value) ? "infinite" : "not a number") + " at " +
      point_text(point, dim);
}

void TilePoints::set(const LevelGrid &grid, const TensorRule &rule, const Tile &tile)
{
  const std::array<std::int64_t, 3> first{tile.cx, tile.cy, tile.cz};
  const std::array<std::int64_t, 3> count{tile.count, 1, 1};
  for (int d = 0; d < 3; ++d)
  {
    coordinates[d].clear();
    for (const double point : rule[d].points)
      for (std::int64_t c = 0; c < count[d]; ++c)
        coordinates[d].push_back(grid.axis[d].coordinate(grid.offset[d] + first[d] + c, point));
  }
}

void TilePoints::evaluate(const ScalarFunction &f, std::vector<double> &out) const
{
  out.resize(size());
  f.tensor_values(coordinates[0], coordinates[1], coordinates[2], out.data());
}

void multiply_cells(const Tile &tile, const CellFactor &factor, std::vector<double> &values)
{
  if (!factor)
    return;
  const auto count = static_cast<std::size_t>(tile.count);
  for (std::size_t c = 0; c < count; ++c)
  {
    const double of_cell = factor(tile.cx + static_cast<std::int64_t>(c), tile.cy, tile.cz);
    for (std::size_t q = c; q < values.size(); q += count)
      values[q] *= of_cell;
  }
}

double weighted_sum(
    const TensorRule &rule, const std::vector<double> &values, std::int64_t count, std::int64_t c)
{
  double sum = 0.;
  auto at = static_cast<std::size_t>(c);
  for (const double wz : rule[2].weights)
    for (const double wy : rule[1].weights)
      for (const double wx : rule[0].weights)
      {
        sum += wx * wy * wz * values[at];
        at += static_cast<std::size_t>(count);
      }
  return sum;
}

void multiply_cells(const LevelGrid &level, const CellFactor &factor, Vector<double> &u)
{
  if (!factor)
    return;
  const Block &block = level.block;
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
      {
        const double of_cell = factor(cx, cy, cz);
        for (int k = 0; k < block.nz(); ++k)
          for (int j = 0; j < block.n; ++j)
            for (int i = 0; i < block.n; ++i)
              u[block.index(cx, cy, cz, i, j, k)] *= of_cell;
      }
}

void TileEvaluator::evaluate(const Vector<double> &u, const TensorRule &rule, const Tile &tile,
    int direction, std::vector<double> &out)
{
  const Block &block = u.block();
  const int n = block.n, nz = block.nz();
  const std::int64_t count = tile.count;
  const auto matrix = [&](int d) {
    return d == direction ? rule[d].derivatives.data() : rule[d].values.data();
  };
  const int qx = rule[0].n_points(), qy = rule[1].n_points(), qz = rule[2].n_points();

  modes_.resize(nz * n * n * count);
  double *to = modes_.data();
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i, to += count)
        std::copy_n(u.data() + block.index(tile.cx, tile.cy, tile.cz, i, j, k), count, to);

  z_.resize(qz * n * n * count);
  contract(1, qz, nz, n * n * count, matrix(2), modes_.data(), z_.data());
  yz_.resize(qz * qy * n * count);
  contract(qz, qy, n, n * count, matrix(1), z_.data(), yz_.data());
  out.resize(qz * qy * qx * count);
  contract(qz * qy, qx, n, count, matrix(0), yz_.data(), out.data());
}

void add_projection(const LevelGrid &grid, const ScalarFunction &f, const CellRange &range,
    const TensorRule &rule, double scale, Vector<double> &b, const CellFactor &factor)
{
  const Block &block = grid.block;
  TilePoints points;
  if (f.is_constant() && !factor)
  {
    const double value = f.value();
    if (!std::isfinite(value))
    {
      points.set(grid, rule, Tile{range.begin[0], 1, range.begin[1], range.begin[2]});
      throw_not_finite(f, block.dim, points, {value});
    }
    if (value != 0.)
      add_constant(block, scale * value, range, rule, b);
    return;
  }

  const int n = block.n, nz = block.nz();
  const int qx = rule[0].n_points(), qy = rule[1].n_points(), qz = rule[2].n_points();
  std::vector<double> values, x, xy, xyz, factors;
  for_each_tile(range, rule, [&](const Tile &tile) {
    const std::int64_t count = tile.count;
    points.set(grid, rule, tile);
    points.evaluate(f, values);
    x.resize(qz * qy * n * count);
    contract(qz * qy, n, qx, count, rule[0].projection.data(), values.data(), x.data());
    xy.resize(qz * n * n * count);
    contract(qz, n, qy, n * count, rule[1].projection.data(), x.data(), xy.data());
    xyz.resize(nz * n * n * count);
    contract(1, nz, qz, n * n * count, rule[2].projection.data(), xy.data(), xyz.data());

    // Infinities and NaN at any point reach every mode of the cell.
    if (!std::all_of(xyz.begin(), xyz.begin() + count, [](double v) { return std::isfinite(v); }))
      throw_not_finite(f, block.dim, points, values);
    factors.assign(static_cast<std::size_t>(count), scale);
    for (std::int64_t c = 0; factor && c < count; ++c)
      factors[c] *= factor(tile.cx + c, tile.cy, tile.cz);
    const double *from = xyz.data();
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i, from += count)
        {
          double *row = b.data() + block.index(tile.cx, tile.cy, tile.cz, i, j, k);
          for (std::int64_t c = 0; c < count; ++c)
            row[c] += factors[c] * from[c];
        }
  });
}

Integral integrate(const LevelGrid &grid, const ScalarFunction &f, const CellRange &range,
    const TensorRule &rule, const CellFactor &factor)
{
  Integral integral;
  if (f.is_constant() && !factor)
  {
    integral.value = f.value();
    for (int d = 0; d < 3; ++d)
      integral.value *= static_cast<double>(range.end[d] - range.begin[d]);
    integral.magnitude = std::abs(integral.value);
    return integral;
  }
  TilePoints points;
  std::vector<double> values;
  for_each_tile(range, rule, [&](const Tile &tile) {
    points.set(grid, rule, tile);
    points.evaluate(f, values);
    multiply_cells(tile, factor, values);
    Integral part; // summed per tile: less rounding than one long sum
    const double *v = values.data();
    for (const double wz : rule[2].weights)
      for (const double wy : rule[1].weights)
        for (const double wx : rule[0].weights)
        {
          const double w = wx * wy * wz;
          for (std::int64_t c = 0; c < tile.count; ++c, ++v)
          {
            part.value += w * *v;
            part.magnitude += w * std::abs(*v);
          }
        }
    integral.value += part.value;
    integral.magnitude += part.magnitude;
  });
  return integral;
}
} // namespace tensormg
