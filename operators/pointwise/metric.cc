#include "operators/pointwise/metric.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "operators/data/tensor_rule.h"
#include "operators/division/side_exchange.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;
  bool is_positive(Matrix3 k, int dim)
  {
    const double unit = std::max({k[0][0], k[1][1], dim == 3 ? k[2][2] : 0.});
    for (auto &row : k)
      for (double &entry : row)
        entry /= unit; // products may leave the range of numbers
    if (dim == 2)
      k[2] = {0., 0., 1.};
    return unit > 0. && k[0][0] > 0. && k[0][0] * k[1][1] - k[0][1] * k[0][1] > 0. &&
        determinant(k) > 0.;
  }

  /// G at points of a cell with this K.
  std::vector<Matrix3> metric_at(
      const CellPoints &points, const std::vector<SymmetricTensor> &at_points, int dim)
  {
    std::vector<Matrix3> result(points.size(), Matrix3{});
    for (std::size_t q = 0; q < points.size(); ++q)
    {
      const SymmetricTensor &t = at_points[q];
      const Matrix3 k{{{t[0], t[3], t[4]}, {t[3], t[1], t[5]}, {t[4], t[5], t[2]}}};
      const Matrix3 &inverse_j = points.inverse_j[q];
      for (int a = 0; a < dim; ++a)
        for (int b = 0; b < dim; ++b)
          for (int i = 0; i < dim; ++i)
            for (int l = 0; l < dim; ++l)
              result[q][a][b] += points.det[q] * inverse_j[a][i] * k[i][l] * inverse_j[b][l];
      if (!is_positive(k, dim))
        throw CoefficientError(CoefficientError::Of::diffusion,
            "K is not positive definite at " + point_text(points.x[q], dim));
    }
    return result;
  }

  void check_number(
      double value, CoefficientError::Of of, const Point &x, int dim, int boundary = -1)
  {
    if (!(value >= 0.))
      throw CoefficientError(of,
          std::string(
              of == CoefficientError::Of::reaction ? "the reaction" : "r of a robin boundary") +
              " is " + number_text(value) + " at " + point_text(x, dim) + "; allowed: numbers >= 0",
          boundary);
  }
} // namespace

// Of a matrix with ones on the diagonal.
double kappa_of(const Matrix3 &g, int dim)
{
  const auto off = [&](int a, int b) {
    return g[a][b] / (std::sqrt(g[a][a]) * std::sqrt(g[b][b]));
  };
  if (dim == 2)
    return 1. + std::abs(off(0, 1));
  const double x = off(0, 1), y = off(0, 2), z = off(1, 2), sum = x * x + y * y + z * z;
  if (sum == 0.)
    return 1.;
  const double radius = std::sqrt(sum / 3.);
  const double angle = std::acos(std::clamp(x * y * z / (radius * radius * radius), -1., 1.));
  return 1. + 2. * radius * std::cos(angle / 3.);
}

std::array<double, 3> middle_of_corners(const std::vector<Point> &lattice, int dim)
{
  std::size_t n = 2; // of a direction
  while ((dim == 3 ? n * n * n : n * n) < lattice.size())
    ++n;
  Point middle{};
  for (std::size_t v = 0; v < (std::size_t{1} << dim); ++v)
    for (int d = 0; d < dim; ++d)
      middle[d] += std::ldexp(lattice[(n - 1) * (v % 2 + n * (v / 2 % 2 + n * (v / 4)))][d], -dim);
  return middle;
}

std::vector<Point> moved_inwards(std::vector<Point> points, const Point &middle)
{
  for (Point &x : points)
    for (int d = 0; d < 3; ++d)
      x[d] += inwards * (middle[d] - x[d]);
  return points;
}

