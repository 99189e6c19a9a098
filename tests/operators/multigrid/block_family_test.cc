// Curved cells pass the test of every family, and multigrid on them needs as many iterations as are asked of it.
#include "operators/multigrid/block_family.h"

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
      const BlockFamily family(levels);
      EXPECT_EQ(family.in_single(2).size(), 2u);
      for (std::size_t l = 0; l < family.size(); ++l)
        test::check_operator<TypeParam>(family, l, true, rounding<TypeParam>);
      for (std::size_t l = 1; l < family.size(); ++l)
        test::check_transfer<TypeParam>(family, l, rounding<TypeParam>);
      test::check_coarse_solver<TypeParam>(family, 300. * rounding<TypeParam>);
      test::check_cycles<TypeParam>(family, {}, 0.4);
    }
  }

  /// To 1e-8 for a right-hand side without a structure.
  template <typename Number>
  int iterations(const BlockLevels &levels)
  {
    const BlockFamily family(levels);
    const std::size_t finest = family.size() - 1;
    MultigridImplementation<BlockFamily, Number> multigrid(family, {}, {});
    const VectorSpace space = family.make_space(finest);
    const auto op = family.make_operator<double>(finest);
    Fgmres<VectorSpace> solver(space, 1e-8, 100, 50);
    const auto b = family.make_start_vector(finest);
    auto x = space.make_vector();
    const SolveReport report = solver.solve(*op, multigrid, x, b);
    EXPECT_TRUE(report.converged()) << report.detail;
    return report.iterations;
  }

  void expect_iterations(const char *name, const BlockMesh &mesh, const BlockGeometry &geometry,
      const BlockLevels::Options &options, int most, const DiffusionTensor &k = one)
  {
    SCOPED_TRACE(testing::Message() << name << ", degree " << options.degree);
    const BlockLevels levels(mesh, geometry, k, options);
    const int of_double = iterations<double>(levels);
    EXPECT_LE(of_double, most);
    EXPECT_LE(iterations<float>(levels), of_double + 1);
    EXPECT_LE(iterations<Half>(levels), of_double + 2);
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
        {std::tuple{0.06, 2, 8}, {0.06, 3, 9}, {0.1, 2, 12}, {0.1, 3, 14}})
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

  // By 1e3 over the domain, which the coarsest level has in one cell; the pointwise smoother sees it.
  TEST(CurvedMultigrid, CoefficientsThatVary)
  {
    if (test::is_sanitized)
      return;
    const BlockMesh mesh = make_block_mesh(box_cells(3, {1, 1, 1}, {0., 0., 0.}, {1., 1., 1.}));
    const auto varying = [](std::int64_t, const std::array<double, 3> &x) {
      const double k = std::pow(10., 1.5 * std::sin(6. * x[0]) * std::cos(5. * x[1] + x[2]));
      return SymmetricTensor{k, k, k, 0., 0., 0.};
    };
    for (const auto &[degree, refinements, most] : {std::tuple{2, 4, 11}, {3, 3, 19}, {4, 3, 22}})
      expect_iterations("varying K", mesh, BlockGeometry(mesh),
          {.degree = degree, .mapping_degree = 1, .refinements = refinements}, most, varying);
  }
} // namespace
} // namespace tensormg
