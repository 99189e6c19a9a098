#include "operators/pointwise/affine_cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/laplace/cellmean/cellmean.h"
#include "operators/division/side_exchange.h"
#include "operators/pointwise/cell_map.h"

namespace tensormg
{
namespace
{
  using Cell = std::array<std::int64_t, 3>;
  using Point = std::array<double, 3>;
  using laplace::cell_mean_index;

  /// x = first + J xi, of a block from its corner 0.
  struct AffineMap
  {
    int dim;
    Point first{};
    Matrix3 j{}; ///< [i][a] = dx_i / dxi_a; in 2D with one at [2][2]
    double det = 0.;
    Matrix3 inverse_j{};

    /// By the corners.
    AffineMap(int dim_, const std::vector<Point> &corners)
      : dim(dim_)
      , first(corners.front())
    {
      for (int a = 0; a < dim; ++a)
        for (int i = 0; i < dim; ++i)
          j[i][a] = corners[std::size_t{1} << a][i] - first[i];
      if (dim == 2)
        j[2][2] = 1.;
      det = determinant(j);
      inverse_j = inverse(j, det);
    }

    Point at(const Point &xi) const
    {
      Point x = first;
      for (int i = 0; i < dim; ++i)
        for (int a = 0; a < dim; ++a)
          x[i] += j[i][a] * xi[a];
      return x;
    }
    /// The distance of a point from at(xi), in reference coordinates.
    double distance(const Point &x, const Point &xi) const
    {
      const Point expected = at(xi);
      double largest = 0.;
      for (int a = 0; a < dim; ++a)
      {
        double of_direction = 0.;
        for (int i = 0; i < dim; ++i)
          of_direction += inverse_j[a][i] * (x[i] - expected[i]);
        largest = std::max(largest, std::abs(of_direction));
      }
      return largest;
    }
    /// Of a cell, of so many in a direction, in the middle of the block.
    CellPoints of_cells(std::int64_t per_direction) const
    {
      const auto n = static_cast<double>(per_direction);
      CellPoints result{{at({0.5, 0.5, 0.5})}, {det / std::pow(n, dim)}, {inverse_j}};
      for (int a = 0; a < dim; ++a)
        for (int i = 0; i < dim; ++i)
          result.inverse_j[0][a][i] *= n;
      return result;
    }
  };

  /// Points of blocks at the tensor product of places of a line.
  class BlockLattice
  {
  public:
    BlockLattice(const BlockGeometry &geometry, const std::vector<double> &line)
      : geometry_(geometry)
      , matrix_(geometry.line_matrix(line))
    {}
    std::vector<Point> of(std::int64_t block) const
    {
      return geometry_.points(block, {&matrix_, &matrix_, &matrix_});
    }

  private:
    const BlockGeometry &geometry_;
    std::vector<double> matrix_;
  };
  class AffineWriter
  {
  public:
    AffineWriter(const BlockGeometry &geometry, const BlockLevel &level, const CellBasis &basis,
        const PointwiseData &data, const std::vector<laplace::BlockLink> &links)
      : geometry_(geometry)
      , level_(level)
      , basis_(basis)
      , data_(data)
      , links_(links)
      , block_(level.cells(geometry, basis.n - 1))
      , cells_(block_.dim, 0, block_.cells)
      , dim_(block_.dim)
      , corners_(geometry, {0., 1.})
    {
      if (!data.k.is_constant_in_blocks()) // the mean of cells
        for (int s = 0; s < data.means_of_k.samples; ++s)
          samples_.push_back((s + 0.5) / data.means_of_k.samples);
    }

    PointwiseMetric run(const SharedSides &shared)
    {
      act_alike(shared.communicator, [&] {
        means_ = Array<double>(laplace::cell_mean_size(block_));
        of_cells_.resize(static_cast<std::size_t>(block_.n_cells()));
        for (std::int64_t b = level_.first; b < level_.end(geometry_); ++b)
          write_block(b);
      });
      SideExchange<double> exchange(shared, dim_, level_.per_direction, 1, 1);
      exchange.run(
          [&](const Cell &cell, int side, std::int64_t, int) { return own_penalty(cell, side); });
      for_stacked_cells(block_, [&](const Cell &cell) {
        for (int side = 0; side < 2 * dim_; ++side)
          write_penalty(cell, side, exchange.received());
      });
      return {block_, basis_, std::move(means_), std::move(of_cells_)};
    }

