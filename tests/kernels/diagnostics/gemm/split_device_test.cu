// FP32 products by wgmma whose blocks split the factors in two terms themselves: every shape of tiles, whole and divided along k.
#include <algorithm>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/device.h"
#include "kernels/diagnostics/gemm/wgmma/plan.h"
#include "tests/support/gemm_cases.h"

namespace tensormg
{
namespace
{
  using namespace gemm;

  class GemmSplitDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
      if (device_properties().code_capability / 10 != 9)
        GTEST_SKIP() << "wgmma needs compute capability 9.0";
    }
  };

  // Small times small is lost, and the last bits of what is small.
  constexpr double of_correction = 0x1p-20;

  wgmma::Plan plan_with(int shape, int divided, int parts, const Size &size)
  {
    const wgmma::Shape &s = wgmma::split_shapes[static_cast<std::size_t>(shape)];
    const Tiles tiles = tiles_of(size, s.rows(), s.tile_n);
    const int steps = static_cast<int>(divide_up(size.k, s.step_k()));
    return {
        shape, s, {tiles, steps, std::max(0, tiles.m * tiles.n - divided), std::min(parts, steps)}};
  }

  /// With the last `divided` tiles in `parts` parts. There is no workspace but that of sums.
  void check_plan(int shape, int divided, int parts, const Size &size)
  {
    SCOPED_TRACE("shape " + std::to_string(shape) + ", " + std::to_string(divided) + " tiles in " +
        std::to_string(parts) + " parts");
    const auto multiply = [&](const Size &, const float *a, const float *b, float *c,
                              Stream stream) {
      const wgmma::Plan plan = plan_with(shape, divided, parts, size);
      EXPECT_EQ(wgmma::factor_numbers<float>(size, plan.shape), 0);
      test::run_twice(size, plan.partial_numbers(), c, stream, [&](float *partial) {
        wgmma::multiply(plan, size, a, b, c, static_cast<float *>(nullptr), partial, stream);
      });
    };
    test::check_product<float, float>(multiply, size, of_correction, test::of_float);
  }

  TEST_F(GemmSplitDevice, EveryShape)
  {
    for (int shape = 0; shape < static_cast<int>(wgmma::split_shapes.size()); ++shape)
    {
      check_plan(shape, 0, 1, {1, 4, 4});
      check_plan(shape, 0, 1, {128, 128, 32});
      check_plan(shape, 0, 1, {131, 268, 68});
      check_plan(shape, 1, 3, {300, 264, 200});
      check_plan(shape, 4, 3, {131, 140, 204});
      check_plan(shape, 1, 33, {65, 76, 1092}); // many parts are added in slices
    }
  }

  /// More than once around the ring of stages.
  TEST_F(GemmSplitDevice, MoreStepsThanStages)
  {
    for (int shape = 0; shape < static_cast<int>(wgmma::split_shapes.size()); ++shape)
    {
      const int stages = wgmma::split_shapes[static_cast<std::size_t>(shape)].stages;
      check_plan(shape, 0, 1, {5, 4, 32 * (2 * stages + 1) - 12});
      check_plan(shape, 0, 1, {259, 516, 32 * stages + 4});
    }
  }

  /// As single_wgmma() takes them.
  TEST_F(GemmSplitDevice, ChosenByTheSize)
  {
    for (const Size size : {Size{64, 64, 128}, {60, 64, 100}, {3, 8, 132}})
    {
      const wgmma::Plan plan = wgmma::plan_of<float>(size);
      EXPECT_TRUE(plan.shape.splits);
      EXPECT_EQ(wgmma_workspace<float>(size), plan.partial_numbers());
      const auto multiply = [](const Size &s, const float *a, const float *b, float *c,
                                Stream stream) {
        test::run_twice(s, wgmma_workspace<float>(s), c, stream,
            [&](float *workspace) { single_wgmma(s, a, b, c, workspace, stream); });
      };
      test::check_product<float, float>(multiply, size, of_correction, test::of_float);
    }
  }
} // namespace
} // namespace tensormg
