#include "operators/cellmean/cell_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kernels/laplace/pointwise/lanes.h"
#include "operators/division/side_exchange.h"

namespace tensormg
{
namespace
{
  using Cell = std::array<std::int64_t, 3>;
  using laplace::cell_mean_index;
  using laplace::volume_place;

  std::int64_t row_of(const Block &block, const Cell &cell)
  {
    return cell[2] * block.cells[1] + cell[1];
  }

  /// Of number(place).
  template <typename Number>
  auto symmetric(int dim, const Number &number)
  {
    Matrix3Of<decltype(number(0))> g{};
    for (int a = 0; a < dim; ++a)
      for (int b = a; b < dim; ++b)
        g[a][b] = g[b][a] = number(volume_place(dim, a, b));
    return g;
  }

  class MeanWriter
  {
  public:
    MeanWriter(const Block &block, std::int64_t per_direction, double sigma,
        const std::vector<laplace::BlockLink> &links, const laplace::PointNumbers<double> &points)
      : block_(block)
      , cells_(block.dim, 0, block.cells)
      , per_direction_(per_direction)
      , sigma_(sigma)
      , links_(links)
      , points_(points)
      , means_(laplace::cell_mean_size(block))
    {}

    Array<double> run(const SharedSides &shared)
    {
      for_lanes(block_, [&](const CellsInLanes &cells) { write_volume(cells); });
      SideExchange<double> exchange(shared, block_.dim, per_direction_, 1, 1);
      exchange.run(
          [&](const Cell &cell, int side, std::int64_t, int) { return own_penalty(cell, side); });
      for_stacked_cells(block_, [&](const Cell &cell) {
        for (int side = 0; side < 2 * block_.dim; ++side)
          mean(cell, laplace::penalty_place(block_.dim, side)) =
              penalty(cell, side, exchange.received());
      });
      return std::move(means_);
    }

  private:
    double &mean(const Cell &cell, int which)
    {
      return means_[cell_mean_index(block_, row_of(block_, cell), which, cell[0])];
    }

    /// Numbers of points come times their weights.
    void write_volume(const CellsInLanes &cells)
    {
      const std::int64_t row = row_of(block_, cells.first), cx = cells.first[0];
      const int count = laplace::volume_numbers(block_.dim);
      std::array<Lanes, 7> sums{};
      for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
      {
        for (int which = 0; which < count; ++which)
          sums[which] +=
              load_lanes(&points_.volume[laplace::volume_index(block_, row, q, which, cx)]);
        if (points_.reaction != nullptr)
          sums[count] += load_lanes(&points_.reaction[laplace::reaction_index(block_, row, q, cx)]);
      }
      for (int which = 0; which < count; ++which)
        simd::store<n_lanes>(&mean(cells.first, which), sums[which]);
      simd::store<n_lanes>(&mean(cells.first, laplace::reaction_place(block_.dim)), sums[count]);
      for (int l = 0; l < cells.count; ++l)
        kappa_.push_back(
            kappa_of(symmetric(block_.dim, [&](int which) { return sums[which][l]; }), block_.dim));
    }

    double own_penalty(const Cell &cell, int side)
    {
      const auto at = static_cast<std::size_t>(row_of(block_, cell) * block_.cells[0] + cell[0]);
      return 0.5 * sigma_ * kappa_[at] * mean(cell, side / 2);
    }
    double penalty(const Cell &cell, int side, const double *received)
    {
      const auto behind =
          laplace::point_behind(cells_, per_direction_, links_.data(), cell, side, 0, 0);
      double of_points = 0.;
      for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
        of_points += points_.face[laplace::face_index(
            block_, row_of(block_, cell), side, q, block_.dim, cell[0])];
      if (behind.kind == Side::neumann)
        return of_points;
      const double other = behind.remote >= 0 ? received[behind.remote]
          : behind.kind == Side::ghost        ? own_penalty(behind.cell, behind.side)
                                              : own_penalty(cell, side);
      return std::max(of_points, own_penalty(cell, side) + other);
    }

    const Block &block_;
    Block cells_; ///< with one point
    std::int64_t per_direction_;
    double sigma_;
    const std::vector<laplace::BlockLink> &links_;
    const laplace::PointNumbers<double> &points_;
    Array<double> means_;
    std::vector<double> kappa_; ///< of cells, x fastest
  };

