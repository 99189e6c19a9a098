// Affine cells with one K each hold one metric per cell and no numbers at points, and are what the metric at points makes of the same data.
//
// ranks: 1 2
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "operators/block_multigrid/block_family.h"
#include "operators/block_solver/block_solve.h"
#include "operators/blocks/generated_mesh.h"
#include "operators/blocks/periodic.h"
#include "operators/curved/separable_numbers.h"
#include "operators/pointwise/affine_cells.h"
#include "operators/pointwise/block_problem.h"
#include "operators/pointwise/cell_variety.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  using test::Point;

  /// Sheared blocks of other sides in every direction, each third one turned: periodic in y, Dirichlet and Robin sides in x, in 3D both kinds of Neumann sides in z.
  struct Mesh
  {
    BlockMesh blocks;
    BlockGeometry geometry;
  };
  Mesh sheared(int dim)
  {
    MeshCells cells = box_cells(dim, {3, 2, dim == 3 ? 2 : 1}, {0., 0., 0.}, {1., 0.8, 0.7});
    for (std::size_t c = 0; c < cells.cells.size(); c += 3)
    {
      const auto corners = cells.cells[c];
      for (unsigned v = 0; v < 1U << dim; ++v) // (x, y, z) -> (y, 1 - x, z)
        cells.cells[c][v] = corners[(1 - (v >> 1 & 1U)) + 2 * (v & 1U) + (v & 4U)];
    }
    BlockMesh blocks = make_block_mesh(cells);
    join_boundaries(blocks, 2, 3,
        [](Point x) {
          x[1] += 0.8;
          return x;
        },
        {"2", "3"});
    BlockGeometry geometry = BlockGeometry(blocks).mapped(1, [](const Point &x) {
      return Point{x[0] + 0.3 * x[1] - 2., 1.1 * x[1] - 0.1 * x[2], 0.9 * x[2] + 0.2 * x[0]};
    });
    return {std::move(blocks), std::move(geometry)};
  }

  SymmetricTensor tensor(std::int64_t block)
  {
    const double factor = 1. + 0.5 * static_cast<double>(block % 3);
    return {2. * factor, 1.5 * factor, 3. * factor, 0.5 * factor, -0.25 * factor, 0.75 * factor};
  }

  /// Of a full tensor, a reaction and r by blocks; `known`: that they are constant in these.
  PointwiseData data_of_blocks(bool known)
  {
    DiffusionTensor::AtPoints k = [](std::int64_t block, const auto &, auto &out) {
      std::fill(out.begin(), out.end(), tensor(block));
    };
    PointwiseData data(known ? DiffusionTensor::constant_in_blocks(std::move(k))
                             : DiffusionTensor::at_points(std::move(k)));
    data.reaction = [](std::int64_t block, int, const std::vector<Point> &points) {
      return std::vector<double>(points.size(), 0.5 + static_cast<double>(block % 2));
    };
    data.robin = [](std::int64_t block, int boundary, const std::vector<Point> &points) {
      return std::vector<double>(
          points.size(), boundary == 4 ? 0. : 3. + static_cast<double>(block % 4));
    };
    data.has_numbers_of_blocks = known;
    return data;
  }

  BlockLevels::Options options_of(
      int degree, int refinements, Coarsening coarsening = Coarsening::cells)
  {
    return {.degree = degree,
        .mapping_degree = degree,
        .refinements = refinements,
        .coarsening = coarsening,
        .side = [](int boundary) { return boundary == 0 ? Side::dirichlet : Side::neumann; },
        .communicator = MPI_COMM_WORLD,
        .replicated_dofs = 0};
  }

  void expect_near(double value, double expected, double size)
  {
    EXPECT_LE(std::abs(value - expected), 1e-12 * size) << value << ' ' << expected;
  }

  /// At every point.
  void expect_the_same_metric(const BlockLevels::Level &level, const BlockLevels::Level &at_points)
  {
    const Block &block = level.grid.block;
    const PointwiseMetric &metric = level.metric, &other = at_points.metric;
    EXPECT_EQ(level.scale, at_points.scale);
    for_stacked_cells(block, [&](const std::array<std::int64_t, 3> &cell) {
      const std::int64_t row = cell[2] * block.cells[1] + cell[1], cx = cell[0];
      for (std::int64_t q = 0; q < laplace::points_of_cell(block); ++q)
      {
        const double size = other.volume(row, q, 0, cx);
        for (int number = 0; number < laplace::volume_numbers(block.dim); ++number)
          expect_near(metric.volume(row, q, number, cx), other.volume(row, q, number, cx), size);
        expect_near(metric.reaction(row, q, cx), other.reaction(row, q, cx), size);
      }
      for (int side = 0; side < 2 * block.dim; ++side)
        for (std::int64_t q = 0; q < laplace::points_of_face(block); ++q)
          for (int number = 0; number <= block.dim; ++number)
            expect_near(metric.face(row, side, q, number, cx), other.face(row, side, q, number, cx),
                10. * other.face(row, side, q, 0, cx) +
                    (number == block.dim ? other.face(row, side, q, number, cx) : 0.));
    });
    for (std::size_t c = 0; c < other.of_cells().size(); ++c)
    {
      EXPECT_NEAR(metric.of_cells()[c].kappa, other.of_cells()[c].kappa, 1e-12);
      EXPECT_NEAR(metric.of_cells()[c].quality, other.of_cells()[c].quality, 1e-12);
    }
  }

  template <typename V>
  void expect_the_same(const V &x, const V &y, double tolerance)
  {
    double largest = 0.;
    for (const double number : y)
      largest = std::max(largest, std::abs(number));
    ASSERT_EQ(std::size(x), std::size(y));
    for (std::size_t i = 0; i < std::size(x); ++i)
      ASSERT_NEAR(x.data()[i], y.data()[i], tolerance * largest) << i;
  }
  std::vector<double> numbers_of(const Vector<double> &x)
  {
    return {x.data(), x.data() + x.size()};
  }

  class AffineCells : public testing::TestWithParam<std::pair<int, int>>
  {
  protected:
    const int dim_ = GetParam().first, degree_ = GetParam().second;
    const Mesh mesh_ = sheared(dim_);
    const BlockLevels::Options options_ = options_of(degree_, 1);
    const BlockLevels levels_{mesh_.blocks, mesh_.geometry, data_of_blocks(true), options_},
        at_points_{mesh_.blocks, mesh_.geometry, data_of_blocks(false), options_};
  };

  TEST_P(AffineCells, HoldNoPoints)
  {
    for (const BlockLevels::Level &level : levels_.levels())
    {
      ASSERT_TRUE(level.has_one_metric_per_cell());
      EXPECT_EQ(level.metric.view().volume, nullptr);
      EXPECT_EQ(level.metric.view().face, nullptr);
      EXPECT_EQ(level.metric.view().reaction, nullptr);
      EXPECT_THROW(PointwiseKernel<double>{level}, std::invalid_argument);
      EXPECT_EQ(CellMeanKernel<double>::bytes(level),
          8 * laplace::border_size(level.grid.block, level.shape.per_direction));
    }
    for (const BlockLevels::Level &level : at_points_.levels())
      EXPECT_FALSE(level.has_one_metric_per_cell());
  }

  TEST_P(AffineCells, HaveTheNumbersOfPoints)
  {
    ASSERT_EQ(levels_.levels().size(), at_points_.levels().size());
    for (std::size_t l = 0; l < levels_.levels().size(); ++l)
    {
      SCOPED_TRACE(l);
      const BlockLevels::Level &level = levels_.levels()[l], &other = at_points_.levels()[l];
      expect_the_same_metric(level, other);
      expect_the_same(numbers_of(level.diagonal), numbers_of(other.diagonal), 1e-13);
      const CellVariety variety = cell_variety(level), expected = cell_variety(other);
      EXPECT_NEAR(variety.strength, expected.strength, 1e-12);
      EXPECT_NEAR(variety.shear, expected.shear, 1e-12);
      EXPECT_NEAR(variety.within, 1., 1e-12);
      EXPECT_NEAR(variety.between, expected.between, 1e-12);
      EXPECT_NEAR(variety.within_blocks, expected.within_blocks, 1e-12);
      const SeparableNumbers separable(levels_, l, false, true);
      expect_the_same(separable.lines, SeparableNumbers(at_points_, l, false, true).lines, 1e-12);
    }
    EXPECT_NO_THROW(levels_.check_held());
  }

  TEST_P(AffineCells, HaveTheOperatorsAndSmoothersOfPoints)
  {
    for (const Relaxation relaxation : {Relaxation::diagonal, Relaxation::cells_and_lines})
    {
      const BlockFamily<> family(levels_, {.relaxation = relaxation}),
          other(
              at_points_, {.relaxation = relaxation, .cycle_operator = CycleOperator::true_metric});
      EXPECT_TRUE(family.cycle_operator().is_exact && family.cycle_operator().is_cell_mean);
      for (std::size_t l = 0; l < family.size(); ++l)
      {
        const auto op = family.make_operator<double>(l), expected = other.make_operator<double>(l);
        const Vector<double> x = family.make_start_vector(l);
        Vector<double> y(x.block()), z(x.block());
        op->chebyshev_step(y, x, nullptr, x, 0.5, 0.7);
        expected->chebyshev_step(z, x, nullptr, x, 0.5, 0.7);
        expect_the_same(numbers_of(y), numbers_of(z), 1e-11);
      }
    }
  }

  TEST_P(AffineCells, HaveTheSolutionOfPoints)
  {
    SolverOptions options;
    options.tolerance = 1e-11;
    const auto solved = [&](const BlockLevels &levels) {
      const Vector<double> b = pseudo_random_vector(levels.levels().back().grid);
      Vector<double> x(b.block());
      const SolveReport report = make_block_solver(levels, options, x, b)->solve(x, b, Start::zero);
      EXPECT_TRUE(report.converged());
      return std::pair{report.iterations, numbers_of(x)};
    };
    const auto [iterations, x] = solved(levels_);
    const auto [of_points, y] = solved(at_points_);
    EXPECT_LE(std::abs(iterations - of_points), 1);
    expect_the_same(x, y, 1e-9);
  }

  INSTANTIATE_TEST_SUITE_P(Degrees, AffineCells,
      testing::Values(
          std::pair{2, 1}, std::pair{2, 4}, std::pair{3, 1}, std::pair{3, 2}, std::pair{3, 3}));

  // Below level 0, with the same vertices.
  TEST(AffineCells, HaveTheVerticesOfPoints)
  {
    const Mesh mesh = sheared(3);
    const BlockLevels::Options options = options_of(2, 1, Coarsening::vertices);
    const BlockLevels levels(mesh.blocks, mesh.geometry, data_of_blocks(true), options),
        at_points(mesh.blocks, mesh.geometry, data_of_blocks(false), options);
    EXPECT_TRUE(levels.levels().front().has_one_metric_per_cell());
    const SparseRows a = levels.vertices()->matrix(levels),
                     b = at_points.vertices()->matrix(at_points);
    EXPECT_EQ(a.columns, b.columns);
    expect_the_same(a.values, b.values, 1e-13);
  }

  // K as a mean of cells belongs to those of the finest level alone.
  TEST(AffineCells, WithMeansOfTheFinestCells)
  {
    const Mesh mesh = sheared(3);
    PointwiseData data([](std::int64_t, const Point &x) {
      const double k = 1. + 0.2 * x[0] * x[1];
      return SymmetricTensor{k, 2. * k, k, 0., 0., 0.1 * k};
    });
    data.means_of_k = {2, 6};
    const BlockLevels levels(mesh.blocks, mesh.geometry, data, options_of(2, 1));
    ASSERT_GE(levels.levels().size(), 2u);
    for (const BlockLevels::Level &level : levels.levels())
      EXPECT_EQ(level.has_one_metric_per_cell(), &level == &levels.levels().back());
    PointwiseData unknown = data;
    unknown.reaction = [](auto, int, const std::vector<Point> &points) {
      return std::vector<double>(points.size(), 0.);
    };
    const BlockLevels at_points(mesh.blocks, mesh.geometry, unknown, options_of(2, 1));
    EXPECT_FALSE(at_points.levels().back().has_one_metric_per_cell());
    expect_the_same_metric(levels.levels().back(), at_points.levels().back());
  }

  TEST(AffineCells, AreFoundByTheirNodes)
  {
    EXPECT_TRUE(are_affine(sheared(2).geometry) && are_affine(sheared(3).geometry));
    EXPECT_TRUE(are_affine(sheared(3).geometry.split()));
    EXPECT_TRUE(
        are_affine(generate_mesh(3, "subdivided_hyper_cube", "3 : -1 : 2 : false", 9).geometry));
    EXPECT_FALSE(are_affine(generate_mesh(2, "hyper_ball", "0,0 : 1 : false", 9).geometry));
    const BlockMesh box = make_block_mesh(box_cells(3, {1, 2, 1}, {0., 0., 0.}, {1., 1., 1e-3}));
    EXPECT_TRUE(are_affine(BlockGeometry(box)));
    EXPECT_FALSE(are_affine(BlockGeometry(box).moved([](auto &) {}))); // whatever that does
    // One node, of the second block, out of place by some part of its height.
    for (const auto &[part, expected] : {std::pair{1e-14, true}, {1e-10, false}})
      EXPECT_EQ(are_affine(BlockGeometry(box).mapped(2,
                    [part = part](Point x) {
                      x[2] += x[1] == 0.75 && x[0] == 0.5 && x[2] == 1e-3 ? 1e-3 * part : 0.;
                      return x;
                    })),
          expected);
    EXPECT_FALSE(are_affine(BlockGeometry(box).mapped(1, [](const Point &x) { // left-handed
      return Point{x[1], x[0], x[2]};
    })));
  }

  TEST(AffineCells, AreThoseOfKnownData)
  {
    EXPECT_TRUE(is_constant_in_cells(data_of_blocks(true), 4));
    EXPECT_FALSE(is_constant_in_cells(data_of_blocks(false), 4));
    const DiffusionTensor one = DiffusionTensor::constant({1., 1., 1., 0., 0., 0.});
    PointwiseData data(one);
    EXPECT_TRUE(is_constant_in_cells(data, 4));
    data.averages = FaceAverage::harmonic;
    EXPECT_FALSE(is_constant_in_cells(data, 4));
    EXPECT_FALSE(is_constant_in_cells(PointwiseData(one, data_of_blocks(true).reaction), 4));
  }

  // What problems say of their meshes and expressions before anything is refined.
  TEST(AffineCells, AreForeseen)
  {
    const auto sizes = [](const std::string &map, const std::string &k, const std::string &c = "",
                           InCell in_cell = InCell::constant) {
      Problem p;
      p.refinements = 2;
      p.cell_coefficient[0] = k;
      p.coefficient_in_cell = in_cell;
      p.reaction = c;
      MeshOptions mesh;
      mesh.type = MeshType::mapped;
      mesh.map = {map, "2*y - z/4 + pi", "-(3*x - z)/(1 + 1)"};
      const BlockSizes result = sizes_of(make_divided_problem(p, mesh, MPI_COMM_SELF), 1);
      return std::pair{result.has_affine_cells, result.has_affine_coarse_cells};
    };
    const std::pair all{true, true}, none{false, false};
    EXPECT_EQ(sizes("x + 0.3*y", "2 + material"), all);
    EXPECT_EQ(sizes("x + 0.3*y", "", "3"), all);
    EXPECT_EQ(sizes("x + 0.3*y", "1 + x^2"), none);
    EXPECT_EQ(sizes("x + 0.3*y", "", "x"), none);
    EXPECT_EQ(sizes("x + 0.3*y*y", ""), none);
    EXPECT_EQ(sizes("x + 0.1*sin(4*pi*x)", ""), none); // zero at all corners
    EXPECT_EQ(sizes("x + 0.3*y", "1 + x^2", "", InCell::mean), (std::pair{true, false}));
  }

  // The plan has what the levels hold.
  TEST(AffineCells, ArePlanned)
  {
    const Mesh mesh = sheared(3);
    for (const bool known : {true, false})
      for (const int degree : {1, 3})
      {
        BlockLevels::Options options = options_of(degree, 2);
        options.communicator = MPI_COMM_SELF;
        const BlockLevels levels(mesh.blocks, mesh.geometry, data_of_blocks(known), options);
        double bytes = 0.;
        for (const BlockLevels::Level &level : levels.levels())
        {
          const Block &block = level.grid.block;
          bytes += 8. *
              static_cast<double>(block.size() +
                  (known ? laplace::cell_mean_size(block)
                         : laplace::volume_size(block) + laplace::face_size(block) +
                              laplace::reaction_size(block)));
        }
        const MemoryPlan plan = make_memory_plan({.degree = degree,
                                                     .n_blocks = mesh.blocks.n_blocks(),
                                                     .refinements = 2,
                                                     .has_reaction = true,
                                                     .has_affine_cells = known,
                                                     .has_affine_coarse_cells = known},
            {});
        for (const MemoryItem &item : plan.items)
          if (item.name == "metric and diagonal of all levels")
            bytes -= item.bytes;
        EXPECT_EQ(bytes, 0.);
      }
  }
} // namespace
} // namespace tensormg
