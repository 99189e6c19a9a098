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

  Matrix3 matrix_of(const SymmetricTensor &k)
  {
    return {{{k[0], k[3], k[4]}, {k[3], k[1], k[5]}, {k[4], k[5], k[2]}}};
  }

  using TensorInLanes = std::array<Lanes, 6>; ///< as SymmetricTensor

  /// Whether kappa_of(g) <= kappa, but for rounding, or 1e-7 where two roots meet, without them: in 3D kappa - 1 is the largest root of t^3 - s t - 2 p, s the sum of the
  /// squares of what is beside the diagonal of D^-1/2 G D^-1/2, p the product; this rises from where 3 t^2 = s. False where products leave the range of numbers.
  auto is_at_most(const Matrix3Of<Lanes> &g, Lanes kappa, int dim)
  {
    const Lanes t = kappa - (1. - 1e-14);
    const Lanes xx = 1. / g[0][0], yy = 1. / g[1][1];
    const Lanes xy = g[0][1] * xx * (g[0][1] * yy);
    if (dim == 2)
      return xy <= t * t;
    const Lanes zz = 1. / g[2][2];
    const Lanes sum = xy + g[0][2] * xx * (g[0][2] * zz) + g[1][2] * yy * (g[1][2] * zz),
                product = g[0][1] * xx * (g[0][2] * zz) * (g[1][2] * yy);
    return (t * (t * t - sum) >= 2. * product) & (3. * t * t >= sum);
  }
} // namespace

void check_positive(const SymmetricTensor &k, std::int64_t block, const Point &x, int dim)
{
  if (!is_positive(matrix_of(k), dim))
    throw CoefficientError(CoefficientError::Of::diffusion,
        "K is not positive definite at " + point_text(x, dim) + ", in a cell of block " +
            std::to_string(block) +
            "; allowed: numbers > 0, and tensors whose eigenvalues are > 0");
}