std::vector<Point> moved_inwards(std::vector<Point> lattice, int dim)
{
  const Point middle = middle_of_corners(lattice, dim);
  return moved_inwards(std::move(lattice), middle);
}

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
  /// Writes the numbers of one cell after the other.
  class MetricWriter
  {
  public:
    MetricWriter(const BlockGeometry &geometry, const BlockLevel &level, const CellBasis &basis,
        const PointwiseData &data, const std::vector<laplace::BlockLink> &links, bool means_of_k)
      : has_means_of_cells_(data.means_of_k.per_direction == level.per_direction)
      , has_means_of_points_(means_of_k && !has_means_of_cells_ && !data.k.is_constant())
      , level_(level)
      , data_(data)
      , links_(links)
      , block_(level.cells(geometry, basis.n - 1))
      , dim_(block_.dim)
      , line_(gauss_rule(basis, basis.n))
      , nodes_(geometry, level)
      , map_(dim_, level.mapping_degree)
      , gauss_(lobatto_nodes(level.mapping_degree), line_.points)
      , ends_{LinePoints(lobatto_nodes(level.mapping_degree), {0.}),
            LinePoints(lobatto_nodes(level.mapping_degree), {1.})}
      , sample_points_(
            has_means_of_cells_ ? middles_of_parts(data.means_of_k.samples) : sample_points(line_))
      , samples_(lobatto_nodes(level.mapping_degree), sample_points_)
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
    }

    const Block &block() const { return block_; }

    struct Arrays
    {
      Array<double> &volume, &face, &reaction; ///< the last one empty: there is none
    };
    PointwiseMetric::CellQuality write(
        std::int64_t of_block, const std::array<std::int64_t, 3> &cell, const Arrays &arrays) const
    {
      const std::vector<Point> nodes = nodes_.of(of_block, cell);
      const Place place{
          of_block, cell[2] * block_.cells[1] + cell[1], level_.stacked(of_block, cell[0]), cell};
      double kappa = 1., least = INFINITY, largest = 0.;
      const auto see = [&](const Points &at) {
        for (std::size_t q = 0; q < at.points.size(); ++q)
        {
          kappa = std::max(kappa, kappa_of(at.g[q], dim_));
          least = std::min(least, at.points.det[q]);
          largest = std::max(largest, at.points.det[q]);
        }
      };
      const Points inside = inside_of(nodes, place);
      see(inside);
      write_volume(place, inside, arrays);
      std::array<Points, 6> at_sides;
      for (int side = 0; side < 2 * dim_; ++side)
      {
        at_sides[side] = at_side(nodes, place, side, inside);
        write_side(place, side, at_sides[side], arrays.face);
        see(at_sides[side]);
      }
      for (int side = 0; side < 2 * dim_; ++side)
        write_penalty(place, side, kappa, inside, at_sides[side], arrays.face);
      return {kappa, least / largest};
    }

  private:
    struct Points
    {
      CellPoints points;
      std::vector<SymmetricTensor> k;
      std::vector<Matrix3> g;
    };
    struct Place
    {
      std::int64_t of_block, row, cx;
      std::array<std::int64_t, 3> cell; ///< of the block
    };

    static constexpr int samples_per_point = 2;
    /// Of a direction: in the middles of equal parts of the intervals whose lengths are the weights.
    static std::vector<double> sample_points(const LineRule &line)
    {
      std::vector<double> points;
      double begin = 0.;
      for (const double length : line.weights)
      {
        for (int s = 0; s < samples_per_point; ++s)
          points.push_back(begin + length * (s + 0.5) / samples_per_point);
        begin += length;
      }
      return points;
    }

    static std::vector<double> middles_of_parts(int count)
    {
      std::vector<double> points;
      for (int i = 0; i < count; ++i)
        points.push_back((i + 0.5) / count);
      return points;
    }

    Points inside_of(const std::vector<Point> &nodes, const Place &place) const
    {
      Points result{map_.at(nodes, {&gauss_, &gauss_, &gauss_}, place.of_block), {}, {}};
      result.k = has_means_of_points_ ? means_of_points(nodes, place)
          : has_means_of_cells_
          ? std::vector<SymmetricTensor>(result.points.size(), mean_of_cell(nodes, place))
          : data_.k(place.of_block, result.points.x, {place.cell, level_.per_direction});
      result.g = metric_at(result.points, result.k, dim_);
      return result;
    }

    /// At all sample points.
    std::vector<SymmetricTensor> samples_of_k(
        const std::vector<Point> &nodes, const Place &place) const
    {
      std::vector<Point> x = nodes;
      std::size_t stride = 1;
      for (int d = 0; d < dim_; ++d, stride *= sample_points_.size())
        x = contracted(
            x, samples_.value, stride, static_cast<std::size_t>(level_.mapping_degree) + 1);
      return data_.k(place.of_block, x,
          {place.cell, level_.per_direction, -1, &sample_points_, level_.count < 0});
    }

    SymmetricTensor mean_of_cell(const std::vector<Point> &nodes, const Place &place) const
    {
      const std::vector<SymmetricTensor> k = samples_of_k(nodes, place);
      SymmetricTensor mean{};
      for (const SymmetricTensor &of_sample : k)
        for (std::size_t i = 0; i < mean.size(); ++i)
          mean[i] += of_sample[i] / static_cast<double>(k.size());
      return mean;
    }

    std::vector<SymmetricTensor> means_of_points(
        const std::vector<Point> &nodes, const Place &place) const
    {
      const std::vector<SymmetricTensor> k = samples_of_k(nodes, place);
      const auto n = static_cast<std::size_t>(block_.n), m = sample_points_.size();
      std::vector<SymmetricTensor> means(
          static_cast<std::size_t>(laplace::points_of_cell(block_)), SymmetricTensor{});
      const double part = std::pow(samples_per_point, -dim_);
      for (std::size_t at = 0; at < k.size(); ++at)
      {
        const std::size_t px = at % m / samples_per_point, py = at / m % m / samples_per_point,
                          pz = at / m / m / samples_per_point;
        for (std::size_t i = 0; i < k[at].size(); ++i)
          means[px + n * (py + n * pz)][i] += part * k[at][i];
      }
      return means;
    }

    Points at_side(
        const std::vector<Point> &nodes, const Place &place, int side, const Points &inside) const
    {
      const int d = side / 2;
      std::array<const LinePoints *, 3> lines{&gauss_, &gauss_, &gauss_};
      lines[d] = &ends_[side % 2];
      Points result{map_.at(nodes, lines, place.of_block), {}, {}};
      if (!has_means_of_points_ && !has_means_of_cells_)
        result.k =
            data_.k(place.of_block, moved_inwards(result.points.x, middle_of_corners(nodes, dim_)),
                {place.cell, level_.per_direction, side});
      else
        for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
          result.k.push_back(inside.k[static_cast<std::size_t>(
              first_of_line(side, q) + (side % 2 == 1 ? (block_.n - 1) * stride(d) : 0))]);
      result.g = metric_at(result.points, result.k, dim_);
      return result;
    }

    std::int64_t stride(int d) const
    {
      const std::int64_t n = block_.n;
      return d == 0 ? 1 : d == 1 ? n : n * n;
    }
    /// Volume point 0 of the line that ends in point q of a side.
    std::int64_t first_of_line(int side, std::int64_t q) const
    {
      const auto [a, b] = tangential(side / 2);
      return q % block_.n * stride(a) + (b < dim_ ? q / block_.n * stride(b) : 0);
    }

    void write_volume(const Place &place, const Points &inside, const Arrays &arrays) const
    {
      const int n = block_.n;
      std::vector<double> reaction;
      if (data_.reaction)
        reaction = data_.reaction(place.of_block, -1, inside.points.x);
      for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
      {
        const auto at = static_cast<std::size_t>(q);
        double weight = line_.weights[q % n] * line_.weights[q / n % n];
        if (dim_ == 3)
          weight *= line_.weights[q / n / n];
        for (int a = 0; a < dim_; ++a)
          for (int b = a; b < dim_; ++b)
            arrays.volume[laplace::volume_index(block_, place.row, q,
                laplace::volume_place(dim_, a, b), place.cx)] = weight * inside.g[at][a][b];
        if (!data_.reaction)
          continue;
        check_number(reaction[at], CoefficientError::Of::reaction, inside.points.x[at], dim_);
        arrays.reaction[laplace::reaction_index(block_, place.row, q, place.cx)] =
            weight * inside.points.det[at] * reaction[at];
      }
    }

    double weight_of_side(std::int64_t q) const
    {
      const int n = block_.n;
      return line_.weights[q % n] * (dim_ == 3 ? line_.weights[q / n] : 1.);
    }

    /// All but the penalty.
    void write_side(const Place &place, int side, const Points &at_side, Array<double> &face) const
    {
      const int d = side / 2;
      const auto [a, b] = tangential(d);
      for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
      {
        const Matrix3 &g = at_side.g[static_cast<std::size_t>(q)];
        const std::array<double, 3> numbers{g[d][d], g[d][a], b < dim_ ? g[d][b] : 0.};
        for (int i = 0; i < dim_; ++i)
          face[laplace::face_index(block_, place.row, side, q, i, place.cx)] =
              weight_of_side(q) * numbers[i];
      }
    }

    /// That of the own cell, or r of a side that is Side::neumann.
    void write_penalty(const Place &place, int side, double kappa, const Points &inside,
        const Points &at_side, Array<double> &face) const
    {
      const std::int64_t x = place.cx % level_.per_direction;
      const std::array<std::int64_t, 3> cell{
          x, place.row % block_.cells[1], place.row / block_.cells[1]};
      const std::int64_t end = side % 2 == 1 ? level_.per_direction - 1 : 0;
      const laplace::BlockLink &link =
          links_[static_cast<std::size_t>((place.of_block - level_.first) * 2 * dim_ + side)];
      const bool is_closed = cell[side / 2] == end && link.kind == Side::neumann;
      std::vector<double> robin(at_side.points.size(), 0.);
      if (is_closed && data_.robin)
        robin = data_.robin(place.of_block, link.boundary, at_side.points.x);
      for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
      {
        const auto at = static_cast<std::size_t>(q);
        const double g = at_side.g[at][side / 2][side / 2];
        check_number(
            robin[at], CoefficientError::Of::robin, at_side.points.x[at], dim_, link.boundary);
        face[laplace::face_index(block_, place.row, side, q, dim_, place.cx)] = weight_of_side(q) *
            (is_closed
                    ? robin[at] * at_side.points.surface(at, side / 2)
                    : 0.5 * sigma_ * kappa * std::max(g * mean_inverse(side, q, inside.g), 1.) * g);
      }
    }

    /// Of G_aa on the line of volume points that ends in point q of a side.
    double mean_inverse(int side, std::int64_t q, const std::vector<Matrix3> &inside) const
    {
      const int d = side / 2;
      const std::int64_t first = first_of_line(side, q);
      double sum = 0.;
      for (int p = 0; p < block_.n; ++p)
        sum += end_weights_[side % 2 == 1 ? p : block_.n - 1 - p] /
            inside[static_cast<std::size_t>(first + p * stride(d))][d][d];
      return sum;
    }

    bool has_means_of_cells_, has_means_of_points_; ///< of K
    const BlockLevel &level_;
    const PointwiseData &data_;
    const std::vector<laplace::BlockLink> &links_;
    Block block_;
    int dim_;
    LineRule line_;
    CellNodes nodes_;
    CellMap map_;
    LinePoints gauss_;
    std::array<LinePoints, 2> ends_;
    std::vector<double> sample_points_;
    LinePoints samples_;
    double sigma_;
    std::vector<double>
        end_weights_; ///< of volume points in the mean along a line to its upper end
  };
} // namespace

