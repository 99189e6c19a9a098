// Weights taken apart and fused: the products give the weights, fused weights give the steps far from the sides.
#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/diagnostics/stencil/low_rank.h"
#include "tests/support/stencil_cases.h"

namespace tensormg
{
namespace
{
  using namespace stencil;

  void expect_same(const Stencil &stencil, const LowRank &weights)
  {
    const auto r = static_cast<int>(stencil.radius);
    for (int dy = -r; dy <= r; ++dy)
      for (int dx = -r; dx <= r; ++dx)
      {
        double exact = 0., sum = 0.;
        for (int t = 0; t < stencil.n_taps; ++t)
          if (const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
              tap.offset[0] == dx && tap.offset[1] == dy)
            exact += tap.weight;
        for (int term = 0; term < weights.rank; ++term)
          sum += weights.column[static_cast<std::size_t>(term)][static_cast<std::size_t>(dy + r)] *
              weights.row[static_cast<std::size_t>(term)][static_cast<std::size_t>(dx + r)];
        EXPECT_NEAR(sum, exact, 1e-15) << dx << ' ' << dy;
      }
  }

  TEST(StencilWeights, RankAndTerms)
  {
    const auto rank_of = [](const Stencil &stencil) {
      const LowRank weights = decompose(stencil);
      expect_same(stencil, weights);
      return weights.rank;
    };
    EXPECT_EQ(rank_of(test::with_weights(make_stencil({"", 2, 3, true}))), 7);
    EXPECT_EQ(rank_of(test::with_weights(make_stencil({"", 2, 3, false}))), 2); // a cross
    EXPECT_EQ(rank_of(test::with_weights(make_stencil({"", 2, 1, false}))), 2);
    EXPECT_EQ(rank_of(test::with_weights(make_stencil({"", 2, 1, true}))), 3);
    EXPECT_EQ(rank_of(make_stencil({"", 2, 3, true})), 1); // all the same
    EXPECT_EQ(rank_of(Stencil()), 0);
    Stencil mean = make_stencil({"", 2, 1, true});
    for (Tap &tap : mean.taps)
      tap.weight /= 9.;
    for (const int steps : {1, 2, 3})
    {
      EXPECT_EQ(rank_of(fuse_steps(mean, steps)), 1);
      EXPECT_EQ(rank_of(fuse_steps(test::with_weights(make_stencil({"", 2, 1, false})), steps)),
          steps + 1);
    }
    EXPECT_THROW(decompose(make_stencil({"", 3, 1, true})), std::invalid_argument);
    EXPECT_NO_THROW(require_low_rank(make_stencil({"", 2, 3, true})));
    EXPECT_THROW(require_low_rank(test::with_weights(make_stencil({"", 2, 3, true}))),
        std::invalid_argument);
    EXPECT_THROW(require_low_rank(test::with_weights(make_stencil({"", 2, 1, false}))),
        std::invalid_argument);
  }

  TEST(StencilWeights, FusedOnesAreStepsFarFromTheSides)
  {
    const Grid grid{{15, 13, 1}};
    std::vector<double> from(static_cast<std::size_t>(grid.size()));
    test::fill(from.data(), grid);
    for (const bool box : {false, true})
      for (const int steps : {1, 2, 3})
      {
        const Stencil stencil = test::with_weights(make_stencil({"", 2, 1, box}));
        const Stencil fused = fuse_steps(stencil, steps);
        EXPECT_EQ(fused.radius, steps);
        EXPECT_EQ(
            fused.n_taps, box ? (2 * steps + 1) * (2 * steps + 1) : 2 * steps * (steps + 1) + 1);
        const std::vector<double> exact = test::expected(stencil, grid, steps, from.data()),
                                  at_once = test::expected(fused, grid, 1, from.data());
        for (std::int64_t y = steps - 1; y < 13 - steps + 1; ++y)
          for (std::int64_t x = steps - 1; x < 15 - steps + 1; ++x)
            EXPECT_NEAR(exact[static_cast<std::size_t>(y * 15 + x)],
                at_once[static_cast<std::size_t>(y * 15 + x)], 1e-15)
                << x << ' ' << y;
        if (steps > 1)
        {
          EXPECT_GT(std::abs(exact[0] - at_once[0]), 1e-6); // a corner differs
        }
      }
    EXPECT_THROW(fuse_steps(make_stencil({"", 2, 1, true}), 4), std::invalid_argument);
    EXPECT_THROW(fuse_steps(make_stencil({"", 2, 3, true}), 2), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
