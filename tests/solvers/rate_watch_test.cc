// When a method is called slow.
#include "solvers/rate_watch.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  /// After how many iterations a method whose residual falls by `rate` in each of them is slow; -1: never in 100.
  int slow_after(double rate)
  {
    RateWatch watch;
    double residual = 3.;
    for (int k = 0; k <= 100; ++k, residual *= rate)
    {
      watch.take(residual);
      if (watch.is_slow())
        return k;
    }
    return -1;
  }

  TEST(RateWatch, AsksForADigitInEightIterations)
  {
    EXPECT_EQ(slow_after(std::pow(10., -0.13)), -1);
    EXPECT_EQ(slow_after(std::pow(10., -0.12)), 8);
    EXPECT_EQ(slow_after(1.1), 8);
    EXPECT_EQ(slow_after(NAN), 8);
  }

  TEST(RateWatch, SeesWhatBecomesSlow)
  {
    RateWatch watch;
    for (const double residual : {1., 1e-2, 1e-4, 1e-5, 0.9e-5, 0.8e-5, 0.7e-5, 0.6e-5, 0.5e-5})
    {
      watch.take(residual);
      EXPECT_FALSE(watch.is_slow());
    }
    for (const double residual : {0.5e-5, 0.5e-5})
    {
      watch.take(residual);
      EXPECT_FALSE(watch.is_slow());
    }
    watch.take(0.5e-5);
    EXPECT_TRUE(watch.is_slow());
  }
} // namespace
} // namespace tensormg