namespace
{
  /// Makes numbers of faces of those of their two sides, at first the own one's.
  class BothSides
  {
  public:
    BothSides(const Block &block, std::int64_t per_direction,
        const std::vector<laplace::BlockLink> &links, FaceAverage averages, Array<double> &face)
      : block_(block)
      , per_direction_(per_direction)
      , links_(links)
      , is_harmonic_(averages == FaceAverage::harmonic)
      , face_(face)
    {}

    void run(const SharedSides &shared)
    {
      SideExchange<double> exchange(shared, block_.dim, per_direction_, block_.n, 1);
      exchange.run([&](const Cell &cell, int side, std::int64_t q, int /*number*/) {
        return number(cell, side, q, block_.dim);
      });
      std::vector<double> behind; // all, before the first one is changed
      for_points([&](const Cell &cell, int side, std::int64_t q) {
        behind.push_back(penalty_behind(cell, side, q, exchange));
      });
      std::size_t next = 0;
      for_points([&](const Cell &cell, int side, std::int64_t q) {
        average(cell, side, q, behind[next++]);
      });
    }

  private:
    using Cell = std::array<std::int64_t, 3>;
    static constexpr double closed = -1.; ///< behind a side that has the number itself

    double &number(const Cell &cell, int side, std::int64_t q, int i)
    {
      return face_[laplace::face_index(
          block_, cell[2] * block_.cells[1] + cell[1], side, q, i, cell[0])];
    }

