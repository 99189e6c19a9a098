#include "operators/pointwise/metric.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "operators/data/tensor_rule.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;
  using Matrix = std::array<std::array<double, 3>, 3>;

  double determinant(const Matrix &m)
  {
    double det = 0.;
    for (int i = 0; i < 3; ++i)
      det +=
          m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
    return det;
  }
  Matrix inverse(const Matrix &m, double det)
  {
    Matrix result{};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        result[j][i] = (m[(i + 1) % 3][(j + 1) % 3] * m[(i + 2) % 3][(j + 2) % 3] -
                           m[(i + 1) % 3][(j + 2) % 3] * m[(i + 2) % 3][(j + 1) % 3]) /
            det;
    return result;
  }

  /// The largest eigenvalue of D^-1/2 G D^-1/2: of a matrix with ones on the diagonal.
  double kappa_of(const Matrix &g, int dim)
  {
    const auto off = [&](int a, int b) { return g[a][b] / std::sqrt(g[a][a] * g[b][b]); };
    if (dim == 2)
      return 1. + std::abs(off(0, 1));
    const double x = off(0, 1), y = off(0, 2), z = off(1, 2), sum = x * x + y * y + z * z;
    if (sum == 0.)
      return 1.;
    const double radius = std::sqrt(sum / 3.);
    const double angle = std::acos(std::clamp(x * y * z / (radius * radius * radius), -1., 1.));
    return 1. + 2. * radius * std::cos(angle / 3.);
  }

  /// The Lagrange polynomials of a cell's nodes at points of a line.
  struct LinePoints
  {
    LinePoints(const std::vector<double> &nodes, const std::vector<double> &points)
      : value(lagrange_values(nodes, points))
      , derivative(lagrange_derivatives(nodes, points))
    {}
    std::vector<double> value, derivative;
  };

  /// Position, J and G at tensor products of reference points of a cell from its nodes.
  class CellMap
  {
  public:
    CellMap(int dim, std::size_t nodes)
      : dim_(dim)
      , nodes_(nodes)
    {}

    struct Here
    {
      Point x{};
      double det = 0.;
      Matrix g{};
    };
    /// x fastest.
    std::vector<Here> at(const std::vector<Point> &cell,
        const std::array<const LinePoints *, 3> &lines, const DiffusionTensor &k,
        std::int64_t block) const
    {
      std::array<std::vector<Point>, 4> of_points; // the derivatives, and the positions
      for (int e = 0; e <= dim_; ++e)
      {
        std::vector<Point> now = cell;
        std::size_t stride = 1;
        for (int d = 0; d < dim_; ++d)
        {
          const std::vector<double> &matrix = d == e ? lines[d]->derivative : lines[d]->value;
          now = contracted(now, matrix, stride, nodes_);
          stride *= matrix.size() / nodes_;
        }
        of_points[e] = std::move(now);
      }
      std::vector<Here> result(of_points[dim_].size());
      for (std::size_t q = 0; q < result.size(); ++q)
      {
        Here &here = result[q];
        here.x = of_points[dim_][q];
        Matrix j{}; // j[i][a] = dx_i / dxi_a
        for (int a = 0; a < dim_; ++a)
          for (int i = 0; i < dim_; ++i)
            j[i][a] = of_points[a][q][i];
        if (dim_ == 2)
          j[2][2] = 1.;
        here.det = determinant(j);
        if (!(here.det > 0.))
          throw MeshError("a cell of block " + std::to_string(block) + " is folded at " +
              point_text(here.x, dim_) + ": det J is " + std::to_string(here.det));
        set_metric(here, inverse(j, here.det), k(block, here.x));
      }
      return result;
    }

  private:
    void set_metric(Here &here, const Matrix &inverse_j, const SymmetricTensor &t) const
    {
      const Matrix k{{{t[0], t[3], t[4]}, {t[3], t[1], t[5]}, {t[4], t[5], t[2]}}};
      for (int a = 0; a < dim_; ++a)
        for (int b = 0; b < dim_; ++b)
          for (int i = 0; i < dim_; ++i)
            for (int l = 0; l < dim_; ++l)
              here.g[a][b] += here.det * inverse_j[a][i] * k[i][l] * inverse_j[b][l];
      const double minor = k[0][0] * k[1][1] - k[0][1] * k[0][1];
      if (!(k[0][0] > 0. && minor > 0. && (dim_ == 2 || determinant(k) > 0.)))
        throw std::invalid_argument(
            "the diffusion tensor is not positive definite at " + point_text(here.x, dim_));
    }

    int dim_;
    std::size_t nodes_; ///< of a direction
  };
} // namespace

