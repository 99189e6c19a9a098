// Operators with one metric per cell for tests: blocks joined with every orientation, and A u by a function of cellmean.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellmean/cell_means.h"
#include "operators/vectors/vector.h"
#include "tests/support/random_vector.h"

namespace tensormg::test
{
/// Blocks joined at random, every third side closed, with a metric that is random in each cell and the same at all its points.
class Joined
{
public:
  Joined(int dim, int degree, std::int64_t per_direction, int n_blocks, unsigned seed)
    : block(dim, degree, {n_blocks * per_direction, per_direction, dim == 3 ? per_direction : 1})
    , per_direction_(per_direction)
    , basis(make_cell_basis(degree))
    , tables(make_point_tables(basis))
    , random_(seed)
  {
    join(n_blocks);
    make_metric();
    means = cell_means(block, per_direction_, basis, links, points());
    spread_penalties();
  }
  /// Both sides are of block 0, or of blocks 0 and 1.
  Joined(int dim, int degree, std::int64_t per_direction, std::array<int, 2> sides, FaceMap map)
    : Joined(dim, degree, per_direction, 2, 1)
  {
    for (laplace::BlockLink &link : links)
      link = {};
    link(0, sides[0], 1, sides[1], map);
    make_metric();
    means = cell_means(block, per_direction_, basis, links, points());
    spread_penalties();
  }

  laplace::PointNumbers<double> points() const
  {
    return {volume_.data(), face_.data(), reaction_.data()};
  }

