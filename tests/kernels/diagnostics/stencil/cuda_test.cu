// Stencils on a device against the reference, for all shapes and odd sizes.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/stencil/stencil.h"
#include "tests/support/device/stencil.h"
#include "tests/support/stencil_cases.h"

namespace tensormg
{
namespace
{
  using namespace stencil;
  using test::check;

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
      for (const int depth : {2, 4})
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

  /// The same kernel with arrays that begin `shift` numbers behind an aligned place, guarded by a large number before.
  template <typename Number>
  void check_shifted_warps(const Stencil &stencil, const Grid &grid, int shift)
  {
    SCOPED_TRACE(testing::Message() << grid.points[0] << " columns, shifted by " << shift);
    const auto size = static_cast<std::size_t>(grid.size()),
               first = static_cast<std::size_t>(shift);
    std::vector<Number> from(size + first + 8, Number(1e30)), to(size + first + 8, Number(7));
    test::fill(from.data() + shift, grid);
    std::fill_n(to.begin() + shift, size, std::numeric_limits<Number>::quiet_NaN());
    const auto count = static_cast<std::int64_t>(from.size());
    DeviceArray<Number> device_from(count), device_to(count);
    device_from.copy_from_host(from.data());
    device_to.copy_from_host(to.data());
    cuda_warps(stencil, grid, device_from.data() + shift, device_to.data() + shift, nullptr);
    device_to.copy_to_host(to.data());
    const std::vector<double> exact = test::expected(stencil, grid, 1, from.data() + shift);
    for (std::size_t i = 0; i < to.size(); ++i)
      if (i >= first && i < first + size)
        ASSERT_NEAR(static_cast<double>(to[i]), exact[i - first],
            4. * std::numeric_limits<Number>::epsilon())
            << i;
      else
        ASSERT_EQ(to[i], Number(7)) << i;
  }

  template <typename Number>
  void check_warps()
  {
    const auto warps = [](const Stencil &stencil, const Grid &grid, const Number *from,
                           Number *to) { cuda_warps(stencil, grid, from, to, nullptr); };
    for (const test::Shape &shape : test::shapes)
    {
      const Stencil stencil = test::with_weights(make_stencil(shape));
      std::vector<Grid> grids = test::grids(shape.dim);
      // Rows of whole and of broken strips, several blocks across the march and along it.
      if (shape.dim == 3)
        grids.insert(grids.end(),
            {{{64, 16, 9}}, {{132, 35, 7}}, {{68, 3, 83}}, {{67, 18, 40}}, {{4, 4, 4}},
                {{130, 5, 3}}, {{4, 1, 1}}, {{1, 1, 130}}});
      else
        grids.insert(grids.end(),
            {{{128, 50, 1}}, {{1160, 97, 1}}, {{1034, 61, 1}}, {{4, 301, 1}}, {{8, 8, 1}},
                {{1033, 9, 1}}, {{124, 2, 1}}, {{1, 200, 1}}});
      for (const Grid &grid : grids)
      {
        check<Number>(warps, stencil, grid, 1);
        EXPECT_GE(warps_updates<Number>(stencil, grid), static_cast<double>(grid.size()));
      }
      for (const int shift : {1, 4})
        for (const std::int64_t nx : {8, 136, 135})
          check_shifted_warps<Number>(
              stencil, {{nx, 19, shape.dim == 3 ? std::int64_t(5) : 1}}, shift);
    }
    const auto refuses = [&](const Stencil &stencil, const Grid &grid) {
      EXPECT_THROW(warps(stencil, grid, nullptr, nullptr), std::invalid_argument);
    };
    refuses(test::irregular(), {{4, 4, 4}});
    refuses(test::with_weights(make_stencil({"", 2, 2, true})), {{4, 4, 1}});
    EXPECT_NO_THROW(warps(make_stencil(test::shapes[0]), {{0, 4, 1}}, nullptr, nullptr));
  }

  TEST_F(StencilCuda, WarpsDouble) { check_warps<double>(); }
  TEST_F(StencilCuda, WarpsFloat) { check_warps<float>(); }

