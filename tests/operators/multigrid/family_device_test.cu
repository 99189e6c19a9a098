// Every family passes the same test: here those in device memory.
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
  class DeviceFamilies : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    OwnedStream stream_;
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(DeviceFamilies, Numbers);

  TYPED_TEST(DeviceFamilies, Constant)
  {
    for (const int dim : {2, 3})
    {
      const Grid grid = make_grid(test::box(dim, 3, {2, 4, 2}, 1, "DNDD"), MPI_COMM_SELF);
      const CellBasis basis = make_cell_basis(3);
      const BoxFamily<DeviceContext> family(
          grid, basis, laplace::Backend::automatic, DeviceContext(this->stream_.get()));
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
