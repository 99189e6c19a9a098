// Stencils on a device against the reference, for all shapes and odd sizes.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
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

  /// kernel(stencil, grid, from, to) does `depth` steps.
  template <typename Number, typename Kernel>
  void check(Kernel kernel, const Stencil &stencil, const Grid &grid, int depth)
  {
    SCOPED_TRACE("taps " + std::to_string(stencil.n_taps) + ", grid " +
        std::to_string(grid.points[0]) + " x " + std::to_string(grid.points[1]) + " x " +
        std::to_string(grid.points[2]) + ", depth " + std::to_string(depth));
    const Number beyond = Number(7);
    std::vector<Number> from(static_cast<std::size_t>(grid.size()));
    test::fill(from.data(), grid);
    std::vector<Number> to(from.size() + 4, beyond);
    std::fill_n(to.begin(), from.size(), std::numeric_limits<Number>::quiet_NaN());
    DeviceArray<Number> device_from(grid.size()), device_to(grid.size() + 4);
    device_from.copy_from_host(from.data());
    device_to.copy_from_host(to.data());
    kernel(stencil, grid, device_from.data(), device_to.data());
    device_to.copy_to_host(to.data());
    const std::vector<double> exact = test::expected(stencil, grid, depth, from.data());
    for (std::size_t i = 0; i < from.size(); ++i)
      ASSERT_NEAR(
          static_cast<double>(to[i]), exact[i], 4. * depth * std::numeric_limits<Number>::epsilon())
          << i;
    for (std::size_t i = from.size(); i < to.size(); ++i)
      ASSERT_EQ(to[i], beyond);
  }

  template <typename Number>
  void check_naive()
  {
    const auto naive = [](const Stencil &stencil, const Grid &grid, const Number *from,
                           Number *to) { cuda_naive(stencil, grid, from, to, nullptr); };
    for (const Stencil &stencil : test::all_stencils())
      for (const Grid &grid : test::grids(stencil.dim))
        check<Number>(naive, stencil, grid, 1);
  }

  template <typename Number>
  void check_fused()
  {
    for (const test::Shape &shape : test::shapes)
      for (const int depth : {1, 2, 4})
      {
        if (depth > largest_fused_depth(shape.dim, shape.radius))
          continue;
        const auto fused = [&](const Stencil &stencil, const Grid &grid, const Number *from,
                               Number *to) { cuda_fused(stencil, grid, depth, from, to, nullptr); };
        std::vector<Grid> grids = test::grids(shape.dim);
        // Several tiles across the march and along it.
        if (shape.dim == 3)
          grids.insert(grids.end(), {{{5, 3, 131}}, {{71, 37, 3}}});
        else
          grids.push_back({{1030, 211, 1}});
        for (const Grid &grid : grids)
          check<Number>(fused, test::with_weights(make_stencil(shape)), grid, depth);
      }
  }

  TEST_F(StencilCuda, NaiveDouble) { check_naive<double>(); }
  TEST_F(StencilCuda, NaiveFloat) { check_naive<float>(); }
  TEST_F(StencilCuda, FusedDouble) { check_fused<double>(); }
  TEST_F(StencilCuda, FusedFloat) { check_fused<float>(); }

  void check_tiles(TileUnit unit)
  {
    const auto tiles = [&](const Stencil &stencil, const Grid &grid, const double *from,
                           double *to) { cuda_tile(stencil, grid, unit, from, to, nullptr); };
    for (const test::Shape &shape : test::shapes)
      if (shape.dim == 2)
      {
        std::vector<Grid> grids = test::grids(2);
        grids.push_back({{300, 70, 1}});
        for (const Grid &grid : grids)
          check<double>(tiles, test::with_weights(make_stencil(shape)), grid, 1);
      }
    EXPECT_THROW(
        cuda_tile(make_stencil(test::shapes[1]), {{4, 4, 4}}, unit, nullptr, nullptr, nullptr),
        std::invalid_argument);
  }

  TEST_F(StencilCuda, TilesByFma) { check_tiles(TileUnit::fma); }
  TEST_F(StencilCuda, TilesByM8N8K4) { check_tiles(TileUnit::m8n8k4); }
  TEST_F(StencilCuda, TilesByM16N8K4)
  {
    if (device_properties().major < 9)
      GTEST_SKIP() << "needs compute capability 9.0";
    check_tiles(TileUnit::m16n8k4);
  }

  TEST_F(StencilCuda, FusedRefusesWhatItHasNot)
  {
    const auto fused = [](const Stencil &stencil, int depth) {
      cuda_fused<double>(stencil, {{4, 4, 1}}, depth, nullptr, nullptr, nullptr);
    };
    EXPECT_THROW(fused(make_stencil(test::shapes[0]), 3), std::invalid_argument);
    EXPECT_THROW(fused(make_stencil(test::shapes[0]), 0), std::invalid_argument);
    EXPECT_THROW(fused(make_stencil(test::shapes[1]), 4), std::invalid_argument);
    EXPECT_THROW(fused(test::irregular(), 1), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
