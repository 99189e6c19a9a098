// Operators on curved cells for tests: meshes, coefficients, and A u with numbers cell by cell.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/blocks/generated_mesh.h"
#include "operators/pointwise/metric.h"
#include "operators/vectors/vector.h"
#include "tests/support/random_vector.h"

namespace tensormg::test
{
using Point = std::array<double, 3>;
using Numbers = std::vector<double>; ///< by cell, modes or nodes lexicographic

/// What is computed.
struct Setting
{
  BlockMesh blocks;
  BlockGeometry geometry;
  BlockLevel level;
  int degree;
  DiffusionTensor k;
  std::function<Side(int boundary)> kind = [](int) { return Side::dirichlet; };
  NumberAtPoints reaction{}, robin{}; ///< may be empty
  FaceAverage averages = FaceAverage::arithmetic;

  PointwiseData data() const
  {
    PointwiseData result(k, reaction, robin);
    result.averages = averages;
    return result;
  }
};

/// A reaction and, on sides that are Side::neumann, a Robin coefficient.
inline Setting with_reaction(Setting s)
{
  s.reaction = [](std::int64_t block, int, const std::vector<Point> &points) {
    std::vector<double> c;
    for (const Point &x : points)
      c.push_back(2. + x[0] + x[1] * x[2] + double(block % 2));
    return c;
  };
  s.robin = [](std::int64_t, int boundary, const std::vector<Point> &points) {
    std::vector<double> r;
    for (const Point &x : points)
      r.push_back(3. + boundary + x[0] * x[1]);
    return r;
  };
  return s;
}

/// K of every second block is larger by that factor, and averages are harmonic.
inline Setting with_jumps(Setting s, double factor)
{
  s.averages = FaceAverage::harmonic;
  s.k = [k = s.k, factor](std::int64_t block, const Point &x) {
    SymmetricTensor result = k(block, {x}).front();
    for (double &entry : result)
      entry *= block % 2 == 0 ? 1. : factor;
    return result;
  };
  return s;
}

/// Cells in the order block, z, y, x.
template <typename Use>
void for_cells(const Setting &s, const Use &use)
{
  const std::int64_t n = s.level.per_direction;
  for (std::int64_t b = 0; b < s.blocks.n_blocks(); ++b)
    for (std::int64_t z = 0; z < (s.blocks.dim == 3 ? n : 1); ++z)
      for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x)
          use(b, std::array<std::int64_t, 3>{x, y, z});
}

inline std::vector<laplace::BlockLink> links_of(const Setting &s)
{
  std::vector<laplace::BlockLink> links;
  for (const auto &sides : s.blocks.sides)
    for (int side = 0; side < 2 * s.blocks.dim; ++side)
    {
      const BlockSide &other = sides[side];
      const Side kind = other.neighbour >= 0 ? Side::ghost : s.kind(other.boundary);
      links.push_back({kind, other.neighbour, other.side, other.map, other.boundary});
    }
  return links;
}

/// use(place in the block, number of a mode).
template <typename Use>
void for_modes(const Setting &s, const Use &use)
{
  const Block block = s.level.cells(s.geometry, s.degree);
  std::size_t at = 0;
  for_cells(s, [&](std::int64_t b, const std::array<std::int64_t, 3> &cell) {
    for (int k = 0; k < block.nz(); ++k)
      for (int j = 0; j < block.n; ++j)
        for (int i = 0; i < block.n; ++i)
          use(block.index(b * s.level.per_direction + cell[0], cell[1], cell[2], i, j, k), at++);
  });
}