laplace::PointTables make_point_tables(const CellBasis &basis)
{
  const LineRule line = gauss_rule(basis, basis.n);
  laplace::PointTables tables;
  std::copy(line.values.begin(), line.values.end(), tables.value.begin());
  std::copy(line.derivatives.begin(), line.derivatives.end(), tables.derivative.begin());
  std::copy(line.weights.begin(), line.weights.end(), tables.weight.begin());
  return tables;
}

namespace
{
  /// Of the nodes of cell number i of a direction of a block.
  std::vector<double> node_coordinates(const BlockLevel &level, std::int64_t i)
  {
    std::vector<double> result;
    for (const double t : lobatto_nodes(level.mapping_degree))
      result.push_back((static_cast<double>(i) + t) / static_cast<double>(level.per_direction));
    return result;
  }
} // namespace

std::vector<Point> cell_nodes(const BlockGeometry &geometry, const BlockLevel &level,
    std::int64_t block, const std::array<std::int64_t, 3> &cell)
{
  std::array<std::vector<double>, 3> coordinates;
  for (int d = 0; d < geometry.dim(); ++d)
    coordinates[d] = node_coordinates(level, cell[d]);
  return geometry.points(block, coordinates);
}

namespace
{
  /// Writes the numbers of one cell after the other.
  class MetricWriter
  {
  public:
    MetricWriter(const BlockGeometry &geometry, const BlockLevel &level, const CellBasis &basis,
        const DiffusionTensor &k)
      : geometry_(geometry)
      , level_(level)
      , k_(k)
      , block_(level.cells(geometry, basis.n - 1))
      , dim_(block_.dim)
      , line_(gauss_rule(basis, basis.n))
      , map_(dim_, static_cast<std::size_t>(level.mapping_degree) + 1)
      , gauss_(lobatto_nodes(level.mapping_degree), line_.points)
      , ends_{LinePoints(lobatto_nodes(level.mapping_degree), {0.}),
            LinePoints(lobatto_nodes(level.mapping_degree), {1.})}
      , sigma_(basis.penalty)
    {
      end_weights_ = lagrange_values(line_.points, {1.});
      double sum = 0.;
      for (std::size_t q = 0; q < end_weights_.size(); ++q)
      {
        end_weights_[q] *= end_weights_[q] / line_.weights[q];
        sum += end_weights_[q];
      }
      for (double &weight : end_weights_)
        weight /= sum;
      for (std::int64_t i = 0; i < level.per_direction; ++i)
        matrices_.push_back(geometry.line_matrix(node_coordinates(level, i)));
    }

    const Block &block() const { return block_; }

    /// Returns kappa and the quotient of the smallest and the largest det J.
    std::array<double, 2> write(std::int64_t of_block, const std::array<std::int64_t, 3> &cell,
        std::vector<double> &volume, std::vector<double> &face) const
    {
      const std::vector<Point> nodes = geometry_.points(
          of_block, {&matrices_[cell[0]], &matrices_[cell[1]], &matrices_[cell[2]]});
      const std::int64_t row = cell[2] * block_.cells[1] + cell[1],
                         cx = of_block * level_.per_direction + cell[0];
      double kappa = 1., least = INFINITY, largest = 0.;
      const auto see = [&](const CellMap::Here &here) {
        kappa = std::max(kappa, kappa_of(here.g, dim_));
        least = std::min(least, here.det);
        largest = std::max(largest, here.det);
      };
      const int n = block_.n;
      const auto at_points = map_.at(nodes, {&gauss_, &gauss_, &gauss_}, k_, of_block);
      for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
      {
        const std::array<std::int64_t, 3> at{q % n, q / n % n, q / n / n};
        double weight = 1.;
        for (int d = 0; d < dim_; ++d)
          weight *= line_.weights[at[d]];
        const CellMap::Here &here = at_points[static_cast<std::size_t>(q)];
        see(here);
        for (int a = 0; a < dim_; ++a)
          for (int b = a; b < dim_; ++b)
            volume[laplace::volume_index(block_, row, q, laplace::volume_place(dim_, a, b), cx)] =
                weight * here.g[a][b];
      }
      std::array<std::vector<CellMap::Here>, 6> at_sides;
      for (int side = 0; side < 2 * dim_; ++side)
        at_sides[side] = write_side(nodes, of_block, side, {row, cx}, face, see);
      for (int side = 0; side < 2 * dim_; ++side)
        for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
        {
          const double g = at_sides[side][static_cast<std::size_t>(q)].g[side / 2][side / 2];
          face[laplace::face_index(block_, row, side, q, dim_, cx)] = 0.5 * sigma_ * kappa *
              std::max(g * mean_inverse(side, q, at_points), 1.) *
              face[laplace::face_index(block_, row, side, q, 0, cx)];
        }
      return {kappa, least / largest};
    }