  private:
    double &mean(const Cell &cell, int number)
    {
      return means_[cell_mean_index(block_, cell[2] * block_.cells[1] + cell[1], number, cell[0])];
    }
    std::size_t number_of(const Cell &cell) const
    {
      return static_cast<std::size_t>(
          (cell[2] * block_.cells[1] + cell[1]) * block_.cells[0] + cell[0]);
    }

    void write_block(std::int64_t b)
    {
      const AffineMap map(dim_, corners_.of(b));
      const CellPoints points = map.of_cells(level_.per_direction);
      Matrix3 g{};
      if (samples_.empty())
        g = metric_with(data_.k(b, points.x).front(), b, points);
      double reaction = 0.;
      if (data_.reaction)
      {
        reaction = data_.reaction(b, -1, points.x).front();
        check_number(reaction, CoefficientError::Of::reaction, points.x[0], dim_);
      }
      for_stacked_cells(level_.cells_of_block(geometry_), [&](const Cell &inside) {
        if (!samples_.empty())
          g = metric_with(mean_of_k(map, b, inside), b, points);
        const Cell cell{level_.stacked(b, inside[0]), inside[1], inside[2]};
        for (int a = 0; a < dim_; ++a)
          for (int c = a; c < dim_; ++c)
            mean(cell, laplace::volume_place(dim_, a, c)) = g[a][c];
        mean(cell, laplace::reaction_place(dim_)) = points.det[0] * reaction;
        of_cells_[number_of(cell)] = {kappa_of(g, dim_), 1.};
      });
      for (int side = 0; side < 2 * dim_; ++side)
        write_robin(b, side, map, points);
    }

    Matrix3 metric_with(const SymmetricTensor &k, std::int64_t b, const CellPoints &points) const
    {
      check_positive(k, b, points.x[0], dim_);
      return metric_of(points.det[0], points.inverse_j[0], k, dim_);
    }

    SymmetricTensor mean_of_k(const AffineMap &map, std::int64_t b, const Cell &cell) const
    {
      const std::size_t n = samples_.size();
      std::vector<Point> x;
      for (std::size_t at = 0; at < (dim_ == 3 ? n * n * n : n * n); ++at)
      {
        const std::array<std::size_t, 3> sample{at % n, at / n % n, at / n / n};
        Point xi{};
        for (int d = 0; d < dim_; ++d)
          xi[d] = (static_cast<double>(cell[d]) + samples_[sample[d]]) /
              static_cast<double>(level_.per_direction);
        x.push_back(map.at(xi));
      }
      SymmetricTensor mean{};
      for (const SymmetricTensor &k :
          data_.k(b, x, {cell, level_.per_direction, -1, &samples_, level_.count < 0}))
        for (std::size_t i = 0; i < mean.size(); ++i)
          mean[i] += k[i] / static_cast<double>(x.size());
      return mean;
    }

    /// r times the element of the surface, on a side of a block that is Side::neumann.
    void write_robin(std::int64_t b, int side, const AffineMap &map, const CellPoints &points)
    {
      const laplace::BlockLink &link =
          links_[static_cast<std::size_t>((b - level_.first) * 2 * dim_ + side)];
      if (link.kind != Side::neumann || !data_.robin)
        return;
      Point middle{0.5, 0.5, 0.5};
      middle[side / 2] = side % 2;
      const Point x = map.at(middle);
      const double r = data_.robin(b, link.boundary, {x}).front();
      check_number(r, CoefficientError::Of::robin, x, dim_, link.boundary);
      const std::int64_t end = side % 2 == 1 ? level_.per_direction - 1 : 0;
      for_stacked_cells(level_.cells_of_block(geometry_), [&](const Cell &inside) {
        if (inside[side / 2] == end)
          mean({level_.stacked(b, inside[0]), inside[1], inside[2]},
              laplace::penalty_place(dim_, side)) = r * points.surface(0, side / 2);
      });
    }

