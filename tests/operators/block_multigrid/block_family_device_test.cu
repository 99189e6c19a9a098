// The family of curved cells passes the test of families in device memory.
#include "operators/block_multigrid/block_family.h"
#include "tests/operators/multigrid/family_checks.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  using test::rounding;

  template <typename Number>
  class DeviceBlockFamily : public testing::Test
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
  TYPED_TEST_SUITE(DeviceBlockFamily, Numbers);

  TYPED_TEST(DeviceBlockFamily, IsAFamily)
  {
    for (const int dim : {2, 3})
    {
      const NamedMesh mesh = dim == 2
          ? generate_mesh(2, "hyper_ball", "0,0 : 1 : false", 6)
          : generate_mesh(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 6);
      const BlockLevels levels(mesh.blocks, mesh.geometry, test::tensor,
          {.degree = 2, .mapping_degree = 2, .refinements = dim == 2 ? 2 : 1});
      const DeviceContext context(this->stream_.get());
      for (const Relaxation relaxation :
          {Relaxation::diagonal, Relaxation::cells, Relaxation::lines, Relaxation::cells_and_lines})
      {
        SCOPED_TRACE(testing::Message() << dim << "D, smoother " << int(relaxation));
        const BlockFamily<DeviceContext> family(levels, {.relaxation = relaxation}, context);
        for (std::size_t l = 0; l < family.size(); ++l)
          test::check_operator<TypeParam>(family, l, true, rounding<TypeParam>);
        test::check_cycles<TypeParam>(family, {}, 0.4);
        if (relaxation != Relaxation::diagonal)
          continue;
        for (std::size_t l = 1; l < family.size(); ++l)
          test::check_transfer<TypeParam>(family, l, rounding<TypeParam>);
        test::check_coarse_solver<TypeParam>(family, 300. * rounding<TypeParam>);
      }
    }
  }
} // namespace
} // namespace tensormg
