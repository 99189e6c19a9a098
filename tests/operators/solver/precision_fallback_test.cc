// Which levels go to single precision after a cycle left the range of its numbers, and what the user is told.
#include "operators/solver/precision_fallback.h"

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  MultigridOptions in_half(int single_levels)
  {
    MultigridOptions options;
    options.precision = Precision::half_precision;
    options.single_levels = single_levels;
    return options;
  }

  TEST(PrecisionFallback, RaisesTheLevelAndThoseBelowIt)
  {
    constexpr std::size_t n_levels = 6;
    for (const int before : {0, 2})
    {
      const MultigridOptions raised = raise_levels(in_half(before), 3, n_levels);
      EXPECT_EQ(raised.precision, Precision::half_precision);
      EXPECT_EQ(raised.single_levels, 4);
    }
    EXPECT_EQ(raise_levels(in_half(0), 0, n_levels).single_levels, 1);
  }

  TEST(PrecisionFallback, RaisesAllOfThemWhereThatIsNotEnough)
  {
    constexpr std::size_t n_levels = 6;
    // The finest level; one that is in single; nobody knows which.
    for (const auto &[before, broken] : {std::pair{0, std::optional<std::size_t>(5)},
             {4, std::optional<std::size_t>(3)}, {2, std::optional<std::size_t>()}})
    {
      const MultigridOptions raised = raise_levels(in_half(before), broken, n_levels);
      EXPECT_EQ(raised.precision, Precision::single_precision) << before;
      EXPECT_EQ(raised.single_levels, 0) << before;
      EXPECT_FALSE(raised.falls_back_to_single());
    }
  }

  TEST(PrecisionFallback, SaysWhichLevelsAreInSingle)
  {
    EXPECT_EQ(fallback_text(Precision::half_precision, "NaN in level 2", in_half(3)),
        "multigrid.precision = half: NaN in level 2; the solve starts again with the levels 0 to 2 in "
        "single precision");
    MultigridOptions single;
    single.precision = Precision::single_precision;
    EXPECT_EQ(fallback_text(Precision::half_precision, "Inf in level 5", single),
        "multigrid.precision = half: Inf in level 5; the solve starts again in single precision");
  }
} // namespace
} // namespace tensormg
