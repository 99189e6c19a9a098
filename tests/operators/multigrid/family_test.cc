// ranks: 1 2
// Every family passes the same test: here those in host memory.
#include "kernels/basis/make_cell_basis.h"
#include "operators/multigrid/box_family.h"
#include "tests/operators/multigrid/family_checks.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  using test::rounding;

  template <typename Number>
  class HostFamilies : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(HostFamilies, Numbers);

  BoxFamily<HostContext> constant(const Grid &grid, const CellBasis &basis)
  {
    return {grid, basis, laplace::Backend::cpu, HostContext()};
  }

  TYPED_TEST(HostFamilies, Constant)
  {
    for (const int dim : {2, 3})
    {
      const Grid grid = make_grid(test::box(dim, 3, {2, 4, 2}, 2, "DNDD"), MPI_COMM_WORLD);
      const CellBasis basis = make_cell_basis(3);
      const auto family = constant(grid, basis);
      EXPECT_EQ(family.in_single(2).size(), 2u);
      for (std::size_t l = 0; l < family.size(); ++l)
        test::check_operator<TypeParam>(family, l, true, rounding<TypeParam>);
      for (std::size_t l = 1; l < family.size(); ++l)
        test::check_transfer<TypeParam>(family, l, rounding<TypeParam>);
      test::check_coarse_solver<TypeParam>(family, 300. * rounding<TypeParam>);
      test::check_cycles<TypeParam>(family, {}, 0.2);
    }
  }
} // namespace
} // namespace tensormg