  template <typename Number>
  void check_warps_steps()
  {
    for (const test::Shape &shape : test::shapes)
      for (const int depth : {2, 3, 4, 5, 6, 7})
      {
        const auto steps = [&](const Stencil &stencil, const Grid &grid, const Number *from,
                               Number *to) {
          cuda_warps_steps(stencil, grid, depth, from, to, nullptr);
        };
        const Stencil stencil = test::with_weights(make_stencil(shape));
        if (shape.radius > 1 || depth > (shape.dim == 3 ? 2 : 6))
        {
          EXPECT_THROW(steps(stencil, {{4, 4, 1}}, nullptr, nullptr), std::invalid_argument);
          continue;
        }
        std::vector<Grid> grids = test::grids(shape.dim);
        // Rows of whole and of broken strips, several blocks across the march and parts along it.
        if (shape.dim == 3)
          grids.insert(grids.end(),
              {{{60, 32, 9}}, {{124, 35, 7}}, {{68, 3, 83}}, {{67, 70, 20}}, {{4, 4, 4}},
                  {{4, 1, 1}}, {{1, 1, 130}}, {{132, 33, 5}}});
        else
          grids.insert(grids.end(),
              {{{128, 50, 1}}, {{1160, 97, 1}}, {{1034, 61, 1}}, {{4, 301, 1}}, {{8, 8, 1}},
                  {{1, 200, 1}}});
        for (const Grid &grid : grids)
        {
          check<Number>(steps, stencil, grid, depth);
          EXPECT_GE(warps_steps_updates<Number>(stencil, grid, depth),
              static_cast<double>(depth * grid.size()));
        }
      }
  }

  TEST_F(StencilCuda, WarpsStepsDouble) { check_warps_steps<double>(); }
  TEST_F(StencilCuda, WarpsStepsFloat) { check_warps_steps<float>(); }

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
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "needs compute capability 9.0";
    check_tiles(TileUnit::m16n8k4);
  }

  void check_single_tiles(SingleTileUnit unit, double tolerance)
  {
    const auto tiles = [&](const Stencil &stencil, const Grid &grid, const float *from, float *to) {
      cuda_tile(stencil, grid, unit, from, to, nullptr);
    };
    for (const test::Shape &shape :
        {test::Shape{"", 2, 1, false}, {"", 2, 2, true}, {"", 2, 3, false}, {"", 2, 3, true}})
    {
      std::vector<Grid> grids = test::grids(2);
      grids.push_back({{300, 70, 1}});
      for (const Grid &grid : grids)
        check<float>(tiles, test::with_weights(make_stencil(shape)), grid, 1, tolerance);
    }
    EXPECT_THROW(
        cuda_tile(make_stencil(test::shapes[1]), {{4, 4, 4}}, unit, nullptr, nullptr, nullptr),
        std::invalid_argument);
  }

  TEST_F(StencilCuda, SingleTilesByFma) { check_single_tiles(SingleTileUnit::fma, 0x1p-21); }
  TEST_F(StencilCuda, SingleTilesByTf32) { check_single_tiles(SingleTileUnit::tf32, 0x1p-10); }
  TEST_F(StencilCuda, SingleTilesByTf32Corrected)
  {
    check_single_tiles(SingleTileUnit::tf32_corrected, 0x1p-21);
  }

  template <typename Number>
  constexpr double rounding = std::is_same_v<Number, double> ? 0x1p-50 : 0x1p-21;

  template <typename Number, typename Unit>
  void check_fused_weights(Unit unit, double tolerance = rounding<Number>)
  {
    for (const bool box : {false, true})
      for (const int steps : {1, 2, 3})
      {
        const auto tiles = [&](const Stencil &stencil, const Grid &grid, const Number *from,
                               Number *to) {
          cuda_tile_steps(stencil, grid, steps, unit, from, to, nullptr);
        };
        std::vector<Grid> grids = test::grids(2);
        grids.insert(grids.end(), {{{300, 70, 1}}, {{2, 140, 1}}, {{4, 4, 1}}});
        for (const Grid &grid : grids)
          check<Number>(
              tiles, test::with_weights(make_stencil({"", 2, 1, box})), grid, steps, tolerance);
      }
    EXPECT_THROW(cuda_tile_steps(make_stencil({"", 2, 1, true}), {{4, 4, 1}}, 4, unit, nullptr,
                     nullptr, nullptr),
        std::invalid_argument);
  }

