// Curved cells pass the test of every family with each smoother, and multigrid on them needs as many iterations as are asked of it.
#include "operators/block_multigrid/block_family.h"

#include <cmath>
#include <numbers>
#include <tuple>

#include <gtest/gtest.h>

#include "solvers/fgmres.h"
#include "tests/operators/multigrid/family_checks.h"
#include "tests/operators/pointwise/setting.h"
#include "tests/support/sanitized.h"

namespace tensormg
{
namespace
{
  using test::rounding;

  SymmetricTensor one(std::int64_t /*block*/, const std::array<double, 3> & /*point*/)
  {
    return {1., 1., 1., 0., 0., 0.};
  }

  template <typename Number>
  class CurvedFamily : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(CurvedFamily, Numbers);

  TYPED_TEST(CurvedFamily, IsAFamily)
  {
    for (const auto &[dim, name, arguments] : {std::tuple{2, "hyper_ball", "0,0 : 1 : false"},
             {3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true"}})
    {
      const NamedMesh mesh = generate_mesh(dim, name, arguments, 6);
      const BlockLevels levels(mesh.blocks, mesh.geometry, test::tensor,
          {.degree = 2, .mapping_degree = 2, .refinements = dim == 2 ? 3 : 2});
      const BlockFamily<> family(levels);
      EXPECT_EQ(family.in_single(2).size(), 2u);
      for (std::size_t l = 1; l < family.size(); ++l)
        test::check_transfer<TypeParam>(family, l, rounding<TypeParam>);
      test::check_coarse_solver<TypeParam>(family, 300. * rounding<TypeParam>);
      for (const Relaxation relaxation :
          {Relaxation::diagonal, Relaxation::cells, Relaxation::lines, Relaxation::cells_and_lines})
      {
        SCOPED_TRACE(testing::Message() << name << " smoother " << int(relaxation));
        const BlockFamily<> with(levels, {.relaxation = relaxation});
        for (std::size_t l = 0; l < with.size(); ++l)
          test::check_operator<TypeParam>(with, l, true, rounding<TypeParam>);
        test::check_cycles<TypeParam>(with, {}, 0.4);
      }
    }
  }

  /// For a right-hand side without a structure.
  template <typename Number>
  int iterations(
      const BlockLevels &levels, double tolerance, CycleOperator which = CycleOperator::true_metric)
  {
    const BlockFamily<> family(levels, {.cycle_operator = which});
    const std::size_t finest = family.size() - 1;
    MultigridImplementation<BlockFamily<>, Number> multigrid(family, {}, {});
    const VectorSpace space = family.make_space(finest);
    PointwiseOperator<double> op(levels, finest);
    Fgmres<VectorSpace> solver(space, tolerance, 100, 50);
    const auto b = family.make_start_vector(finest);
    auto x = space.make_vector();
    const SolveReport report = solver.solve(op, multigrid, x, b);
    EXPECT_TRUE(report.converged()) << report.detail;
    return report.iterations;
  }

  void expect_iterations(const char *name, const BlockMesh &mesh, const BlockGeometry &geometry,
      const BlockLevels::Options &options, int most, const DiffusionTensor &k = one,
      double tolerance = 1e-8)
  {
    SCOPED_TRACE(testing::Message() << name << ", degree " << options.degree);
    const BlockLevels levels(mesh, geometry, k, options);
    const int of_double = iterations<double>(levels, tolerance);
    EXPECT_LE(of_double, most);
    EXPECT_LE(iterations<float>(levels, tolerance), of_double + 1);
    EXPECT_LE(iterations<Half>(levels, tolerance), of_double + 2);
    // With one metric per cell where that is chosen.
    EXPECT_LE(iterations<float>(levels, tolerance, CycleOperator::automatic), of_double * 3 / 2);
  }

  TEST(CurvedMultigrid, ShellsAndBalls)
  {
    struct Case
    {
      int dim;
      const char *name, *arguments;
      int degree, refinements, most;
    };
    for (const Case &c : {Case{2, "hyper_ball", "0,0 : 1 : false", 3, 4, 9},
             {2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", 4, 3, 8},
             {3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 2, 3, 8},
             {3, "hyper_ball", "0,0,0 : 1 : false", 2, 3, 8},
             {3, "hyper_ball", "0,0,0 : 1 : false", 3, 2, 9}})
    {
      const NamedMesh mesh = generate_mesh(c.dim, c.name, c.arguments, 8);
      expect_iterations(c.name, mesh.blocks, mesh.geometry,
          {.degree = c.degree, .mapping_degree = c.degree, .refinements = c.refinements}, c.most);
    }
  }

  // x + a sin(2 pi x) sin(2 pi y) sin(2 pi z) in each direction.
  TEST(CurvedMultigrid, MappedCubes)
  {
    if (test::is_sanitized)
      return;
    const BlockMesh mesh = make_block_mesh(box_cells(3, {1, 1, 1}, {0., 0., 0.}, {1., 1., 1.}));
    for (const auto &[a, degree, most] :
        {std::tuple{0.06, 2, 8}, {0.06, 3, 9}, {0.1, 2, 9}, {0.1, 3, 10}})
    {
      const auto moved = [a = a](const std::array<double, 3> &x) {
        double by = a;
        for (const double t : x)
          by *= std::sin(2. * std::numbers::pi * t);
        return std::array{x[0] + by, x[1] + by, x[2] + by};
      };
      expect_iterations("mapped", mesh, BlockGeometry(mesh).mapped(10, moved),
          {.degree = degree, .mapping_degree = degree, .refinements = 3}, most);
    }
  }

  // By 1e3 over the domain, which the coarsest level has in one cell.
  TEST(CurvedMultigrid, CoefficientsThatVary)
  {
    if (test::is_sanitized)
      return;
    const BlockMesh mesh = make_block_mesh(box_cells(3, {1, 1, 1}, {0., 0., 0.}, {1., 1., 1.}));
    const auto varying = [](std::int64_t, const std::array<double, 3> &x) {
      const double k = std::pow(10., 1.5 * std::sin(6. * x[0]) * std::cos(5. * x[1] + x[2]));
      return SymmetricTensor{k, k, k, 0., 0., 0.};
    };
    for (const auto &[degree, refinements, most] : {std::tuple{2, 4, 7}, {3, 3, 10}, {4, 3, 11}})
      expect_iterations("varying K", mesh, BlockGeometry(mesh),
          {.degree = degree, .mapping_degree = 1, .refinements = refinements}, most, varying);
  }

  struct Mapped
  {
    BlockMesh mesh;
    BlockGeometry geometry;
    Mapped(int dim, const std::array<std::int64_t, 3> &cells, int degree,
        const std::function<std::array<double, 3>(std::array<double, 3>)> &f)
      : mesh(make_block_mesh(box_cells(dim, cells, {0., 0., 0.}, {1., 1., 1.})))
      , geometry(BlockGeometry(mesh).mapped(degree, f))
    {}
  };

  // Lines go through all blocks. To 1e-10: what is published for the sine map and the boundary layer is so, ExaDG, applications/poisson/sine and pull 622.
  TEST(CurvedMultigrid, ShearedAndStretchedCells)
  {
    if (test::is_sanitized)
      return;
    const Mapped sine(3, {2, 2, 2}, 10, [](std::array<double, 3> x) {
      double by = 0.075;
      for (const double t : x)
        by *= std::sin(2. * std::numbers::pi * t);
      return std::array{x[0] + by, x[1] + by, x[2] + by};
    });
    const Mapped layer(3, {2, 2, 2}, 14, [](std::array<double, 3> x) {
      x[1] = 0.5 + 0.5 * std::tanh(2.8 * (2. * x[1] - 1.)) / std::tanh(2.8);
      return x;
    });
    for (const auto &[degree, most] : {std::pair{2, 8}, {3, 9}})
      expect_iterations("sine", sine.mesh, sine.geometry,
          {.degree = degree, .mapping_degree = degree, .refinements = 2}, most, one, 1e-10);
    for (const auto &[degree, most] : {std::pair{2, 10}, {3, 9}})
      expect_iterations("layer", layer.mesh, layer.geometry,
          {.degree = degree, .mapping_degree = degree, .refinements = 2}, most, one, 1e-10);
    const NamedMesh shell = generate_mesh(3, "hyper_shell", "0,0,0 : 0.9 : 1 : 6 : true", 8);
    expect_iterations("thin shell", shell.blocks, shell.geometry,
        {.degree = 2, .mapping_degree = 2, .refinements = 2}, 6);
  }

  /// Kershaw's map with the smallest cells `least` times the mean ones: D. Kershaw, J. Comput. Phys. 39 (1981), as in the CEED benchmarks.
  std::array<double, 3> kershaw(double least, std::array<double, 3> x, int dim)
  {
    const int layer = std::min(5, static_cast<int>(6. * x[0] + 1e-9));
    const double within = 6. * x[0] - layer;
    for (int d = 1; d < dim; ++d)
    {
      const auto right = [least](double t) {
        return t <= 0.5 ? (2. - least) * t : 1. + least * (t - 1.);
      };
      const double r = right(x[d]), l = 1. - right(1. - x[d]);
      const std::array<double, 6> of_right{
          0., within, 1. - within / 2., 0.5 - within / 2., within, 1.};
      x[d] = l + (r - l) * of_right[static_cast<std::size_t>(layer)];
    }
    return x;
  }

  TEST(CurvedMultigrid, KershawsMaps)
  {
    if (test::is_sanitized)
      return;
    for (const auto &[least, dim, degree, most] :
        {std::tuple{0.3, 2, 3, 15}, {0.05, 2, 3, 25}, {0.3, 3, 2, 23}})
    {
      const Mapped mapped(dim, {6, dim == 2 ? 2 : 4, dim == 2 ? 1 : 4}, 1,
          [least = least, dim = dim](std::array<double, 3> x) { return kershaw(least, x, dim); });
      expect_iterations("Kershaw", mapped.mesh, mapped.geometry,
          {.degree = degree, .mapping_degree = 1, .refinements = dim == 2 ? 3 : 1}, most);
    }
  }

  TEST(CurvedMultigrid, RotatedTensorsAndJumps)
  {
    if (test::is_sanitized)
      return;
    const BlockMesh cube = make_block_mesh(box_cells(3, {1, 1, 1}, {0., 0., 0.}, {1., 1., 1.})),
                    blocks = make_block_mesh(box_cells(3, {4, 4, 4}, {0., 0., 0.}, {1., 1., 1.}));
    const auto rotated = [](std::int64_t, const std::array<double, 3> &) {
      return SymmetricTensor{34., 34., 34., 33., 33., 33.}; // 100 along (1, 1, 1)
    };
    expect_iterations("rotated", cube, BlockGeometry(cube),
        {.degree = 2, .mapping_degree = 1, .refinements = 3}, 17, rotated);
    const auto checkerboard = [](std::int64_t b, const std::array<double, 3> &) {
      const double k = (b % 4 + b / 4 % 4 + b / 16) % 2 == 0 ? 1. : 1e4;
      return SymmetricTensor{k, k, k, 0., 0., 0.};
    };
    const auto inclusions = [](std::int64_t b, const std::array<double, 3> &) {
      const double k = b == 5 || b == 10 || b == 27 || b == 42 ? 1e4 : 1.;
      return SymmetricTensor{k, k, k, 0., 0., 0.};
    };
    for (const auto &[k, most] :
        {std::pair<DiffusionTensor, int>{checkerboard, 8}, {inclusions, 7}})
      expect_iterations("jumps", blocks, BlockGeometry(blocks),
          {.degree = 2, .mapping_degree = 1, .refinements = 1}, most, k);
  }

  // A part of a shell in flat cells, half of them stiff: cells and lines, where lines pass cells that stiffer neighbours hold. With these in the lines 15, 19 and 25, in half precision 24, 30 and 49.
  TEST(CurvedMultigrid, JumpsBetweenCurvedBlocks)
  {
    if (test::is_sanitized)
      return;
    const auto checkerboard = [](std::int64_t b, const std::array<double, 3> &) {
      const double k = (b % 2 + b / 2 % 2 + b / 4) % 2 == 0 ? 1. : 1e4;
      return SymmetricTensor{k, k, k, 0., 0., 0.};
    };
    for (const auto &[inner, degree, most, most_in_half] :
        {std::tuple{0.7, 2, 8, 12}, {0.7, 3, 10, 18}, {0.9, 3, 17, 29}})
    {
      const Mapped shell(3, {2, 2, 2}, 8, [inner = inner](std::array<double, 3> x) {
        const double a = std::tan(std::numbers::pi / 4. * (2. * x[0] - 1.)),
                     b = std::tan(std::numbers::pi / 4. * (2. * x[1] - 1.)),
                     s = (inner + (1. - inner) * x[2]) / std::sqrt(1. + a * a + b * b);
        return std::array{s * a, s * b, s};
      });
      const BlockLevels levels(shell.mesh, shell.geometry, checkerboard,
          {.degree = degree, .mapping_degree = degree, .refinements = 2});
      EXPECT_LE(iterations<double>(levels, 1e-8), most);
      EXPECT_LE(iterations<float>(levels, 1e-8), most);
      EXPECT_LE(iterations<Half>(levels, 1e-8), most_in_half);
    }
  }
} // namespace
} // namespace tensormg