  struct Extremes
  {
    double least = INFINITY, largest = 0.;
  };
  /// Of the eigenvalues of a positive definite matrix.
  Extremes extreme_eigenvalues(const Matrix3 &m, int dim)
  {
    if (dim == 2)
    {
      const double mean = 0.5 * (m[0][0] + m[1][1]),
                   radius = std::hypot(0.5 * (m[0][0] - m[1][1]), m[0][1]);
      return {mean - radius, mean + radius};
    }
    const double mean = (m[0][0] + m[1][1] + m[2][2]) / 3.;
    double squares = 0.;
    Matrix3 rest = m;
    for (int a = 0; a < 3; ++a)
      rest[a][a] -= mean;
    for (const auto &row : rest)
      for (const double entry : row)
        squares += entry * entry;
    const double radius = std::sqrt(squares / 6.);
    if (!(radius > 0.))
      return {mean, mean};
    const double third =
        std::acos(std::clamp(determinant(rest) / (2. * radius * radius * radius), -1., 1.)) / 3.;
    return {mean + 2. * radius * std::cos(third + 2. * std::numbers::pi / 3.),
        mean + 2. * radius * std::cos(third)};
  }

  /// L^-1 with L L' = m.
  Matrix3Of<Lanes> inverse_factor(const Matrix3Of<Lanes> &m, int dim)
  {
    Matrix3Of<Lanes> l{}, inverse_l{};
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j <= i; ++j)
      {
        Lanes sum = m[i][j];
        for (int k = 0; k < j; ++k)
          sum -= l[i][k] * l[j][k];
        l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
      }
    for (int j = 0; j < dim; ++j)
      for (int i = j; i < dim; ++i)
      {
        Lanes sum = all_lanes(i == j ? 1. : 0.);
        for (int k = j; k < i; ++k)
          sum -= l[i][k] * inverse_l[k][j];
        inverse_l[i][j] = sum / l[i][i];
      }
    return inverse_l;
  }
  /// `by` is a lower triangle.
  Matrix3Of<Lanes> transformed(const Matrix3Of<Lanes> &by, const Matrix3Of<Lanes> &g, int dim)
  {
    Matrix3Of<Lanes> result{};
    for (int a = 0; a < dim; ++a)
    {
      std::array<Lanes, 3> row{};
      for (int l = 0; l < dim; ++l)
        for (int i = 0; i <= a; ++i)
          row[l] += by[a][i] * g[i][l];
      for (int b = 0; b <= a; ++b)
      {
        for (int l = 0; l <= b; ++l)
          result[a][b] += row[l] * by[b][l];
        result[b][a] = result[a][b];
      }
    }
    return result;
  }

  /// Of factor (m - shift), by its principal minors.
  auto is_positive_definite(const Matrix3Of<Lanes> &m, Lanes shift, double factor, int dim)
  {
    Matrix3Of<Lanes> rest = m;
    for (int a = 0; a < 3; ++a)
    {
      rest[a][a] -= shift;
      for (Lanes &entry : rest[a])
        entry *= factor;
    }
    if (dim == 2)
      rest[2] = {Lanes{}, Lanes{}, all_lanes(1.)};
    return (rest[0][0] > 0.) & (rest[0][0] * rest[1][1] > rest[0][1] * rest[0][1]) &
        (determinant(rest) > 0.);
  }

  class VariationReader
  {
  public:
    VariationReader(const Block &block, const laplace::PointTables &tables,
        const laplace::PointNumbers<double> &points, const Array<double> &means)
      : block_(block)
      , weight_(tables.weight)
      , points_(points)
      , means_(means)
    {}

    MetricVariation run()
    {
      double within = 1.;
      for_lanes(block_, [&](const CellsInLanes &cells) {
        set_cells(cells);
        least_ = all_lanes(INFINITY);
        largest_ = Lanes{};
        for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
          see_point(q);
        for (int side = 0; side < 2 * block_.dim; ++side)
          for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
            see_side(side, q);
        for (int l = 0; l < cells.count; ++l)
        {
          within = std::max(within, largest_[l] / std::max(least_[l], 0.));
          result_.deviation = std::max(result_.deviation, deviation_[l]);
        }
      });
      result_.within = within;
      return result_;
    }

  private:
    void set_cells(const CellsInLanes &cells)
    {
      cells_ = cells;
      row_ = row_of(block_, cells.first);
      m_ = symmetric(block_.dim, [&](int which) { return mean(which); });
      by_ = inverse_factor(m_, block_.dim);
      for (int a = 0; a < block_.dim; ++a)
        for (int b = 0; b < block_.dim; ++b)
          size_[a][b] = sqrt(m_[a][a] * m_[b][b]);
      deviation_ = Lanes{};
    }
    Lanes mean(int which) const
    {
      return load_lanes(&means_[cell_mean_index(block_, row_, which, cells_.first[0])]);
    }
    /// Nothing where zero is divided by zero.
    void see(Lanes number, Lanes of_cell, Lanes size)
    {
      const Lanes difference = number > of_cell ? number - of_cell : of_cell - number;
      deviation_ = max(difference / size, deviation_);
    }

