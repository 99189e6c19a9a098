// Smoothers of curved cells: inverses of cells and lines against matrices by plain loops, lines against where their cells lie, S against its
// transpose.
#include "operators/constant/start_vector.h"
#include "operators/curved/relaxation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "operators/curved/pointwise_operator.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  using laplace::CellLine;
  using laplace::LinePlace;
  using test::Numbers;

  /// Row by row.
  struct Dense
  {
    explicit Dense(std::size_t n_)
      : n(n_)
      , entries(n_ * n_)
    {}
    double &operator()(std::size_t i, std::size_t j) { return entries[i * n + j]; }

    /// Factors it; false: it is not positive definite.
    bool factor()
    {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j)
        {
          double sum = (*this)(i, j);
          for (std::size_t k = 0; k < j; ++k)
            sum -= (*this)(i, k) * (*this)(j, k);
          if (i == j && !(sum > 0.))
            return false;
          (*this)(i, j) = i == j ? std::sqrt(sum) : sum / (*this)(j, j);
        }
      return true;
    }
    /// With the factors.
    void solve(std::vector<double> &x)
    {
      for (std::size_t i = 0; i < n; ++i)
      {
        for (std::size_t k = 0; k < i; ++k)
          x[i] -= (*this)(i, k) * x[k];
        x[i] /= (*this)(i, i);
      }
      for (std::size_t i = n; i-- > 0;)
      {
        for (std::size_t k = i + 1; k < n; ++k)
          x[i] -= (*this)(k, i) * x[k];
        x[i] /= (*this)(i, i);
      }
    }

    std::size_t n;
    std::vector<double> entries;
  };

  struct Mesh
  {
    const char *name;
    BlockMesh blocks;
    BlockGeometry geometry;
  };
  Mesh generated(int dim, const char *name, const char *arguments)
  {
    NamedMesh mesh = generate_mesh(dim, name, arguments, 6);
    return {name, std::move(mesh.blocks), std::move(mesh.geometry)};
  }
  Mesh box(int dim, const std::array<std::int64_t, 3> &cells, const std::array<double, 3> &size)
  {
    BlockMesh mesh = make_block_mesh(box_cells(dim, cells, {0., 0., 0.}, size));
    BlockGeometry geometry(mesh);
    return {"box", std::move(mesh), std::move(geometry)};
  }
  std::vector<Mesh> meshes()
  {
    std::vector<Mesh> result;
    result.push_back(box(2, {3, 2, 1}, {1., 2., 1.}));
    result.push_back(box(3, {2, 1, 3}, {1., 2., 0.5}));
    result.push_back(generated(2, "hyper_ball", "0,0 : 1 : false"));
    result.push_back(generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true"));
    result.push_back(generated(3, "hyper_ball", "0,0,0 : 1 : false"));
    result.push_back(generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true"));
    return result;
  }
  Side mixed(int boundary) { return boundary % 2 == 0 ? Side::dirichlet : Side::neumann; }
  Side dirichlet(int /*boundary*/) { return Side::dirichlet; }

  std::shared_ptr<const LevelRelaxation> made(const BlockLevels &levels, Relaxation kind)
  {
    return std::make_shared<const LevelRelaxation>(levels, 1, choose_relaxations(levels, kind)[1]);
  }

  /// use(place in the block) of all modes.
  template <typename Use>
  void for_entries(const Block &block, const Use &use)
  {
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          for (int k = 0; k < block.nz(); ++k)
            for (int j = 0; j < block.n; ++j)
              for (int i = 0; i < block.n; ++i)
                use(block.index(cx, cy, cz, i, j, k));
  }

  // Every cell has one line in each direction, and points of a side have the same place, whichever of its two cells is asked.
  TEST(Lines, GoThroughSidesThatFaceEachOther)
  {
    for (const Mesh &mesh : meshes())
      for (const std::size_t l : {0, 1})
      {
        SCOPED_TRACE(testing::Message() << mesh.name << " " << mesh.blocks.dim << "D level " << l);
        const int dim = mesh.blocks.dim;
        const BlockLevels levels(mesh.blocks, mesh.geometry, test::tensor,
            {.degree = 2, .mapping_degree = 2, .refinements = 1});
        const BlockLevels::Level &level = levels.levels()[l];
        const Block &block = level.grid.block;
        const std::int64_t per_direction = level.shape.per_direction;
        const auto lines = laplace::find_lines(block, per_direction, levels.links().data());
        std::set<std::tuple<std::int64_t, int>> seen;
        for (const LinePlace &place : lines.places)
          EXPECT_TRUE(seen.emplace(place.entry, place.axis[0]).second);
        EXPECT_EQ(std::ssize(seen), dim * block.n_cells());

        // At (s, t, u) of the line's directions in a cell.
        const auto position = [&](const LinePlace &place, double s) {
          const std::int64_t row = place.entry / block.row() % block.rows_per_plane() / block.n,
                             x = place.entry % block.pitch,
                             plane = place.entry / block.plane() / block.nz();
          const std::array<std::int64_t, 3> cell{x % per_direction, row, plane};
          const std::array<double, 3> of_line{s, 0.3, 0.8};
          std::array<std::vector<double>, 3> coordinates;
          for (int a = 0; a < dim; ++a)
          {
            const int d = place.axis[a];
            const double inside = place.is_reversed[a] ? 1. - of_line[a] : of_line[a];
            coordinates[d] = {(double(cell[d]) + inside) / double(per_direction)};
          }
          return mesh.geometry.points(x / per_direction, coordinates)[0];
        };
        for (const CellLine &line : lines.lines)
          for (std::int64_t c = line.first; c + 1 < line.first + line.length; ++c)
          {
            const auto one = position(lines.places[c], 1.),
                       other = position(lines.places[c + 1], 0.);
            for (int i = 0; i < dim; ++i)
              ASSERT_NEAR(one[i], other[i], 1e-12);
          }
      }
  }

  /// The operator along a line, by modes of all its cells: S' S of derivatives, and at each face tau [u] [v] - {c u'} [v] - {c v'} [u].
  class LineMatrix
  {
  public:
    LineMatrix(const BlockLevels &levels, std::size_t l, const laplace::CellLines &lines,
        const CellLine &line, const std::vector<double> &numbers)
      : levels_(levels)
      , block_(levels.levels()[l].grid.block)
      , places_(&lines.places[static_cast<std::size_t>(line.first)])
      , line_(line)
      , numbers_(numbers)
      , n_(static_cast<std::size_t>(block_.n))
    {}

    /// Adds the solution for r to z, times weight, for modes (j, k) across.
    void add_solution(int j, int k, double weight, const Vector<double> &r, Vector<double> &z) const
    {
      Dense matrix = assembled(j, k);
      std::vector<double> x(matrix.n);
      for_modes(
          j, k, [&](std::size_t at, std::int64_t place, double sign) { x[at] = sign * r[place]; });
      ASSERT_TRUE(matrix.factor());
      matrix.solve(x);
      for_modes(j, k, [&](std::size_t at, std::int64_t place, double sign) {
        z[place] += weight * sign * x[at];
      });
    }

  private:
    double number(std::size_t c, int axis, int which) const
    {
      return numbers_[places_[c].numbers +
          (places_[c].axis[axis] * laplace::line_inverse_numbers(block_.n) + which) * block_.pitch];
    }
    std::size_t length() const { return static_cast<std::size_t>(line_.length); }

    template <typename Use>
    void for_modes(int j, int k, const Use &use) const
    {
      const std::array<std::int64_t, 3> strides{
          block_.pitch, block_.row(), block_.rows_per_plane() * block_.row()};
      for (std::size_t c = 0; c < length(); ++c)
        for (int i = 0; i < block_.n; ++i)
        {
          const LinePlace &place = places_[c];
          std::int64_t at = place.entry;
          double sign = 1.;
          for (const auto &[axis, mode] : {std::pair{0, i}, {1, j}, {2, k}})
          {
            at += mode * strides[place.axis[axis]];
            if (place.is_reversed[axis] && mode % 2 == 1)
              sign = -sign;
          }
          use(c * n_ + static_cast<std::size_t>(i), at, sign);
        }
    }

    /// The jump and the mean flux upwards at a face, by modes: (cell before, cell behind).
    struct Face
    {
      std::vector<std::pair<std::size_t, std::array<double, 2>>> modes; ///< jump and flux of each
    };
    void add_end(Face &face, std::size_t c, bool is_upper, double of_jump, double of_flux) const
    {
      const CellBasis &basis = levels_.basis();
      for (std::size_t i = 0; i < n_; ++i)
      {
        const double even = is_upper || i % 2 == 0 ? 1. : -1.,
                     odd = is_upper || i % 2 == 1 ? 1. : -1.;
        face.modes.push_back({c * n_ + i,
            {of_jump * even * basis.v[i], of_flux * odd * 2. * basis.h[i] * number(c, 0, 0)}});
      }
    }
    static void add_face(Dense &matrix, const Face &face, double tau, double factor)
    {
      for (const auto &[i, of_i] : face.modes)
        for (const auto &[j, of_j] : face.modes)
          matrix(i, j) +=
              factor * (tau * of_i[0] * of_j[0] - of_i[0] * of_j[1] - of_i[1] * of_j[0]);
    }
    double tau(std::size_t c, bool is_upper) const
    {
      return number(c, 0, is_upper != places_[c].is_reversed[0] ? 2 : 1);
    }

    Dense assembled(int j, int k) const
    {
      Dense matrix(length() * n_);
      const laplace::PointTables &tables = levels_.tables();
      for (std::size_t c = 0; c < length(); ++c)
        for (std::size_t i = 0; i < n_; ++i)
        {
          for (std::size_t m = 0; m < n_; ++m)
            for (std::size_t q = 0; q < n_; ++q)
              matrix(c * n_ + i, c * n_ + m) += number(c, 0, 0) * tables.weight[q] *
                  tables.derivative[q * n_ + i] * tables.derivative[q * n_ + m];
          matrix(c * n_ + i, c * n_ + i) +=
              number(c, 1, 3 + j) + (block_.dim == 3 ? number(c, 2, 3 + k) : 0.);
        }
      for (std::size_t c = 0; c + 1 < length(); ++c)
      {
        Face face;
        add_end(face, c, true, 1., 0.5);
        add_end(face, c + 1, false, -1., 0.5);
        EXPECT_NEAR(tau(c, true), tau(c + 1, false), 1e-12 * tau(c, true));
        add_face(matrix, face, tau(c, true), 1.);
      }
      for (const bool is_upper : {false, true})
      {
        const Side kind = line_.ends[is_upper ? 1 : 0];
        const std::size_t c = is_upper ? length() - 1 : 0;
        Face face; // outwards
        add_end(face, c, is_upper, 1., is_upper ? 0.5 : -0.5);
        if (kind != Side::neumann)
          add_face(matrix, face, tau(c, is_upper), kind == Side::dirichlet ? 2. : 1.);
      }
      return matrix;
    }

    const BlockLevels &levels_;
    const Block &block_;
    const LinePlace *places_;
    const CellLine &line_;
    const std::vector<double> &numbers_;
    std::size_t n_;
  };

  TEST(Lines, AreTheInverseOfTheirMatrices)
  {
    for (const Mesh &mesh : meshes())
      for (int degree = 1; degree <= (mesh.blocks.dim == 3 ? 2 : 4); ++degree)
      {
        SCOPED_TRACE(
            testing::Message() << mesh.name << " " << mesh.blocks.dim << "D degree " << degree);
        const BlockLevels levels(mesh.blocks, mesh.geometry, test::tensor,
            {.degree = degree, .mapping_degree = degree, .refinements = 1, .side = mixed});
        const auto relaxation = made(levels, Relaxation::lines);
        const Block &block = levels.levels()[1].grid.block;
        const auto r = test::random_vector<double>(block, 1);
        Vector<double> z(block), expected(block);
        SeparableRelaxation<double>(levels, 1, relaxation).apply(z, r, 0.7);
        for (const CellLine &line : relaxation->lines.lines)
          for (int k = 0; k < block.nz(); ++k)
            for (int j = 0; j < block.n; ++j)
              LineMatrix(levels, 1, relaxation->lines, line, relaxation->numbers->lines)
                  .add_solution(j, k, 0.7 / block.dim, r, expected);
        EXPECT_LT(test::relative_difference(z, expected), 1e-10);
        EXPECT_TRUE(test::padding_is_zero(z));
      }
  }

  /// A product of functions, with jumps between blocks.
  SymmetricTensor product(std::int64_t block, const std::array<double, 3> &x)
  {
    const double k =
        std::pow(10., double(block * 7 % 5)) * std::exp(6. * x[0] - 9. * x[1] * x[1] + 5. * x[2]);
    return {k, 2. * k, 0.5 * k, 0., 0., 0.};
  }

  // The part of the operator that stays in a cell: what it makes of a vector that is zero in all others.
  TEST(Cells, AreInvertedWhereTheyAreBoxesAndTheCoefficientIsAProduct)
  {
    for (const int dim : {2, 3})
      for (int degree = 1; degree <= (dim == 3 ? 3 : max_degree); ++degree)
      {
        SCOPED_TRACE(testing::Message() << dim << "D degree " << degree);
        const Mesh mesh = box(dim, {3, 2, dim == 3 ? 2 : 1}, {1., 0.5, 0.7});
        const BlockLevels levels(mesh.blocks, mesh.geometry, product,
            {.degree = degree, .mapping_degree = 1, .refinements = 1, .side = mixed});
        const auto relaxation = made(levels, Relaxation::cells);
        PointwiseOperator<double> op(levels, 1, relaxation);
        const Block &block = levels.levels()[1].grid.block;
        const auto random = test::random_vector<double>(block, 1);
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        {
          Vector<double> x(block), y(block), z(block);
          const auto for_modes = [&](auto &&use) {
            for (int k = 0; k < block.nz(); ++k)
              for (int j = 0; j < block.n; ++j)
                for (int i = 0; i < block.n; ++i)
                  use(block.index(cx, cx % 2, dim == 3 ? cx / 2 % 2 : 0, i, j, k));
          };
          for_modes([&](std::int64_t at) { x[at] = random[at]; });
          op.vmult(y, x);
          op.inverse_diagonal(z, y, 0.5);
          for_modes([&](std::int64_t at) { EXPECT_NEAR(z[at], 0.5 * x[at], 1e-9); });
          EXPECT_TRUE(test::padding_is_zero(z));
        }
      }
  }

  // Rotated neighbours, an odd number of cells in a row, every smoother.
  TEST(Relaxation, IsSymmetricAndPositiveDefinite)
  {
    for (const Mesh &mesh : meshes())
      for (const Relaxation kind :
          {Relaxation::diagonal, Relaxation::cells, Relaxation::lines, Relaxation::cells_and_lines})
      {
        SCOPED_TRACE(
            testing::Message() << mesh.name << " " << mesh.blocks.dim << "D " << int(kind));
        const int dim = mesh.blocks.dim, degree = dim == 3 ? 1 : 2;
        const BlockLevels levels(mesh.blocks, mesh.geometry, test::tensor,
            {.degree = degree, .mapping_degree = degree, .refinements = 1, .side = mixed});
        const auto relaxation = made(levels, kind);
        const PointwiseOperator<double> op(levels, 1, relaxation);
        EXPECT_EQ(op.has_pointwise_diagonal(), kind == Relaxation::diagonal);
        const Block &block = levels.levels()[1].grid.block;
        std::vector<std::int64_t> entries;
        for_entries(block, [&](std::int64_t at) { entries.push_back(at); });
        Dense matrix(entries.size());
        Vector<double> unit(block), column(block);
        for (std::size_t j = 0; j < entries.size(); ++j)
        {
          unit[entries[j]] = 1.;
          op.inverse_diagonal(column, unit, 1.);
          unit[entries[j]] = 0.;
          for (std::size_t i = 0; i < entries.size(); ++i)
            matrix(i, j) = column[entries[i]];
        }
        const double largest = *std::max_element(matrix.entries.begin(), matrix.entries.end());
        for (std::size_t i = 0; i < entries.size(); ++i)
          for (std::size_t j = 0; j < i; ++j)
            ASSERT_NEAR(matrix(i, j), matrix(j, i), 1e-12 * largest);
        EXPECT_TRUE(matrix.factor());
      }
  }

  template <typename Number>
  void expect_the_same(double tolerance)
  {
    for (const Mesh &mesh : meshes())
      for (int degree = 1; degree <= (mesh.blocks.dim == 3 ? 3 : max_degree); ++degree)
      {
        SCOPED_TRACE(
            testing::Message() << mesh.name << " " << mesh.blocks.dim << "D degree " << degree);
        const BlockLevels levels(mesh.blocks, mesh.geometry, test::tensor,
            {.degree = degree, .mapping_degree = 1, .refinements = 1, .side = dirichlet});
        const auto relaxation = made(levels, Relaxation::cells_and_lines);
        const Block &block = levels.levels()[1].grid.block;
        const auto r = test::random_vector<Number>(block, 1);
        Vector<double> wide(block), expected(block), rounded(block);
        for (std::int64_t at = 0; at < block.size(); ++at)
          wide[at] = static_cast<Compute<Number>>(r[at]);
        SeparableRelaxation<double>(levels, 1, relaxation).apply(expected, wide, 1.);
        Vector<Number> z(block);
        SeparableRelaxation<Number>(levels, 1, relaxation).apply(z, r, 1.);
        for (std::int64_t at = 0; at < block.size(); ++at)
          rounded[at] = static_cast<Compute<Number>>(z[at]);
        EXPECT_LT(test::relative_difference(rounded, expected), tolerance);
      }
  }
  TEST(Relaxation, IsTheSameInShorterNumbers)
  {
    expect_the_same<float>(1e-4);
    expect_the_same<Half>(5e-3);
  }

  // Where a line ends without a condition, the elimination subtracts numbers that are nearly equal.
  TEST(Relaxation, LinesThatEndFreely)
  {
    const BlockMesh mesh = make_block_mesh(box_cells(3, {2, 2, 2}, {-1., -1., -1.}, {1., 1., 1.}));
    const auto moved = [](const std::array<double, 3> &x) {
      double by = 0.15;
      for (const double t : x)
        by *= std::sin(3.14159265358979 * (t + 1.));
      return std::array{x[0] + by, x[1] + by, x[2] + by};
    };
    const auto one = DiffusionTensor::constant({1., 1., 1., 0., 0., 0.});
    BlockLevels::Options options{.degree = 4, .mapping_degree = 4, .refinements = 1};
    options.side = [](int boundary) { return boundary == 1 ? Side::neumann : Side::dirichlet; };
    const BlockLevels levels(mesh, BlockGeometry(mesh).mapped(8, moved), one, options);
    const std::size_t l = levels.levels().size() - 1;
    const auto lines =
        std::make_shared<const LevelRelaxation>(levels, l, RelaxationChoice{false, true, ""});
    const LevelGrid &grid = levels.levels()[l].grid;
    const auto r = pseudo_random_vector(grid);
    Vector<float> rounded(grid.block), z_single(grid.block);
    Vector<double> same(grid.block), z(grid.block);
    for (std::int64_t at = 0; at < r.size(); ++at)
    {
      rounded[at] = static_cast<float>(r[at]);
      same[at] = rounded[at];
    }
    SeparableRelaxation<double>(levels, l, lines).apply(z, same, 1.);
    SeparableRelaxation<float>(levels, l, lines).apply(z_single, rounded, 1.);
    double difference = 0., size = 0.;
    for (std::int64_t at = 0; at < r.size(); ++at)
    {
      difference = std::max(difference, std::abs(z_single[at] - z[at]));
      size = std::max(size, std::abs(z[at]));
    }
    EXPECT_LT(difference, 1e-5 * size);
  }

  TEST(Relaxation, IsChosenByTheNumbersOfTheCells)
  {
    const auto choice = [](const Mesh &mesh, const DiffusionTensor &k, std::size_t l = 2) {
      const BlockLevels levels(
          mesh.blocks, mesh.geometry, k, {.degree = 2, .mapping_degree = 2, .refinements = 2});
      return choose_relaxations(levels, Relaxation::automatic)[l];
    };
    const auto one = [](std::int64_t, const std::array<double, 3> &) {
      return SymmetricTensor{1., 1., 1., 0., 0., 0.};
    };
    const auto is = [](const RelaxationChoice &c, bool cells, bool lines, const char *reason) {
      EXPECT_EQ(c.cells, cells) << c.reason;
      EXPECT_EQ(c.lines, lines) << c.reason;
      EXPECT_NE(c.reason.find(reason), std::string::npos) << c.reason;
    };
    is(choice(box(2, {2, 1, 1}, {2., 1., 1.}), one), false, false, "directions");
    is(choice(box(2, {2, 1, 1}, {10., 1., 1.}), one), false, true,
        "directions of a cell differ by up to 25");
    is(choice(box(2, {2, 1, 1}, {2., 1., 1.}),
           [](std::int64_t block, const std::array<double, 3> &) {
             const double k = block == 0 ? 1. : 100.;
             return SymmetricTensor{k, k, k, 0., 0., 0.};
           }),
        true, false, "that of neighbours differs by up to 100");
    is(choice(box(3, {1, 1, 1}, {1., 1., 1.}),
           [](std::int64_t, const std::array<double, 3> &) {
             return SymmetricTensor{1., 1., 1., 0.9, 0.9, 0.9};
           }),
        false, true, "mixed terms of the metric are 1.27");
    const auto jumping = [](std::int64_t block, const std::array<double, 3> &) {
      const double k = block == 0 ? 1. : 100.;
      return SymmetricTensor{k, k, 0., 0.9 * k, 0., 0.};
    };
    is(choice(box(2, {2, 1, 1}, {2., 1., 1.}), jumping), true, false,
        "that of neighbours differs by up to 100");
    is(choice(box(2, {2, 1, 1}, {10., 1., 1.}), jumping), true, true,
        "directions of a cell differ by up to 25, that of neighbours differs by up to 100");
    const auto growing = [](std::int64_t, const std::array<double, 3> &x) {
      const double k = std::exp(6. * x[0]);
      return SymmetricTensor{k, k, k, 0., 0., 0.};
    };
    is(choice(box(2, {1, 1, 1}, {1., 1., 1.}), growing, 1), true, false,
        "varies in a cell by up to");
  }
} // namespace
} // namespace tensormg
