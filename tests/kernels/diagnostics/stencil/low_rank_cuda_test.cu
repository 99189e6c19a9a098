// Stencils with weights of low rank on a device against the reference: all ranks, radii and units, odd sizes.
#include <cmath>
#include <cstdint>
#include <stdexcept>
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

  class StencilLowRankCuda : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  /// Weights of a rank: sums of products of a column and a row.
  Stencil with_rank(const Shape &shape, int rank)
  {
    Stencil stencil = make_stencil(shape);
    double sum = 0.;
    for (int t = 0; t < stencil.n_taps; ++t)
    {
      Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
      tap.weight = 0.;
      for (int r = 0; r < rank; ++r)
        tap.weight += test::stencil_number(static_cast<std::uint64_t>(
                          10 * r + tap.offset[0] + 30 * tap.offset[2] + 50)) *
            test::stencil_number(static_cast<std::uint64_t>(10 * r + tap.offset[1] + 105));
      sum += std::abs(tap.weight);
    }
    for (int t = 0; t < stencil.n_taps; ++t)
      stencil.taps[static_cast<std::size_t>(t)].weight /= sum;
    return stencil;
  }

  void check_low_rank(TileUnit unit)
  {
    const auto low_rank = [&](const Stencil &stencil, const Grid &grid, const double *from,
                              double *to) {
      cuda_low_rank(stencil, grid, unit, from, to, nullptr);
    };
    std::vector<Grid> grids = test::grids(2);
    grids.insert(grids.end(), {{{300, 70, 1}}, {{195, 9, 1}}});
    for (const Grid &grid : grids)
    {
      check<double>(low_rank, with_rank({"", 2, 1, true}, 1), grid, 1);
      for (const int rank : {1, 2, 3})
        check<double>(low_rank, with_rank({"", 2, 3, true}, rank), grid, 1);
      check<double>(low_rank, test::with_weights(make_stencil({"", 2, 3, false})), grid, 1);
      for (const int rank : {1, 2})
        check<double>(low_rank, with_rank({"", 2, 2, true}, rank), grid, 1);
      for (const int steps : {1, 2, 3})
      {
        const auto fused = [&](const Stencil &stencil, const Grid &points, const double *from,
                               double *to) {
          cuda_low_rank_steps(stencil, points, steps, unit, from, to, nullptr);
        };
        check<double>(fused, with_rank({"", 2, 1, true}, 1), grid, steps);
      }
    }
    const auto refuses = [&](const Stencil &stencil) {
      EXPECT_THROW(cuda_low_rank(stencil, {{4, 4, 1}}, unit, nullptr, nullptr, nullptr),
          std::invalid_argument);
    };
    refuses(test::with_weights(make_stencil({"", 2, 3, true})));
    refuses(test::with_weights(make_stencil({"", 2, 1, false})));
    refuses(test::with_weights(make_stencil({"", 3, 1, false})));
    EXPECT_THROW(cuda_low_rank_steps(with_rank({"", 2, 1, true}, 2), {{4, 4, 1}}, 2, unit, nullptr,
                     nullptr, nullptr),
        std::invalid_argument);
  }

  void check_low_rank_planes(TileUnit unit)
  {
    const auto low_rank = [&](const Stencil &stencil, const Grid &grid, const double *from,
                              double *to) {
      cuda_low_rank_planes(stencil, grid, unit, from, to, nullptr);
    };
    std::vector<Grid> grids = test::grids(3);
    grids.insert(grids.end(), {{{70, 37, 3}}, {{3, 5, 61}}, {{130, 33, 25}}});
    for (const Grid &grid : grids)
      check<double>(low_rank, with_rank({"", 3, 1, true}, 1), grid, 1);
    Stencil nothing = make_stencil({"", 3, 1, true});
    for (Tap &tap : nothing.taps)
      tap.weight = 0.;
    check<double>(low_rank, nothing, {{5, 6, 7}}, 1);
    for (const Stencil &refused :
        {with_rank({"", 3, 1, true}, 2), test::with_weights(make_stencil({"", 3, 1, false})),
            make_stencil({"", 2, 1, true}), test::irregular()})
      EXPECT_THROW(cuda_low_rank_planes(refused, {{4, 4, 4}}, unit, nullptr, nullptr, nullptr),
          std::invalid_argument);
  }

  TEST_F(StencilLowRankCuda, PlanesByFma) { check_low_rank_planes(TileUnit::fma); }
  TEST_F(StencilLowRankCuda, PlanesByM8N8K4) { check_low_rank_planes(TileUnit::m8n8k4); }
  TEST_F(StencilLowRankCuda, PlanesByM16N8K4)
  {
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "needs compute capability 9.0";
    check_low_rank_planes(TileUnit::m16n8k4);
  }

  TEST_F(StencilLowRankCuda, TilesByFma) { check_low_rank(TileUnit::fma); }
  TEST_F(StencilLowRankCuda, TilesByM8N8K4) { check_low_rank(TileUnit::m8n8k4); }
  TEST_F(StencilLowRankCuda, TilesByM16N8K4)
  {
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "needs compute capability 9.0";
    check_low_rank(TileUnit::m16n8k4);
  }

  TEST(StencilLowRank, CountsFlops)
  {
    // Of 64 columns and 8 beyond them along y, of 64 along x.
    for (const int radius : {1, 2, 3})
      EXPECT_EQ(
          64. * low_rank_flops(radius, 2, TileUnit::fma), 2. * 2. * (2 * radius + 1) * (72. + 64.));
    // Three taps of four columns; three planes with three taps of two points.
    EXPECT_EQ(2. * low_rank_planes_flops(TileUnit::fma), 2. * (3. * 4. + 3. * 3. * 2.));
    EXPECT_LT(low_rank_flops(3, 1, TileUnit::fma), tile_flops(3, true, TileUnit::fma));
    EXPECT_EQ(tile_flops(3, false, TileUnit::fma), 2. * 13.);
    EXPECT_LT(low_rank_planes_flops(TileUnit::fma), planes_flops(1, true, TileUnit::fma));
  }
} // namespace
} // namespace tensormg