    void see_point(std::int64_t q)
    {
      const int n = block_.n, dim = block_.dim;
      double weight = weight_[q % n] * weight_[q / n % n];
      if (dim == 3)
        weight *= weight_[q / n / n];
      const Matrix3Of<Lanes> g = symmetric(dim, [&](int which) {
        return load_lanes(
                   &points_
                        .volume[laplace::volume_index(block_, row_, q, which, cells_.first[0])]) /
            weight;
      });
      for (int a = 0; a < dim; ++a)
        for (int b = 0; b <= a; ++b)
          see(g[a][b], m_[a][b], size_[a][b]);
      if (points_.reaction != nullptr)
      {
        const Lanes of_cell = mean(laplace::reaction_place(dim));
        see(load_lanes(
                &points_.reaction[laplace::reaction_index(block_, row_, q, cells_.first[0])]) /
                weight,
            of_cell, of_cell);
      }
      see_eigenvalues(transformed(by_, g, dim));
    }
    /// Most points are between the extremes of others, as far as rounding goes.
    void see_eigenvalues(const Matrix3Of<Lanes> &g)
    {
      constexpr double rounding = 1e-12;
      const auto is_between = is_positive_definite(g, (1. - rounding) * least_, 1., block_.dim) &
          is_positive_definite(g, (1. + rounding) * largest_, -1., block_.dim);
      for (int l = 0; l < cells_.count; ++l)
        if (!is_between[l])
        {
          Matrix3 of_cell{};
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              of_cell[a][b] = g[a][b][l];
          const Extremes at_point = extreme_eigenvalues(of_cell, block_.dim);
          least_[l] = std::min(least_[l], at_point.least);
          largest_[l] = std::max(largest_[l], at_point.largest);
        }
    }

    void see_side(int side, std::int64_t q)
    {
      const int n = block_.n, dim = block_.dim, d = side / 2;
      const double weight = weight_[q % n] * (dim == 3 ? weight_[q / n] : 1.);
      const auto number = [&](int which) {
        return load_lanes(
                   &points_
                        .face[laplace::face_index(block_, row_, side, q, which, cells_.first[0])]) /
            weight;
      };
      see(number(0), m_[d][d], m_[d][d]);
      for (int t = 0; t + 1 < dim; ++t)
      {
        const int b = tangential(d)[t];
        see(number(1 + t), m_[d][b], size_[d][b]);
      }
      const Lanes penalty = mean(laplace::penalty_place(dim, side));
      see(number(dim), penalty, penalty);
    }

    const Block &block_;
    const std::array<double, max_n> &weight_;
    const laplace::PointNumbers<double> &points_;
    const Array<double> &means_;
    MetricVariation result_;
    // Of the cells that are being read.
    CellsInLanes cells_{};
    std::int64_t row_ = 0;
    Matrix3Of<Lanes> m_{}, by_{},
        size_{}; ///< mean of G, inverse_factor() of it, roots of the products of its diagonal
    Lanes least_{}, largest_{}, deviation_{};
  };
} // namespace

Array<double> cell_means(const Block &block, std::int64_t per_direction, const CellBasis &basis,
    const std::vector<laplace::BlockLink> &links, const laplace::PointNumbers<double> &points,
    const SharedSides *shared)
{
  const SharedSides alone;
  return MeanWriter(block, per_direction, basis.penalty, links, points)
      .run(shared != nullptr ? *shared : alone);
}

MetricVariation metric_variation(const Block &block, const laplace::PointTables &tables,
    const laplace::PointNumbers<double> &points, const Array<double> &means)
{
  return VariationReader(block, tables, points, means).run();
}

Array<double> cell_means(const BlockLevels::Level &level)
{
  return cell_means(level.grid.block, level.shape.per_direction, level.basis, *level.links,
      level.metric.view(), level.shared);
}

MetricVariation metric_variation(const BlockLevels::Level &level)
{
  const MetricVariation own =
      metric_variation(level.grid.block, level.tables, level.metric.view(), cell_means(level));
  std::array<double, 2> largest{own.within, own.deviation};
  MPI_Allreduce(MPI_IN_PLACE, largest.data(), 2, MPI_DOUBLE, MPI_MAX, level.grid.communicator);
  return {largest[0], largest[1]};
}
} // namespace tensormg
