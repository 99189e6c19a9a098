// Curved cells pass the test of every family, and multigrid on them needs as many iterations as are asked of it.
#include "operators/multigrid/block_family.h"

#include <gtest/gtest.h>

#include "solvers/fgmres.h"
#include "tests/operators/multigrid/family_checks.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  constexpr double rounding = sizeof(Number) == 8 ? 1e-12
      : sizeof(Number) == 4                       ? 1e-5
                                                  : 2e-2;

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
      const GeneratedMesh mesh = generate_mesh(dim, name, arguments, 6);
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

  TEST(CurvedMultigrid, Iterations)
  {
    struct Case
    {
      int dim;
      const char *name, *arguments;
      int degree, refinements, most;
    };
    for (const Case &c : {Case{2, "hyper_ball", "0,0 : 1 : false", 3, 4, 13},
             {2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", 3, 4, 10},
             {3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 2, 3, 13},
             {3, "hyper_ball", "0,0,0 : 1 : false", 2, 3, 13},
             {3, "hyper_ball", "0,0,0 : 1 : false", 3, 2, 13}})
    {
      const GeneratedMesh mesh = generate_mesh(c.dim, c.name, c.arguments, 8);
      const BlockLevels levels(mesh.blocks, mesh.geometry, one,
          {.degree = c.degree, .mapping_degree = c.degree, .refinements = c.refinements});
      const int of_double = iterations<double>(levels), of_single = iterations<float>(levels),
                of_half = iterations<Half>(levels);
      EXPECT_LE(of_double, c.most) << c.name << ' ' << c.dim << ' ' << c.degree;
      EXPECT_LE(of_single, of_double + 1);
      EXPECT_LE(of_half, of_double + 2);
      std::printf("%s %dD p=%d, %d refinements: %d %d %d\n", c.name, c.dim, c.degree, c.refinements,
          of_double, of_single, of_half);
    }
  }
} // namespace
} // namespace tensormg