  TEST_F(StencilCuda, FusedWeightsByFma) { check_fused_weights<double>(TileUnit::fma); }
  TEST_F(StencilCuda, FusedWeightsByM8N8K4) { check_fused_weights<double>(TileUnit::m8n8k4); }
  TEST_F(StencilCuda, FusedWeightsByM16N8K4)
  {
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "needs compute capability 9.0";
    check_fused_weights<double>(TileUnit::m16n8k4);
  }
  TEST_F(StencilCuda, FusedWeightsInSingle)
  {
    check_fused_weights<float>(SingleTileUnit::fma);
    check_fused_weights<float>(SingleTileUnit::tf32_corrected);
    check_fused_weights<float>(SingleTileUnit::tf32, 0x1p-10);
  }

  template <typename Number, typename Unit>
  void check_planes(Unit unit, double tolerance = rounding<Number>)
  {
    const auto planes = [&](const Stencil &stencil, const Grid &grid, const Number *from,
                            Number *to) { cuda_planes(stencil, grid, unit, from, to, nullptr); };
    for (const bool box : {false, true})
    {
      std::vector<Grid> grids = test::grids(3);
      grids.insert(grids.end(), {{{70, 37, 3}}, {{3, 5, 61}}});
      for (const Grid &grid : grids)
        check<Number>(
            planes, test::with_weights(make_stencil({"", 3, 1, box})), grid, 1, tolerance);
    }
    for (const bool box : {false, true})
      for (const int steps : {1, 2})
      {
        const auto fused = [&](const Stencil &stencil, const Grid &grid, const Number *from,
                               Number *to) {
          cuda_planes_steps(stencil, grid, steps, unit, from, to, nullptr);
        };
        std::vector<Grid> grids = test::grids(3);
        grids.insert(grids.end(),
            {{{70, 37, 3}}, {{3, 5, 61}}, {{1, 1, 1}}, {{1, 7, 2}}, {{66, 2, 1}}, {{2, 34, 26}}});
        for (const Grid &grid : grids)
          check<Number>(
              fused, test::with_weights(make_stencil({"", 3, 1, box})), grid, steps, tolerance);
      }
    EXPECT_THROW(
        cuda_planes(make_stencil(test::shapes[0]), {{4, 4, 1}}, unit, nullptr, nullptr, nullptr),
        std::invalid_argument);
    EXPECT_THROW(cuda_planes_steps(make_stencil({"", 3, 1, true}), {{4, 4, 4}}, 3, unit, nullptr,
                     nullptr, nullptr),
        std::invalid_argument);
    EXPECT_THROW(cuda_planes(test::irregular(), {{4, 4, 4}}, unit, nullptr, nullptr, nullptr),
        std::invalid_argument);
  }

  TEST_F(StencilCuda, PlanesByFma) { check_planes<double>(TileUnit::fma); }
  TEST_F(StencilCuda, PlanesByM8N8K4) { check_planes<double>(TileUnit::m8n8k4); }
  TEST_F(StencilCuda, PlanesInSingle)
  {
    check_planes<float>(SingleTileUnit::fma);
    check_planes<float>(SingleTileUnit::tf32_corrected);
    check_planes<float>(SingleTileUnit::tf32, 0x1p-10);
  }
  TEST_F(StencilCuda, PlanesByM16N8K4)
  {
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "needs compute capability 9.0";
    check_planes<double>(TileUnit::m16n8k4);
  }

  TEST_F(StencilCuda, FusedRefusesWhatItHasNot)
  {
    const auto fused = [](const Stencil &stencil, int depth) {
      cuda_fused<double>(stencil, {{4, 4, 1}}, depth, nullptr, nullptr, nullptr);
    };
    EXPECT_THROW(fused(make_stencil(test::shapes[0]), 3), std::invalid_argument);
    EXPECT_THROW(fused(make_stencil(test::shapes[0]), 1), std::invalid_argument);
    EXPECT_THROW(fused(make_stencil(test::shapes[1]), 4), std::invalid_argument);
    EXPECT_THROW(fused(test::irregular(), 2), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