  private:
    /// Of G_aa on the line of volume points that ends in point q of a side.
    double mean_inverse(int side, std::int64_t q, const std::vector<CellMap::Here> &at_points) const
    {
      const int d = side / 2;
      const auto [a, b] = tangential(d);
      const std::array<std::int64_t, 3> strides{1, block_.n, std::int64_t{block_.n} * block_.n};
      const std::int64_t first =
          q % block_.n * strides[a] + (b < dim_ ? q / block_.n * strides[b] : 0);
      double sum = 0.;
      for (int p = 0; p < block_.n; ++p)
        sum += end_weights_[side % 2 == 1 ? p : block_.n - 1 - p] /
            at_points[static_cast<std::size_t>(first + p * strides[d])].g[d][d];
      return sum;
    }

    std::vector<CellMap::Here> write_side(const std::vector<Point> &nodes, std::int64_t of_block,
        int side, const std::array<std::int64_t, 2> &row_and_x, std::vector<double> &face,
        const auto &see) const
    {
      const int d = side / 2, n = block_.n;
      const auto [a, b] = tangential(d);
      const auto [row, cx] = row_and_x;
      std::array<const LinePoints *, 3> lines{&gauss_, &gauss_, &gauss_};
      lines[d] = &ends_[side % 2];
      auto at_points = map_.at(nodes, lines, k_, of_block);
      for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
      {
        const double weight = line_.weights[q % n] * (b < dim_ ? line_.weights[q / n] : 1.);
        const CellMap::Here &here = at_points[static_cast<std::size_t>(q)];
        see(here);
        const std::array<double, 3> numbers{
            here.g[d][d], here.g[d][a], b < dim_ ? here.g[d][b] : 0.};
        for (int i = 0; i < dim_; ++i)
          face[laplace::face_index(block_, row, side, q, i, cx)] = weight * numbers[i];
      }
      return at_points;
    }

    const BlockGeometry &geometry_;
    const BlockLevel &level_;
    const DiffusionTensor &k_;
    Block block_;
    int dim_;
    LineRule line_;
    CellMap map_;
    LinePoints gauss_;
    std::array<LinePoints, 2> ends_;
    double sigma_;
    std::vector<double>
        end_weights_; ///< of volume points in the mean along a line to its upper end
    std::vector<std::vector<double>> matrices_; ///< by place of a cell in a direction of its block
  };
} // namespace

namespace
{
  /// Adds the penalty of the cell behind each side to that of the own cell.
  void add_penalties_behind(const Block &block, std::int64_t per_direction,
      const std::vector<laplace::BlockLink> &links, std::vector<double> &face)
  {
    const auto place = [&](const std::array<std::int64_t, 3> &cell, int side, std::int64_t q) {
      return laplace::face_index(
          block, cell[2] * block.cells[1] + cell[1], side, q, block.dim, cell[0]);
    };
    std::vector<double> sums;
    const auto for_points = [&](const auto &use) {
      for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
            for (int side = 0; side < 2 * block.dim; ++side)
              for (std::int64_t q = 0; q < laplace::points_of_face(block); ++q)
                use(std::array<std::int64_t, 3>{cx, cy, cz}, side, q);
    };
    for_points([&](const auto &cell, int side, std::int64_t q) {
      const auto behind = laplace::point_behind(
          block, per_direction, links.data(), cell, side, q % block.n, q / block.n);
      const double own = face[place(cell, side, q)];
      sums.push_back(own +
          (behind.kind == Side::ghost
                  ? face[place(behind.cell, behind.side, behind.a + block.n * behind.b)]
                  : own));
    });
    std::size_t next = 0;
    for_points([&](const auto &cell, int side, std::int64_t q) {
      face[place(cell, side, q)] = sums[next++];
    });
  }
} // namespace

PointwiseMetric::PointwiseMetric(const BlockGeometry &geometry, const BlockLevel &level,
    const CellBasis &basis, const DiffusionTensor &k, const std::vector<laplace::BlockLink> &links)
{
  const MetricWriter writer(geometry, level, basis, k);
  const Block &block = writer.block();
  volume_.assign(static_cast<std::size_t>(laplace::volume_size(block)), 0.);
  face_.assign(static_cast<std::size_t>(laplace::face_size(block)), 0.);
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
      {
        const auto [kappa, quality] = writer.write(
            cx / level.per_direction, {cx % level.per_direction, cy, cz}, volume_, face_);
        largest_kappa_ = std::max(largest_kappa_, kappa);
        least_quality_ = std::min(least_quality_, quality);
      }
  add_penalties_behind(block, level.per_direction, links, face_);
}

void PointwiseMetric::scale(double factor)
{
  for (std::vector<double> *numbers : {&volume_, &face_})
    for (double &number : *numbers)
      number *= factor;
}
} // namespace tensormg