/// A u, or b - A u with b, or with `old` a step of Chebyshev that overwrites it, with some diagonal.
template <typename Number = double>
Numbers applied(const Setting &s, const Numbers &u,
    laplace::ApplyPointwise<Number> *apply = &laplace::apply_pointwise_reference<Number>,
    const Numbers *b = nullptr, const Numbers *old = nullptr)
{
  const CellBasis basis = make_cell_basis(s.degree);
  const std::vector<laplace::BlockLink> links = links_of(s);
  const PointwiseMetric metric(s.geometry, s.level, basis, s.data(), links);
  const laplace::PointTables tables = make_point_tables(basis);
  const Block block = s.level.cells(s.geometry, s.degree);
  using C = Compute<Number>;
  Vector<Number> src(block), dst(block), right(block);
  std::fill_n(dst.data(), dst.size(), Number(C(NAN)));
  Array<C> traces(laplace::trace_size(block));
  std::fill(traces.begin(), traces.end(), C(NAN));
  const auto numbers_of = [](const double *from, std::int64_t size) {
    return std::vector<C>(from, from + size);
  };
  const std::vector<C> volume = numbers_of(metric.view().volume, laplace::volume_size(block)),
                       face = numbers_of(metric.view().face, laplace::face_size(block)),
                       reaction = s.reaction
      ? numbers_of(metric.view().reaction, laplace::reaction_size(block))
      : std::vector<C>();
  for_modes(s, [&](std::int64_t in_block, std::size_t at) {
    src[in_block] = Number(static_cast<C>(u[at]));
    if (b != nullptr)
      right[in_block] = Number(static_cast<C>((*b)[at]));
  });
  Array<C> inverse_diagonal(block.size());
  if (old != nullptr)
  {
    std::fill_n(dst.data(), dst.size(), Number(C(0)));
    for_modes(s, [&](std::int64_t in_block, std::size_t at) {
      dst[in_block] = Number(static_cast<C>((*old)[at]));
      inverse_diagonal[in_block] = C(1) / static_cast<C>(20 + at % 7);
    });
  }
  laplace::PointwiseArguments<Number> a;
  a.block = block;
  a.per_direction = s.level.per_direction;
  a.basis = &basis;
  a.tables = &tables;
  a.links = links.data();
  a.numbers = {volume.data(), face.data(), s.reaction ? reaction.data() : nullptr};
  a.traces = traces.data();
  a.b = b != nullptr ? right.data() : nullptr;
  if (old != nullptr)
  {
    a.old = dst.data();
    a.inverse_diagonal = inverse_diagonal.data();
    a.theta = C(0.3);
    a.alpha = C(0.7);
  }
  a.src = src.data();
  a.dst = dst.data();
  apply(a);
  Numbers result(u.size());
  for_modes(s,
      [&](std::int64_t in_block, std::size_t at) { result[at] = static_cast<C>(dst[in_block]); });
  EXPECT_TRUE(padding_is_zero(dst));
  return result;
}

inline Numbers random_numbers(const Setting &s, unsigned seed)
{
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1., 1.);
  Numbers u(static_cast<std::size_t>(s.level.cells(s.geometry, s.degree).dofs()));
  for (double &number : u)
    number = uniform(generator);
  return u;
}

inline double relative_difference(const Numbers &a, const Numbers &b)
{
  double difference = 0., largest = 0.;
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    const double error = std::abs(a[i] - b[i]);
    difference = error <= difference ? difference : error; // NaN counts
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}
inline double dot(const Numbers &a, const Numbers &b)
{
  double sum = 0.;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

inline SymmetricTensor tensor(std::int64_t block, const Point &x)
{
  const double factor = 1. + 0.5 * std::sin(x[0] + 2. * x[1] - x[2]) + 0.25 * double(block % 3);
  return {2. * factor, 1.5 * factor, 3. * factor, 0.5 * factor, -0.25 * factor, 0.75 * factor};
}

inline Setting generated(int dim, const std::string &name, const std::string &arguments, int degree,
    std::int64_t per_direction)
{
  NamedMesh mesh = generate_mesh(dim, name, arguments, 6);
  return {mesh.blocks, mesh.geometry, {per_direction, degree}, degree, tensor};
}
} // namespace tensormg::test
