// Shapes of curved cells, and points in them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include <deal.II/fe/mapping_q1.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <gtest/gtest.h>

#include "operators/analysis/cell_shape.h"
#include "operators/analysis/point_search.h"
#include "operators/blocks/generated_mesh.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;

  /// The unit cell, as nodes of this degree, where f moves it.
  template <typename F>
  CellShape shape_of(int dim, int degree, const F &f)
  {
    BlockMesh mesh;
    mesh.dim = dim;
    mesh.corners.emplace_back();
    for (unsigned v = 0; v < 8; ++v)
      mesh.corners[0][v] = {double(v & 1U), double(v >> 1U & 1U), double(v >> 2U & 1U)};
    const BlockGeometry geometry = BlockGeometry(mesh).mapped(degree, f);
    return CellShapes(geometry, {1, degree}).of({});
  }

  void expect_shape(const CellShape &shape, double smallest, double largest, double aspect)
  {
    EXPECT_NEAR(shape.smallest_angle, smallest, 1e-8);
    EXPECT_NEAR(shape.largest_angle, largest, 1e-8);
    EXPECT_NEAR(shape.aspect_ratio, aspect, 1e-7 * aspect);
  }

  TEST(CellShape, ParallelogramsAndBoxes)
  {
    const double c = 0.5, s = std::sqrt(0.75);
    for (const int degree : {1, 3})
    {
      // J J^T has the eigenvalues 1 + 1/2 and 1 - 1/2.
      const auto sheared = [&](const Point &x) { return Point{x[0] + c * x[1], s * x[1], x[2]}; };
      expect_shape(shape_of(2, degree, sheared), 60., 120., std::sqrt(3.));
      expect_shape(shape_of(3, degree, sheared), 60., 120., std::sqrt(3.));
      for (const double thin : {0.1, 1e-4})
        for (const int dim : {2, 3})
          expect_shape(shape_of(dim, degree,
                           [&](const Point &x) {
                             return Point{2. * x[0], thin * x[1], x[2]};
                           }),
              90., 90., 2. / thin);
    }
  }

  // A sector of 60 degrees between r = 1 and 3: tangents meet at right angles, chords do not, and r dphi : dr is pi : 2 at the outer circle.
  TEST(CellShape, CurvedEdgesMeetByTheirTangents)
  {
    const auto sector = [](const Point &x) {
      const double r = 1. + 2. * x[0], phi = std::numbers::pi / 3. * x[1];
      return Point{r * std::cos(phi), r * std::sin(phi), x[2]};
    };
    const CellShape curved = shape_of(2, 8, sector), straight = shape_of(2, 1, sector);
    EXPECT_NEAR(curved.smallest_angle, 90., 1e-3);
    EXPECT_NEAR(curved.aspect_ratio, 6. / std::numbers::pi, 1e-3); // at the inner one
    EXPECT_NEAR(straight.smallest_angle, 60., 1e-10);
    EXPECT_NEAR(straight.largest_angle, 120., 1e-10);
  }

  TEST(CellShape, DegenerateCorners)
  {
    // Two edges in one line; a corner at which an edge has no length.
    const CellShape triangle = shape_of(2, 1, [](const Point &x) {
      return x[0] + x[1] == 2. ? Point{0.5, 0.5, 0.} : x;
    });
    EXPECT_NEAR(triangle.largest_angle, 180., 1e-6);
    EXPECT_GT(triangle.aspect_ratio, 1e8);
    const CellShape point = shape_of(2, 1, [](const Point &x) {
      return Point{x[0] * (1. - x[1]), x[1], 0.};
    });
    EXPECT_EQ(point.smallest_angle, 0.);
    EXPECT_TRUE(std::isinf(point.aspect_ratio));
  }

  // With the same points deal.II has the same aspect ratios.
  TEST(CellShape, AspectRatiosOfDealii)
  {
    dealii::Triangulation<3> tria;
    dealii::GridGenerator::hyper_ball(tria);
    tria.reset_all_manifolds();
    tria.refine_global(1);
    std::vector<dealii::Point<3>> points{{0.5, 0.5, 0.5}};
    for (unsigned v = 0; v < 8; ++v)
      points.emplace_back(v & 1U, v >> 1U & 1U, v >> 2U & 1U);
    const dealii::Vector<double> of_cells = dealii::GridTools::compute_aspect_ratio_of_cells(
        dealii::MappingQ1<3>(), tria, dealii::Quadrature<3>(points));
    std::vector<double> expected(of_cells.begin(), of_cells.end()), found;
    const NamedMesh mesh = generate_mesh(3, "hyper_ball", "0,0,0 : 1 : false", 1);
    const BlockLevel level{2, 1};
    const CellShapes shapes(mesh.geometry, level);
    for_each_cell(mesh.geometry, level,
        [&](const CellPlace &place) { found.push_back(shapes.of(place).aspect_ratio); });
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t c = 0; c < found.size(); ++c)
      EXPECT_NEAR(found[c], expected[c], 1e-10);
  }

  /// Finds points of random reference coordinates of all cells again, and those of sides, edges and corners in all cells that have them.
  void expect_found(const BlockGeometry &geometry, const BlockLevel &level)
  {
    std::mt19937 generator(1);
    std::uniform_real_distribution<double> uniform(0., 1.);
    const PointSearch search(geometry.dim(), level.mapping_degree);
    const std::vector<double> line = lobatto_nodes(level.mapping_degree);
    for_each_cell(geometry, level, [&](const CellPlace &place) {
      const std::vector<Point> nodes = cell_nodes(geometry, level, place.block, place.cell);
      for (int i = 0; i < 20; ++i)
      {
        Point reference{uniform(generator), uniform(generator), uniform(generator)};
        for (int d = 0; d < geometry.dim() && i >= 10; ++d)
          if (i % 2 == 0 || d == i % 3)
            reference[d] = std::round(reference[d]);
        std::vector<Point> at = nodes;
        for (int d = 0; d < geometry.dim(); ++d)
          at = contracted(at, lagrange_values(line, {reference[d]}), 1, line.size());
        const auto found = search.in_cell(nodes, at.front());
        ASSERT_TRUE(found) << "block " << place.block << ", reference " << reference[0] << ' '
                           << reference[1] << ' ' << reference[2];
        for (int d = 0; d < geometry.dim(); ++d)
          EXPECT_NEAR((*found)[d], reference[d], 1e-6);
      }
    });
  }

  BlockGeometry mapped(int dim, const std::vector<int> &cells, int degree,
      const std::function<Point(const Point &)> &f)
  {
    BlockMesh mesh;
    mesh.dim = dim;
    for (int z = 0; z < (dim == 3 ? cells[2] : 1); ++z)
      for (int y = 0; y < cells[1]; ++y)
        for (int x = 0; x < cells[0]; ++x)
        {
          auto &corners = mesh.corners.emplace_back();
          for (unsigned v = 0; v < 8; ++v)
            corners[v] = {double(x + int(v & 1U)) / cells[0],
                double(y + int(v >> 1U & 1U)) / cells[1],
                dim == 3 ? double(z + int(v >> 2U)) / cells[2] : 0.};
        }
    return BlockGeometry(mesh).mapped(degree, f);
  }

  TEST(PointSearch, Balls)
  {
    for (const int degree : {1, 2, 5})
      expect_found(
          generate_mesh(3, "hyper_ball", "0,0,0 : 1 : false", degree).geometry, {1, degree});
    expect_found(generate_mesh(2, "hyper_ball", "0,0 : 1 : false", 7).geometry, {2, 7});
  }

  TEST(PointSearch, KershawsCube)
  {
    const double e = 0.05;
    const auto left = [=](double y) { return y < 0.5 ? e * y : 1. - (2. - e) * (1. - y); };
    const auto right = [=](double y) { return y <= 0.5 ? (2. - e) * y : 1. + e * (y - 1.); };
    const auto moved = [&](double x, double y) {
      const double l = left(y), r = right(y), s = 6. * x;
      return s <= 1. ? l
          : s < 2.   ? l + (r - l) * (s - 1.)
          : s < 4.   ? r + (l - r) * (s - 2.) / 2.
          : s < 5.   ? l + (r - l) * (s - 4.)
                     : r;
    };
    expect_found(mapped(3, {6, 2, 2}, 1,
                     [&](const Point &x) {
                       return Point{x[0], moved(x[0], x[1]), moved(x[0], x[2])};
                     }),
        {1, 1});
  }

  // One cell that is bent by sines until det J is small, and one that is wound into a spiral of 300 degrees.
  TEST(PointSearch, CellsThatAreFarFromParallelepipeds)
  {
    const auto sine = [](const Point &x) {
      Point y = x;
      for (double &coordinate : y)
        coordinate += 0.075 * std::sin(2. * std::numbers::pi * x[0]) *
            std::sin(2. * std::numbers::pi * x[1]) * std::sin(2. * std::numbers::pi * x[2]);
      return y;
    };
    for (const int degree : {3, 6})
      expect_found(mapped(3, {1, 1, 1}, degree, sine), {1, degree});
    const auto spiral = [](const Point &x) {
      const double phi = 5. * std::numbers::pi / 3. * x[1], r = 0.3 + 0.4 * x[0] + 0.2 * x[1];
      return Point{r * std::cos(phi), r * std::sin(phi), x[2]};
    };
    expect_found(mapped(2, {1, 1}, 9, spiral), {1, 9});
    expect_found(mapped(3, {1, 1, 1}, 9, spiral), {1, 9});
  }

  // A line through many cells, whose points are searched in groups, and points without an order: in the cells that each by itself is found in.
  TEST(PointSearch, ManyPoints)
  {
    const NamedMesh ball = generate_mesh(3, "hyper_ball", "0,0,0 : 1 : false", 3);
    const BlockLevel level{2, 3};
    std::vector<Point> points;
    for (int i = 0; i <= 600; ++i)
      points.push_back({-1.2 + 0.004 * i, 0.2 - 0.001 * i, 0.1 + 0.0005 * i});
    std::mt19937 generator(1);
    std::uniform_real_distribution<double> uniform(-1., 1.);
    for (int i = 0; i < 200; ++i)
      points.push_back({uniform(generator), uniform(generator), uniform(generator)});
    const auto found = find_points(ball.geometry, level, points);
    const PointSearch search(3, 3);
    std::vector<std::size_t> expected(points.size(), 0);
    for_each_cell(ball.geometry, level, [&](const CellPlace &place) {
      const std::vector<Point> nodes = cell_nodes(ball.geometry, level, place.block, place.cell);
      for (std::size_t p = 0; p < points.size(); ++p)
        expected[p] += search.in_cell(nodes, points[p]) ? 1 : 0;
    });
    EXPECT_GT(std::count(expected.begin(), expected.end(), 1), 500);
    for (std::size_t p = 0; p < points.size(); ++p)
      EXPECT_EQ(found[p].size(), expected[p]) << p;
  }

  TEST(PointSearch, PointsThatAreNotInside)
  {
    const NamedMesh ring = generate_mesh(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", 4);
    const std::vector<Point> points{{0.1, 0.2, 0.}, {1.0001, 0., 0.}, {0.49999, 0., 0.},
        {0.75, 0., 0.}, {0.1, 0.7, 0.}, {1., 0., 0.}, {1e10, 0., 0.}};
    const auto found = find_points(ring.geometry, {4, 4}, points);
    std::vector<std::size_t> counts;
    for (const auto &cells : found)
      counts.push_back(cells.size());
    EXPECT_EQ(counts, (std::vector<std::size_t>{0, 0, 0, 4, 1, 2, 0}));
  }
} // namespace
} // namespace tensormg
