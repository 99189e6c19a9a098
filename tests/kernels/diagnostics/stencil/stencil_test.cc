// Stencils: the host kernel against the reference for all shapes, odd sizes, any tiles, depths and shares, and
// weights without structure.
#include "kernels/diagnostics/stencil/stencil.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/stencil_cases.h"

namespace tensormg
{
namespace
{
  using namespace stencil;
  using test::Aligned;
  using test::all_stencils;
  using test::expected;
  using test::grids;

  template <typename Number>
  void check(const Stencil &stencil, const Grid &grid, const Plan &plan, int shares)
  {
    SCOPED_TRACE("taps " + std::to_string(stencil.n_taps) + ", grid " +
        std::to_string(grid.points[0]) + " x " + std::to_string(grid.points[1]) + " x " +
        std::to_string(grid.points[2]) + ", depth " + std::to_string(plan.depth) + ", tile " +
        std::to_string(plan.tile[0]) + " " + std::to_string(plan.tile[1]) + " " +
        std::to_string(plan.tile[2]));
    const Number nan = std::numeric_limits<Number>::quiet_NaN(), beyond = Number(7);
    Aligned<Number> from(grid.size(), 0), to(grid.size() + 8, beyond);
    test::fill(from.data(), grid);
    std::fill_n(to.data(), grid.size(), nan);
    for (int s = shares; s-- > 0;)
    {
      Aligned<Number> scratch(scratch_size(stencil, grid, plan), nan);
      cpu(stencil, grid, plan, from.data(), to.data(), scratch.data(), {s, shares});
    }
    const std::vector<double> exact = expected(stencil, grid, plan.depth, from.data());
    const double tolerance = 4. * plan.depth * std::numeric_limits<Number>::epsilon();
    for (std::int64_t i = 0; i < grid.size(); ++i)
      ASSERT_NEAR(static_cast<double>(to.data()[i]), exact[static_cast<std::size_t>(i)], tolerance)
          << i;
    for (std::int64_t i = grid.size(); i < grid.size() + 8; ++i)
      ASSERT_EQ(to.data()[i], beyond);
  }

  template <typename Number>
  void check_all()
  {
    for (const Stencil &stencil : all_stencils())
      for (const Grid &grid : grids(stencil.dim))
        for (const int depth : {1, 2, 3, 5})
        {
          const auto bytes = sizeof(Number);
          for (const int shares : {1, 3})
            for (const std::int64_t cache : {1, 20'000, 1'000'000})
            {
              Plan plan = make_plan(stencil, grid, depth, bytes, cache, shares);
              plan.past_caches = cache == 20'000;
              check<Number>(stencil, grid, plan, shares);
            }
          // Tiles smaller than the radius, and of odd sizes.
          check<Number>(
              stencil, grid, {.depth = depth, .tile = {1, 1, 1}, .past_caches = false}, 2);
          check<Number>(
              stencil, grid, {.depth = depth, .tile = {29, 3, 5}, .past_caches = true}, 2);
        }
  }

  TEST(Stencil, DoubleAgreesWithTheReference) { check_all<double>(); }
  TEST(Stencil, FloatAgreesWithTheReference) { check_all<float>(); }

  TEST(Stencil, ShapesHaveTheirTaps)
  {
    const std::vector<int> taps{5, 7, 9, 27, 13, 49, 9, 49, 27};
    ASSERT_EQ(shapes.size(), taps.size());
    for (std::size_t s = 0; s < shapes.size(); ++s)
    {
      const Stencil stencil = make_stencil(shapes[s]);
      EXPECT_EQ(stencil.n_taps, taps[s]) << shapes[s].name;
      const std::string name(shapes[s].name);
      EXPECT_EQ(name.substr(2, name.find('_') - 2), std::to_string(taps[s]) + "pt");
    }
    static_assert(make_stencil(shapes[0]).taps[0].offset == std::array<int, 3>{0, -1, 0});
  }

  TEST(Stencil, ReferenceByHand)
  {
    // 2 x 3 points, from the right neighbour and from the one above it.
    Stencil stencil;
    stencil.radius = 1;
    stencil.n_taps = 2;
    stencil.taps[0] = {{1, 0, 0}, 10.};
    stencil.taps[1] = {{1, 1, 0}, 1.};
    const std::vector<double> from{1., 2., 3., 4., 5., 6.};
    std::vector<double> to(6, -1.);
    reference(stencil, {{2, 3, 1}}, from.data(), to.data());
    EXPECT_EQ(to, (std::vector<double>{24., 0., 46., 0., 60., 0.}));
  }

  TEST(Stencil, RedundantWorkIsCounted)
  {
    const Stencil stencil = make_stencil(shapes[0]);
    const Grid grid{{8, 8, 1}};
    EXPECT_EQ(executed_updates(stencil, grid, {.depth = 3, .tile = {8, 1, 8}}), 3 * 64.);
    // Four tiles of 4 x 4: the step before the last is needed on 5 x 5.
    EXPECT_EQ(executed_updates(stencil, grid, {.depth = 2, .tile = {4, 1, 4}}), 4 * (16. + 25.));
    EXPECT_EQ(scratch_size(stencil, grid, {.depth = 1, .tile = {4, 1, 4}}), 0);
    EXPECT_EQ(scratch_size(stencil, grid, {.depth = 2, .tile = {4, 1, 4}}), 3 * 6);
  }

  TEST(Stencil, PlansFitIntoTheCache)
  {
    const Stencil stencil = make_stencil(shapes[0]);
    const Grid grid{{10240, 10240, 1}};
    const Plan plan = make_plan(stencil, grid, 4, 8, 500'000, 8);
    EXPECT_LE(8 * scratch_size(stencil, grid, plan), 500'000);
    EXPECT_LT(executed_updates(stencil, grid, plan), 1.05 * 4 * 10240. * 10240.);
    EXPECT_THROW(make_plan(stencil, grid, 0, 8, 500'000, 8), std::invalid_argument);
    EXPECT_THROW(make_plan(stencil, grid, max_depth + 1, 8, 500'000, 8), std::invalid_argument);
  }

  TEST(Stencil, CountsUsefulWork)
  {
    const roofline::Work work = stencil::work(make_stencil(shapes[0]), {{10, 10, 1}}, 3, 8);
    EXPECT_EQ(work.flops, 10. * 100. * 3.);
    EXPECT_EQ(work.bytes, 1600.);
  }

  TEST(Stencil, CountsWhatFusedStepsCompute)
  {
    const Stencil flat = make_stencil(shapes[0]), solid = make_stencil(shapes[1]);
    // One tile of 512 columns, two blocks of 64 rows; each block needs 2 * 2 rows around, and one to drain.
    EXPECT_EQ(fused_updates(flat, {{100, 100, 1}}, 2), 512. * (100 + 2 * 5) * 2);
    // 64 x 32 columns, of which 62 x 30 come out right.
    EXPECT_EQ(fused_updates(solid, {{60, 28, 16}}, 2), 64. * 32 * (16 + 5) * 2);
    EXPECT_EQ(fused_updates(solid, {{61, 28, 16}}, 2), 2. * 64. * 32 * (16 + 5) * 2);
  }
} // namespace
} // namespace tensormg