  Block block;

private:
  double uniform(double least, double most)
  {
    return std::uniform_real_distribution<double>(least, most)(random_);
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  void link(int block_a, int side_a, int block_b, int side_b, FaceMap map)
  {
    const int sides = 2 * block.dim;
    links[static_cast<std::size_t>(block_a * sides + side_a)] = {
        Side::ghost, block_b, side_b, map, 0};
    links[static_cast<std::size_t>(block_b * sides + side_b)] = {
        Side::ghost, block_a, side_a, map.inverse(), 0};
  }
  /// Every third side is closed.
  void join(int n_blocks)
  {
    std::vector<std::array<int, 2>> sides;
    for (int b = 0; b < n_blocks; ++b)
      for (int side = 0; side < 2 * block.dim; ++side)
        sides.push_back({b, side});
    std::shuffle(sides.begin(), sides.end(), random_);
    links.resize(sides.size());
    for (std::size_t i = 0; i < sides.size(); ++i)
      links[i].kind = i % 2 == 0 ? Side::dirichlet : Side::neumann;
    for (std::size_t i = 0; i + 1 < sides.size() * 2 / 3; i += 2)
      link(sides[i][0], sides[i][1], sides[i + 1][0], sides[i + 1][1],
          face_map(below(n_face_maps(block.dim))));
  }

  /// The same at all points of a cell.
  void make_metric()
  {
    volume_.assign(static_cast<std::size_t>(laplace::volume_size(block)), 0.);
    face_.assign(static_cast<std::size_t>(laplace::face_size(block)), 0.);
    reaction_.assign(static_cast<std::size_t>(laplace::reaction_size(block)), 0.);
    for_stacked_cells(block, [&](const auto &cell) {
      const std::int64_t row = cell[2] * block.cells[1] + cell[1];
      std::array<double, 6> g{};
      for (int a = 0; a < block.dim; ++a)
        g[a] = uniform(0.5, 2.);
      for (int a = 0; a < block.dim; ++a)
        for (int b = 0; b < a; ++b)
          g[laplace::volume_place(block.dim, b, a)] = uniform(-0.2, 0.2);
      const double c = uniform(0., 3.), robin = uniform(0., 3.);
      for_points(true, [&](std::int64_t q, double weight) {
        for (int which = 0; which < laplace::volume_numbers(block.dim); ++which)
          volume_[laplace::volume_index(block, row, q, which, cell[0])] = weight * g[which];
        reaction_[laplace::reaction_index(block, row, q, cell[0])] = weight * c;
      });
      for (int side = 0; side < 2 * block.dim; ++side)
        for_points(false, [&](std::int64_t q, double weight) {
          const auto put = [&](int which, double number) {
            face_[laplace::face_index(block, row, side, q, which, cell[0])] = weight * number;
          };
          put(0, g[side / 2]);
          for (int t = 0; t + 1 < block.dim; ++t)
          {
            const int b = tangential(side / 2)[t];
            put(1 + t,
                g[laplace::volume_place(block.dim, std::min(side / 2, b), std::max(side / 2, b))]);
          }
          put(block.dim, robin);
        });
    });
  }
  void spread_penalties()
  {
    for_stacked_cells(block, [&](const auto &cell) {
      const std::int64_t row = cell[2] * block.cells[1] + cell[1];
      for (int side = 0; side < 2 * block.dim; ++side)
        for_points(false, [&](std::int64_t q, double weight) {
          face_[laplace::face_index(block, row, side, q, block.dim, cell[0])] = weight *
              means[laplace::cell_mean_index(
                  block, row, laplace::penalty_place(block.dim, side), cell[0])];
        });
    });
  }
  template <typename Use>
  void for_points(bool is_volume, const Use &use) const
  {
    const int n = block.n, dim = is_volume ? block.dim : block.dim - 1;
    const std::int64_t size =
        is_volume ? laplace::points_of_cell(block) : laplace::points_of_face(block);
    for (std::int64_t q = 0; q < size; ++q)
    {
      double weight = tables.weight[q % n];
      if (dim > 1)
        weight *= tables.weight[q / n % n];
      if (dim > 2)
        weight *= tables.weight[q / n / n];
      use(q, weight);
    }
  }

  std::int64_t per_direction_;

public:
  CellBasis basis;
  laplace::PointTables tables;
  std::vector<laplace::BlockLink> links;
  Array<double> means;

  /// With b b - A u, with old the step that overwrites it.
  template <typename Number>
  Vector<Number> applied(laplace::ApplyCellMean<Number> *apply, const Vector<Number> &u,
      const Vector<Number> *b = nullptr, const Vector<Number> *old = nullptr) const
  {
    using C = Compute<Number>;
    Vector<Number> dst(block);
    if (old != nullptr)
      std::copy_n(old->data(), old->size(), dst.data());
    else
      std::fill_n(dst.data(), dst.size(), Number(C(NAN)));
    Array<C> numbers(means.size()), diagonal(block.size()),
        traces(laplace::border_size(block, per_direction_));
    std::copy(means.begin(), means.end(), numbers.begin());
    std::fill(traces.begin(), traces.end(), C(NAN));
    for (std::int64_t at = 0; at < block.size(); ++at)
      diagonal[at] = C(1) / C(20 + at % 7);
    laplace::CellMeanArguments<Number> a;
    a.block = block;
    a.per_direction = per_direction_;
    a.basis = &basis;
    a.links = links.data();
    a.numbers = numbers.data();
    a.traces = traces.data();
    a.src = u.data();
    a.dst = dst.data();
    a.b = b != nullptr ? b->data() : nullptr;
    if (old != nullptr)
    {
      a.old = dst.data();
      a.inverse_diagonal = diagonal.data();
      a.theta = C(0.3);
      a.alpha = C(0.7);
    }
    apply(a);
    EXPECT_TRUE(padding_is_zero(dst));
    return dst;
  }
  Vector<double> at_points(const Vector<double> &u) const
  {
    Vector<double> dst(block);
    laplace::PointwiseArguments<double> a;
    a.block = block;
    a.per_direction = per_direction_;
    a.basis = &basis;
    a.tables = &tables;
    a.links = links.data();
    a.numbers = points();
    a.src = u.data();
    a.dst = dst.data();
    laplace::apply_pointwise_reference(a);
    return dst;
  }

private:
  std::vector<double> volume_, face_, reaction_;
  std::mt19937 random_;
};

/// max |a - b| / max |b|
template <typename Number>
double difference(const Vector<Number> &a, const Vector<Number> &b)
{
  using C = Compute<Number>;
  double most = 0., largest = 0.;
  for (std::int64_t at = 0; at < a.size(); ++at)
  {
    const double error = std::abs(double(static_cast<C>(a[at])) - double(static_cast<C>(b[at])));
    most = error <= most ? most : error; // NaN counts
    largest = std::max(largest, std::abs(double(static_cast<C>(b[at]))));
  }
  return most / largest;
}
template <typename Number = double>
Vector<Number> random_numbers(const Block &block, unsigned seed)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1.f, 1.f);
  Vector<Number> result(block);
  for_stacked_cells(block, [&](const auto &cell) {
    for (int k = 0; k < block.nz(); ++k)
      for (int j = 0; j < block.n; ++j)
        for (int i = 0; i < block.n; ++i)
          result[block.index(cell[0], cell[1], cell[2], i, j, k)] =
              Number(static_cast<Compute<Number>>(uniform(random)));
  });
  return result;
}
} // namespace tensormg::test
