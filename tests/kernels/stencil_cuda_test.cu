// Stencils on a device against the reference, for all shapes and odd sizes.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/core/device.h"
#include "kernels/stencil/stencil.h"
#include "tests/support/stencil_cases.h"

namespace tensormg
{
namespace
{
  using namespace stencil;

  class StencilCuda : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  template <typename Number>
  using Kernel = void(const Stencil &, const Grid &, const Number *, Number *, Stream);

  template <typename Number>
  void check(Kernel<Number> *kernel, const Stencil &stencil, const Grid &grid)
  {
    SCOPED_TRACE("taps " + std::to_string(stencil.n_taps) + ", grid " +
        std::to_string(grid.points[0]) + " x " + std::to_string(grid.points[1]) + " x " +
        std::to_string(grid.points[2]));
    const Number beyond = Number(7);
    std::vector<Number> from(static_cast<std::size_t>(grid.size()));
    test::fill(from.data(), grid);
    std::vector<Number> to(from.size() + 4, beyond);
    std::fill_n(to.begin(), from.size(), std::numeric_limits<Number>::quiet_NaN());
    DeviceArray<Number> device_from(grid.size()), device_to(grid.size() + 4);
    device_from.copy_from_host(from.data());
    device_to.copy_from_host(to.data());
    kernel(stencil, grid, device_from.data(), device_to.data(), nullptr);
    device_to.copy_to_host(to.data());
    const std::vector<double> exact = test::expected(stencil, grid, 1, from.data());
    for (std::size_t i = 0; i < from.size(); ++i)
      ASSERT_NEAR(static_cast<double>(to[i]), exact[i], 4. * std::numeric_limits<Number>::epsilon())
          << i;
    for (std::size_t i = from.size(); i < to.size(); ++i)
      ASSERT_EQ(to[i], beyond);
  }

  template <typename Number>
  void check_all(Kernel<Number> *kernel)
  {
    for (const Stencil &stencil : test::all_stencils())
    {
      for (const Grid &grid : test::grids(stencil.dim))
        check<Number>(kernel, stencil, grid);
      if (stencil.dim == 3) // more planes than a block marches through
        check<Number>(kernel, stencil, {{5, 3, 131}});
    }
  }

  TEST_F(StencilCuda, NaiveDouble) { check_all<double>(cuda_naive<double>); }
  TEST_F(StencilCuda, NaiveFloat) { check_all<float>(cuda_naive<float>); }
  TEST_F(StencilCuda, TiledDouble) { check_all<double>(cuda_tiled<double>); }
  TEST_F(StencilCuda, TiledFloat) { check_all<float>(cuda_tiled<float>); }
} // namespace
} // namespace tensormg
