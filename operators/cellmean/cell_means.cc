#include "operators/cellmean/cell_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

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

  template <typename Number>
  Matrix3 symmetric(int dim, const Number &number)
  {
    Matrix3 g{};
    for (int a = 0; a < dim; ++a)
      for (int b = 0; b < dim; ++b)
        g[a][b] = number(volume_place(dim, std::min(a, b), std::max(a, b)));
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
      for_stacked_cells(block_, [&](const Cell &cell) { write_volume(cell); });
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
    void write_volume(const Cell &cell)
    {
      const std::int64_t row = row_of(block_, cell);
      for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
      {
        for (int which = 0; which < laplace::volume_numbers(block_.dim); ++which)
          mean(cell, which) +=
              points_.volume[laplace::volume_index(block_, row, q, which, cell[0])];
        if (points_.reaction != nullptr)
          mean(cell, laplace::reaction_place(block_.dim)) +=
              points_.reaction[laplace::reaction_index(block_, row, q, cell[0])];
      }
    }

    double own_penalty(const Cell &cell, int side)
    {
      const Matrix3 g = symmetric(block_.dim, [&](int which) { return mean(cell, which); });
      return 0.5 * sigma_ * kappa_of(g, block_.dim) * g[side / 2][side / 2];
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
  Matrix3 inverse_factor(const Matrix3 &m, int dim)
  {
    Matrix3 l{}, inverse_l{};
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j <= i; ++j)
      {
        double sum = m[i][j];
        for (int k = 0; k < j; ++k)
          sum -= l[i][k] * l[j][k];
        l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
      }
    for (int j = 0; j < dim; ++j)
      for (int i = j; i < dim; ++i)
      {
        double sum = i == j ? 1. : 0.;
        for (int k = j; k < i; ++k)
          sum -= l[i][k] * inverse_l[k][j];
        inverse_l[i][j] = sum / l[i][i];
      }
    return inverse_l;
  }
  Matrix3 transformed(const Matrix3 &by, const Matrix3 &g, int dim)
  {
    Matrix3 result{};
    for (int a = 0; a < dim; ++a)
      for (int b = 0; b < dim; ++b)
        for (int i = 0; i < dim; ++i)
          for (int l = 0; l < dim; ++l)
            result[a][b] += by[a][i] * g[i][l] * by[b][l];
    return result;
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
      for_stacked_cells(block_, [&](const Cell &cell) {
        const std::int64_t row = row_of(block_, cell);
        const Matrix3 m =
            symmetric(block_.dim, [&](int which) { return mean(row, cell[0], which); });
        const Matrix3 by = inverse_factor(m, block_.dim);
        Extremes of_cell;
        for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
        {
          const Extremes at_point = extreme_eigenvalues(
              transformed(by, see_point(row, cell[0], q, m), block_.dim), block_.dim);
          of_cell.least = std::min(of_cell.least, at_point.least);
          of_cell.largest = std::max(of_cell.largest, at_point.largest);
        }
        result_.within = std::max(result_.within, of_cell.largest / std::max(of_cell.least, 0.));
        for (int side = 0; side < 2 * block_.dim; ++side)
          for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
            see_side(row, cell[0], side, q, m);
      });
      return result_;
    }

  private:
    double mean(std::int64_t row, std::int64_t cx, int which) const
    {
      return means_[cell_mean_index(block_, row, which, cx)];
    }
    void see(double number, double of_cell, double size)
    {
      if (number != of_cell)
        result_.deviation = std::max(result_.deviation, std::abs(number - of_cell) / size);
    }

    /// G there.
    Matrix3 see_point(std::int64_t row, std::int64_t cx, std::int64_t q, const Matrix3 &m)
    {
      const int n = block_.n, dim = block_.dim;
      double weight = weight_[q % n] * weight_[q / n % n];
      if (dim == 3)
        weight *= weight_[q / n / n];
      const Matrix3 g = symmetric(dim, [&](int which) {
        return points_.volume[laplace::volume_index(block_, row, q, which, cx)] / weight;
      });
      for (int a = 0; a < dim; ++a)
        for (int b = 0; b <= a; ++b)
          see(g[a][b], m[a][b], std::sqrt(m[a][a] * m[b][b]));
      if (points_.reaction != nullptr)
        see(points_.reaction[laplace::reaction_index(block_, row, q, cx)] / weight,
            mean(row, cx, laplace::reaction_place(dim)),
            mean(row, cx, laplace::reaction_place(dim)));
      return g;
    }
    void see_side(std::int64_t row, std::int64_t cx, int side, std::int64_t q, const Matrix3 &m)
    {
      const int n = block_.n, dim = block_.dim, d = side / 2;
      const double weight = weight_[q % n] * (dim == 3 ? weight_[q / n] : 1.);
      const auto number = [&](int which) {
        return points_.face[laplace::face_index(block_, row, side, q, which, cx)] / weight;
      };
      see(number(0), m[d][d], m[d][d]);
      for (int t = 0; t + 1 < dim; ++t)
      {
        const int b = tangential(d)[t];
        see(number(1 + t), m[d][b], std::sqrt(m[d][d] * m[b][b]));
      }
      const double penalty = mean(row, cx, laplace::penalty_place(dim, side));
      see(number(dim), penalty, penalty);
    }

    const Block &block_;
    const std::array<double, max_n> &weight_;
    const laplace::PointNumbers<double> &points_;
    const Array<double> &means_;
    MetricVariation result_;
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