void check_number(double value, CoefficientError::Of of, const Point &x, int dim, int boundary)
{
  if (!(value >= 0.))
    throw CoefficientError(of,
        std::string(
            of == CoefficientError::Of::reaction ? "the reaction" : "r of a robin boundary") +
            " is " + number_text(value) + " at " + point_text(x, dim) + "; allowed: numbers >= 0",
        boundary);
}

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
  const double part = dim == 3 ? 0.125 : 0.25;
  for (std::size_t v = 0; v < (std::size_t{1} << dim); ++v)
    for (int d = 0; d < dim; ++d)
      middle[d] += part * lattice[(n - 1) * (v % 2 + n * (v / 2 % 2 + n * (v / 4)))][d];
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
  /// Writes the numbers of cells, as many at a time as there are lanes.
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
    std::array<PointwiseMetric::CellQuality, n_lanes> write(
        const CellsInLanes &cells, const Arrays &arrays)
    {
      set_cells(cells);
      kappa_ = all_lanes(1.);
      least_det_ = all_lanes(INFINITY);
      largest_det_ = Lanes{};
      set_inside();
      write_volume(arrays);
      for (int side = 0; side < 2 * dim_; ++side)
      {
        set_side(side);
        write_side(side, arrays.face);
      }
      for (int side = 0; side < 2 * dim_; ++side)
        write_penalty(side, arrays.face);
      std::array<PointwiseMetric::CellQuality, n_lanes> result;
      for (int l = 0; l < n_lanes; ++l)
        result[l] = {kappa_[l], least_det_[l] / largest_det_[l]};
      return result;
    }

  private:
    struct Points
    {
      LaneMap::Points of_map;
      std::vector<TensorInLanes> k;
      std::vector<Matrix3Of<Lanes>> g;
    };
    struct Place
    {
      std::int64_t block;
      std::array<std::int64_t, 3> cell; ///< of the block
      std::vector<Point> nodes;
    };

    void set_cells(const CellsInLanes &cells)
    {
      cells_ = cells;
      row_ = cells.first[2] * block_.cells[1] + cells.first[1];
      for (int l = 0; l < cells.count; ++l)
      {
        Place &place = places_[l];
        const auto [cx, cy, cz] = cells[l];
        place.block = level_.first + cx / level_.per_direction;
        place.cell = {cx % level_.per_direction, cy, cz};
        place.nodes = nodes_.of(place.block, place.cell);
      }
      const std::size_t size = places_[0].nodes.size();
      nodes_in_lanes_.resize(3 * size);
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t d = 0; d < 3; ++d)
          for (int l = 0; l < n_lanes; ++l)
            nodes_in_lanes_[d * size + i][l] = places_[lane_with_cell(l)].nodes[i][d];
    }
    /// Padding has what the last cell has.
    int lane_with_cell(int lane) const { return std::min(lane, cells_.count - 1); }

    /// Positions of a cell's points.
    std::vector<Point> positions(const Points &points, int lane) const
    {
      std::vector<Point> result;
      for (const std::array<Lanes, 3> &x : points.of_map.x)
        result.push_back({x[0][lane], x[1][lane], x[2][lane]});
      return result;
    }

    /// With k from tensors(lane): of all points of a cell. What is the same everywhere stays from the first cells.
    template <typename Tensors>
    void set_k(Points &points, const Tensors &tensors) const
    {
      if (data_.k.is_constant() && !points.k.empty())
        return;
      points.k.resize(points.of_map.x.size());
      for (int l = 0; l < cells_.count; ++l)
      {
        const std::vector<SymmetricTensor> k = tensors(l);
        for (std::size_t q = 0; q < k.size(); ++q)
        {
          if (!is_positive(matrix_of(k[q]), dim_))
            check_positive(k[q], places_[l].block, positions(points, l)[q], dim_);
          for (std::size_t i = 0; i < k[q].size(); ++i)
            for (int to = l; to < (l + 1 < cells_.count ? l + 1 : n_lanes); ++to)
              points.k[q][i][to] = k[q][i];
        }
      }
    }

    void set_points(Points &points, const std::array<const LinePoints *, 3> &lines)
    {
      map_.at(nodes_in_lanes_, lines, points.of_map);
      auto are_unfolded = Lanes{} == Lanes{};
      for (const Lanes &det : points.of_map.det)
      {
        are_unfolded &= det > 0.;
        least_det_ = min(least_det_, det);
        largest_det_ = max(largest_det_, det);
      }
      for (int l = 0; l < cells_.count; ++l)
        if (!are_unfolded[l])
          for (std::size_t q = 0; q < points.of_map.det.size(); ++q)
            check_fold(places_[l].block, positions(points, l)[q], points.of_map.det[q][l], dim_);
    }

    void set_metric(Points &points)
    {
      const LaneMap::Points &at = points.of_map;
      points.g.resize(at.x.size());
      for (std::size_t q = 0; q < points.g.size(); ++q)
      {
        points.g[q] = metric_of(at.det[q], at.inverse_j[q], points.k[q], dim_);
        const auto holds = is_at_most(points.g[q], kappa_, dim_);
        for (int l = 0; l < cells_.count; ++l)
          if (!holds[l])
            see_kappa(points.g[q], l);
      }
    }
    void see_kappa(const Matrix3Of<Lanes> &of_lanes, int lane)
    {
      Matrix3 g{};
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          g[a][b] = of_lanes[a][b][lane];
      kappa_[lane] = std::max(kappa_[lane], kappa_of(g, dim_));
    }

    void set_inside()
    {
      set_points(inside_, {&gauss_, &gauss_, &gauss_});
      set_k(inside_, [&](int l) {
        const Place &place = places_[l];
        return has_means_of_points_ ? means_of_points(place)
            : has_means_of_cells_
            ? std::vector<SymmetricTensor>(inside_.of_map.x.size(), mean_of_cell(place))
            : data_.k(place.block, positions(inside_, l), {place.cell, level_.per_direction});
      });
      set_metric(inside_);
      for (int d = 0; d < dim_; ++d)
      {
        inverse_g_[d].resize(inside_.g.size());
        for (std::size_t q = 0; q < inside_.g.size(); ++q)
          inverse_g_[d][q] = 1. / inside_.g[q][d][d];
      }
    }

    void set_side(int side)
    {
      const int d = side / 2;
      Points &points = at_sides_[side];
      std::array<const LinePoints *, 3> lines{&gauss_, &gauss_, &gauss_};
      lines[d] = &ends_[side % 2];
      set_points(points, lines);
      if (has_means_of_points_ || has_means_of_cells_)
      {
        points.k.clear();
        for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
          points.k.push_back(inside_.k[static_cast<std::size_t>(
              first_of_line(side, q) + (side % 2 == 1 ? (block_.n - 1) * stride(d) : 0))]);
      }
      else
        set_k(points, [&](int l) {
          const Place &place = places_[l];
          return data_.k(place.block,
              moved_inwards(positions(points, l), middle_of_corners(place.nodes, dim_)),
              {place.cell, level_.per_direction, side});
        });
      set_metric(points);
    }

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

    /// At all sample points.
    std::vector<SymmetricTensor> samples_of_k(const Place &place) const
    {
      std::vector<Point> x = place.nodes;
      std::size_t stride = 1;
      for (int d = 0; d < dim_; ++d, stride *= sample_points_.size())
        x = contracted(
            x, samples_.value, stride, static_cast<std::size_t>(level_.mapping_degree) + 1);
      return data_.k(place.block, x,
          {place.cell, level_.per_direction, -1, &sample_points_, level_.count < 0});
    }

    SymmetricTensor mean_of_cell(const Place &place) const
    {
      const std::vector<SymmetricTensor> k = samples_of_k(place);
      SymmetricTensor mean{};
      for (const SymmetricTensor &of_sample : k)
        for (std::size_t i = 0; i < mean.size(); ++i)
          mean[i] += of_sample[i] / static_cast<double>(k.size());
      return mean;
    }

    std::vector<SymmetricTensor> means_of_points(const Place &place) const
    {
      const std::vector<SymmetricTensor> k = samples_of_k(place);
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

    void store(double *to, Lanes numbers) const
    {
      if (cells_.count == n_lanes)
        simd::store<n_lanes>(to, numbers);
      else // padding stays zero
        for (int l = 0; l < cells_.count; ++l)
          to[l] = numbers[l];
    }

    double weight_inside(std::int64_t q) const
    {
      const int n = block_.n;
      return line_.weights[q % n] * line_.weights[q / n % n] *
          (dim_ == 3 ? line_.weights[q / n / n] : 1.);
    }

    void write_volume(const Arrays &arrays) const
    {
      for (std::int64_t q = 0; q < laplace::points_of_cell(block_); ++q)
        for (int a = 0; a < dim_; ++a)
          for (int b = a; b < dim_; ++b)
            store(&arrays.volume[laplace::volume_index(
                      block_, row_, q, laplace::volume_place(dim_, a, b), cells_.first[0])],
                weight_inside(q) * inside_.g[static_cast<std::size_t>(q)][a][b]);
      for (int l = 0; data_.reaction && l < cells_.count; ++l)
      {
        const std::vector<Point> x = positions(inside_, l);
        const std::vector<double> reaction = data_.reaction(places_[l].block, -1, x);
        for (std::size_t q = 0; q < x.size(); ++q)
        {
          check_number(reaction[q], CoefficientError::Of::reaction, x[q], dim_);
          const auto at = static_cast<std::int64_t>(q);
          arrays.reaction[laplace::reaction_index(block_, row_, at, cells_.first[0] + l)] =
              weight_inside(at) * inside_.of_map.det[q][l] * reaction[q];
        }
      }
    }

    double weight_of_side(std::int64_t q) const
    {
      const int n = block_.n;
      return line_.weights[q % n] * (dim_ == 3 ? line_.weights[q / n] : 1.);
    }

    /// All but the penalty.
    void write_side(int side, Array<double> &face) const
    {
      const int d = side / 2;
      const auto [a, b] = tangential(d);
      const std::array<int, 3> columns{d, a, b};
      for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
        for (int i = 0; i < dim_; ++i)
          store(&face[laplace::face_index(block_, row_, side, q, i, cells_.first[0])],
              weight_of_side(q) * at_sides_[side].g[static_cast<std::size_t>(q)][d][columns[i]]);
    }

    /// That of the own cell, or r of a side that is Side::neumann.
    void write_penalty(int side, Array<double> &face) const
    {
      for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
      {
        const Lanes g = at_sides_[side].g[static_cast<std::size_t>(q)][side / 2][side / 2];
        const Lanes rho = max(g * mean_inverse(side, q), all_lanes(1.));
        store(&face[laplace::face_index(block_, row_, side, q, dim_, cells_.first[0])],
            weight_of_side(q) * 0.5 * sigma_ * kappa_ * rho * g);
      }
      for (int l = 0; l < cells_.count; ++l)
      {
        const laplace::BlockLink &link =
            links_[static_cast<std::size_t>((places_[l].block - level_.first) * 2 * dim_ + side)];
        const std::int64_t end = side % 2 == 1 ? level_.per_direction - 1 : 0;
        if (places_[l].cell[side / 2] == end && link.kind == Side::neumann)
          write_robin(l, side, link.boundary, face);
      }
    }

    void write_robin(int lane, int side, int boundary, Array<double> &face) const
    {
      const Points &points = at_sides_[side];
      const std::vector<Point> x = positions(points, lane);
      const std::vector<double> robin = data_.robin ? data_.robin(places_[lane].block, boundary, x)
                                                    : std::vector<double>(x.size(), 0.);
      for (std::size_t q = 0; q < x.size(); ++q)
      {
        check_number(robin[q], CoefficientError::Of::robin, x[q], dim_, boundary);
        const auto at = static_cast<std::int64_t>(q);
        const std::array<Lanes, 3> &row = points.of_map.inverse_j[q][side / 2];
        const Lanes surface = points.of_map.det[q] *
            sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]); // CellPoints::surface()
        face[laplace::face_index(block_, row_, side, at, dim_, cells_.first[0] + lane)] =
            weight_of_side(at) * robin[q] * surface[lane];
      }
    }

    /// Of G_aa on the line of volume points that ends in point q of a side.
    Lanes mean_inverse(int side, std::int64_t q) const
    {
      const int d = side / 2;
      const std::int64_t first = first_of_line(side, q);
      Lanes sum{};
      for (int p = 0; p < block_.n; ++p)
        sum += end_weights_[side % 2 == 1 ? p : block_.n - 1 - p] *
            inverse_g_[d][static_cast<std::size_t>(first + p * stride(d))];
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
    LaneMap map_;
    LinePoints gauss_;
    std::array<LinePoints, 2> ends_;
    std::vector<double> sample_points_;
    LinePoints samples_;
    double sigma_;
    std::vector<double>
        end_weights_; ///< of volume points in the mean along a line to its upper end
    // Of the cells that are being written.
    CellsInLanes cells_{};
    std::int64_t row_ = 0;
    std::array<Place, n_lanes> places_;
    std::vector<Lanes> nodes_in_lanes_;
    Points inside_;
    std::array<Points, 6> at_sides_;
    std::array<std::vector<Lanes>, 3> inverse_g_; ///< 1 / G_aa of the volume points
    Lanes kappa_{}, least_det_{}, largest_det_{};
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
      behind.reserve(static_cast<std::size_t>(
          2 * block_.dim * block_.n_cells() * laplace::points_of_face(block_)));
      for_sides([&](const Cell &cell, int side) { add_behind(cell, side, exchange, behind); });
      std::size_t next = 0;
      for_sides([&](const Cell &cell, int side) {
        for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
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

    /// use(cell, side)
    template <typename Use>
    void for_sides(const Use &use) const
    {
      for_stacked_cells(block_, [&](const Cell &cell) {
        for (int side = 0; side < 2 * block_.dim; ++side)
          use(cell, side);
      });
    }

    /// Inside a block points of both sides are numbered alike.
    bool is_inside(const Cell &cell, int side) const
    {
      const std::int64_t place = side < 2 ? cell[0] % per_direction_ : cell[side / 2];
      return place != (side % 2 == 1 ? per_direction_ - 1 : 0);
    }

    void add_behind(const Cell &cell, int side, const SideExchange<double> &exchange,
        std::vector<double> &behind)
    {
      const std::int64_t count = laplace::points_of_face(block_);
      if (is_inside(cell, side))
      {
        Cell other = cell;
        other[side / 2] += side % 2 == 1 ? 1 : -1;
        for (std::int64_t q = 0; q < count; ++q)
          behind.push_back(number(other, side ^ 1, q, block_.dim));
      }
      else
        for (std::int64_t q = 0; q < count; ++q)
          behind.push_back(penalty_behind(cell, side, q, exchange));
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
  MetricWriter writer(geometry, level, basis, data, links, means_of_k);
  const Block &block = block_ = writer.block();
  weights_ = gauss_rule(basis, basis.n).weights;
  const SharedSides alone;
  if (shared == nullptr)
    shared = &alone;
  act_alike(shared->communicator, [&] {
    volume_ = Array<double>(laplace::volume_size(block));
    face_ = Array<double>(laplace::face_size(block));
    if (data.reaction)
      reaction_ = Array<double>(laplace::reaction_size(block));
    for_lanes(block, [&](const CellsInLanes &cells) {
      const auto qualities = writer.write(cells, {volume_, face_, reaction_});
      of_cells_.insert(of_cells_.end(), qualities.begin(), qualities.begin() + cells.count);
    });
  });
  BothSides(block, level.per_direction, links, data.averages, face_).run(*shared);
}

PointwiseMetric::PointwiseMetric(const Block &block, const CellBasis &basis, Array<double> means,
    std::vector<CellQuality> of_cells)
  : block_(block)
  , weights_(gauss_rule(basis, basis.n).weights)
  , means_(std::move(means))
  , of_cells_(std::move(of_cells))
{}

double PointwiseMetric::volume(std::int64_t row, std::int64_t q, int number, std::int64_t cx) const
{
  return means_.size() > 0 ? weight_of_point(q) * mean(row, number, cx)
                           : volume_[laplace::volume_index(block_, row, q, number, cx)];
}

double PointwiseMetric::face(
    std::int64_t row, int side, std::int64_t q, int number, std::int64_t cx) const
{
  if (means_.size() == 0)
    return face_[laplace::face_index(block_, row, side, q, number, cx)];
  const int dim = block_.dim, d = side / 2;
  const int place = number == dim ? laplace::penalty_place(dim, side)
      : number == 0               ? d
                    : laplace::volume_place(dim, std::min(d, tangential(d)[number - 1]),
                          std::max(d, tangential(d)[number - 1]));
  return weight_of_face_point(q) * mean(row, place, cx);
}

double PointwiseMetric::reaction(std::int64_t row, std::int64_t q, std::int64_t cx) const
{
  if (means_.size() > 0)
    return weight_of_point(q) * mean(row, laplace::reaction_place(block_.dim), cx);
  return reaction_.size() > 0 ? reaction_[laplace::reaction_index(block_, row, q, cx)] : 0.;
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
  for (Array<double> *numbers : {&volume_, &face_, &reaction_, &means_})
    for (double &number : *numbers)
      number *= factor;
}
} // namespace tensormg
