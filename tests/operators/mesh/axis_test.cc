// Cells of a direction: sizes, coordinates and where a coordinate lies.
#include <cmath>

#include <gtest/gtest.h>

#include "operators/mesh/axis.h"

namespace tensormg
{
namespace
{
  TEST(Axis, EqualCells)
  {
    const Axis axis(-1., 2., 6);
    EXPECT_TRUE(axis.is_equal());
    EXPECT_EQ(axis.cells(), 6);
    EXPECT_EQ(axis.upper(), 2.);
    EXPECT_EQ(axis.size(3), 0.5);
    EXPECT_EQ(axis.relative_size(3), 1.);
    EXPECT_EQ(axis.coordinate(2, 0.25), 0.125);
    EXPECT_EQ(axis.place(0.125), 2.25);
  }

  TEST(Axis, GradedCells)
  {
    const Axis axis(std::vector{-1., -0.5, 0.5, 0.75, 3.});
    EXPECT_FALSE(axis.is_equal());
    EXPECT_EQ(axis.cells(), 4);
    EXPECT_EQ(axis.lower(), -1.);
    EXPECT_EQ(axis.upper(), 3.);
    EXPECT_EQ(axis.mean_size(), 1.);
    EXPECT_EQ(axis.smallest_size(), 0.25);
    double sum = 0.;
    for (std::int64_t cell = 0; cell < 4; ++cell)
    {
      sum += axis.relative_size(cell);
      for (const double t : {0., 0.25, 0.5})
        EXPECT_NEAR(axis.place(axis.coordinate(cell, t)), static_cast<double>(cell) + t, 1e-15);
    }
    EXPECT_EQ(sum, 4.);
    EXPECT_EQ(axis.coordinate(1, 1.), axis.coordinate(2, 0.));
    EXPECT_EQ(axis.place(3.), 4.);
    // Beyond the ends as if the last cells went on.
    EXPECT_EQ(axis.place(-1.25), -0.5);
    EXPECT_EQ(axis.place(5.25), 5.);
  }

  TEST(Axis, RoundingFarFromTheOrigin)
  {
    const Axis near(0., 1., 10), far(1e7, 1e7 + 1., 10);
    EXPECT_LT(near.place_rounding(), 1.1e-9);
    EXPECT_GT(far.place_rounding(), 1e-8);
  }
} // namespace
} // namespace tensormg