    /// use(cell, side, number of the point)
    template <typename Use>
    void for_points(const Use &use) const
    {
      for_stacked_cells(block_, [&](const Cell &cell) {
        for (int side = 0; side < 2 * block_.dim; ++side)
          for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
            use(cell, side, q);
      });
    }

    /// That of the own cell stands for one behind a Dirichlet side.
    double penalty_behind(
        const Cell &cell, int side, std::int64_t q, const SideExchange<double> &exchange)
    {
      const auto behind = laplace::point_behind(
          block_, per_direction_, links_.data(), cell, side, q % block_.n, q / block_.n);
      if (behind.remote >= 0)
        return exchange.received()[behind.remote];
      if (behind.kind == Side::ghost)
        return number(behind.cell, behind.side, behind.a + block_.n * behind.b, block_.dim);
      return behind.kind == Side::dirichlet ? number(cell, side, q, block_.dim) : closed;
    }

    void average(const Cell &cell, int side, std::int64_t q, double behind)
    {
      double &penalty = number(cell, side, q, block_.dim);
      if (behind == closed)
        return;
      const double own = penalty, sum = own + behind;
      penalty = is_harmonic_ ? 4. * (own / sum) * behind : sum;
      for (int i = 0; is_harmonic_ && i < block_.dim; ++i)
        number(cell, side, q, i) *= 2. * (behind / sum);
    }