    double own_penalty(const Cell &cell, int side)
    {
      return 0.5 * basis_.penalty * of_cells_[number_of(cell)].kappa * mean(cell, side / 2);
    }
    void write_penalty(const Cell &cell, int side, const double *received)
    {
      const auto behind =
          laplace::point_behind(cells_, level_.per_direction, links_.data(), cell, side, 0, 0);
      if (behind.kind == Side::neumann)
        return;
      const double own = own_penalty(cell, side);
      mean(cell, laplace::penalty_place(dim_, side)) = own +
          (behind.remote >= 0                  ? received[behind.remote]
                  : behind.kind == Side::ghost ? own_penalty(behind.cell, behind.side)
                                               : own);
    }

    const BlockGeometry &geometry_;
    const BlockLevel &level_;
    const CellBasis &basis_;
    const PointwiseData &data_;
    const std::vector<laplace::BlockLink> &links_;
    Block block_;
    Block cells_; ///< with one point each
    int dim_;
    BlockLattice corners_;
    std::vector<double>
        samples_; ///< of K, in a direction of a cell; empty: it is that of the block
    Array<double> means_;
    std::vector<PointwiseMetric::CellQuality> of_cells_;
  };
} // namespace

bool are_affine(const BlockGeometry &geometry)
{
  constexpr double rounding = 1e-12;
  if (!geometry.is_polynomial())
    return false;
  const std::vector<double> line = lobatto_nodes(geometry.degree());
  const std::size_t n = line.size();
  const BlockLattice corners(geometry, {0., 1.}), nodes(geometry, line);
  for (std::int64_t block = 0; block < geometry.n_blocks(); ++block)
  {
    const AffineMap map(geometry.dim(), corners.of(block));
    if (!(map.det > 0.))
      return false;
    const std::vector<Point> points = nodes.of(block);
    for (std::size_t at = 0; at < points.size(); ++at)
      if (!(map.distance(points[at], {line[at % n], line[at / n % n], line[at / n / n]}) <=
              rounding))
        return false;
  }
  return true;
}

bool is_constant_in_cells(const PointwiseData &data, std::int64_t per_direction)
{
  const bool has_one_k =
      data.k.is_constant_in_blocks() || data.means_of_k.per_direction == per_direction;
  return has_one_k && (data.has_numbers_of_blocks || (!data.reaction && !data.robin)) &&
      data.averages == FaceAverage::arithmetic;
}

PointwiseMetric affine_metric(const BlockGeometry &geometry, const BlockLevel &level,
    const CellBasis &basis, const PointwiseData &data, const std::vector<laplace::BlockLink> &links,
    const SharedSides *shared)
{
  const SharedSides alone;
  return AffineWriter(geometry, level, basis, data, links).run(shared != nullptr ? *shared : alone);
}

Vector<double> cell_mean_diagonal(const Block &block, std::int64_t per_direction,
    const CellBasis &basis, const std::vector<laplace::BlockLink> &links, const double *means)
{
  Vector<double> result(block);
  const Block cells(block.dim, 0, block.cells); // with one point
  for_stacked_cells(block, [&](const Cell &cell) {
    const auto mean = [&](int number) {
      return means[cell_mean_index(block, cell[2] * block.cells[1] + cell[1], number, cell[0])];
    };
    std::array<std::array<double, max_n>, 3> lines{};
    for (int side = 0; side < 2 * block.dim; ++side)
    {
      const Side kind =
          laplace::point_behind(cells, per_direction, links.data(), cell, side, 0, 0).kind;
      const double g = mean(side / 2),
                   of_penalty = (kind == Side::dirichlet ? 2. : 1.) *
          mean(laplace::penalty_place(block.dim, side)),
                   of_flux = kind == Side::dirichlet ? 2.
          : kind == Side::neumann                    ? 0.
                                                     : 1.;
      for (int i = 0; i < block.n; ++i)
        lines[side / 2][i] += 0.5 * g * basis.lambda[i] +
            (of_penalty - basis.penalty * g) * basis.v[i] * basis.v[i] -
            2. * (of_flux - 1.) * g * basis.v[i] * basis.h[i];
    }
    const double reaction = mean(laplace::reaction_place(block.dim));
    for (int k = 0; k < block.nz(); ++k)
      for (int j = 0; j < block.n; ++j)
        for (int i = 0; i < block.n; ++i)
          result[block.index(cell[0], cell[1], cell[2], i, j, k)] =
              lines[0][i] + lines[1][j] + lines[2][k] + reaction;
  });
  return result;
}
} // namespace tensormg