    const Block &block_;
    std::int64_t per_direction_;
    const std::vector<laplace::BlockLink> &links_;
    bool is_harmonic_;
    Array<double> &face_;
  };
} // namespace

PointwiseMetric::PointwiseMetric(const BlockGeometry &geometry, const BlockLevel &level,
    const CellBasis &basis, const PointwiseData &data, const std::vector<laplace::BlockLink> &links,
    bool means_of_k, const SharedSides *shared)
{
  const MetricWriter writer(geometry, level, basis, data, links, means_of_k);
  const Block &block = writer.block();
  const SharedSides alone;
  if (shared == nullptr)
    shared = &alone;
  act_alike(shared->communicator, [&] {
    volume_ = Array<double>(laplace::volume_size(block));
    face_ = Array<double>(laplace::face_size(block));
    if (data.reaction)
      reaction_ = Array<double>(laplace::reaction_size(block));
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          of_cells_.push_back(writer.write(level.first + cx / level.per_direction,
              {cx % level.per_direction, cy, cz}, {volume_, face_, reaction_}));
  });
  BothSides(block, level.per_direction, links, data.averages, face_).run(*shared);
}

double PointwiseMetric::largest_kappa() const
{
  double largest = 1.;
  for (const CellQuality &cell : of_cells_)
    largest = std::max(largest, cell.kappa);
  return largest;
}

double PointwiseMetric::least_quality() const
{
  double least = 1.;
  for (const CellQuality &cell : of_cells_)
    least = std::min(least, cell.quality);
  return least;
}

void PointwiseMetric::scale(double factor)
{
  for (Array<double> *numbers : {&volume_, &face_, &reaction_})
    for (double &number : *numbers)
      number *= factor;
}
} // namespace tensormg
