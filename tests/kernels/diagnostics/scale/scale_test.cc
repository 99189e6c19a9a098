// The kernels that measure the machine: right numbers, and rates that count what was done.
#include "kernels/diagnostics/scale/scale.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/diagnostics/peak/peak.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
namespace
{
  TEST(Scale, MultipliesEveryEntry)
  {
    const Block block(2, 2, {3, 5, 1});
    Vector<double> a(block), b(block);
    for (std::int64_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<double>(i) - 7.;
    scale::cpu(b.size(), -1.5, b.data(), a.data());
    for (std::int64_t i = 0; i < b.size(); ++i)
      ASSERT_EQ(a[i], -1.5 * b[i]);
  }

  TEST(Scale, TakesAnySize)
  {
    const Block block(1, 2, {40, 1, 1});
    for (std::int64_t size = 0; size <= 33; ++size)
    {
      Vector<double> a(block), b(block);
      for (std::int64_t i = 0; i < b.size(); ++i)
      {
        b[i] = static_cast<double>(i) + 0.3;
        a[i] = i < size ? std::numeric_limits<double>::quiet_NaN() : 3.;
      }
      scale::cpu(size, -1.5, b.data(), a.data());
      for (std::int64_t i = 0; i < b.size(); ++i)
        ASSERT_EQ(a[i], i < size ? -1.5 * b[i] : 3.) << i << " of " << size;
    }
  }

  TEST(Peak, HostLoopsCountAndReturnTheirResult)
  {
    for (const peak::Unit unit : {peak::Unit::fp64, peak::Unit::fp32})
    {
      double sink = 0.;
      const double flops = peak::cpu(unit, 10, sink);
      EXPECT_EQ(peak::cpu(unit, 20, sink = 0.), 2. * flops);
      EXPECT_TRUE(std::isfinite(sink));
      // x <- x / 2 + 1/2 tends to 1 in each of the 12 chains.
      peak::cpu(unit, 200, sink = 0.);
      EXPECT_NEAR(sink, 12., 1e-4);
    }
    double sink = 0.;
    EXPECT_THROW(peak::cpu(peak::Unit::issue, 1, sink), std::invalid_argument);
  }

  TEST(Peak, UnitsHaveNames)
  {
    EXPECT_STREQ(to_string(peak::Unit::fp64), "FP64");
    EXPECT_STREQ(to_string(peak::Unit::issue), "issue");
    EXPECT_EQ(peak::all_units.size(), 8u);
    EXPECT_STREQ(to_string(peak::Unit::fp64_tensor_m8n8k4), "FP64 tensor m8n8k4");
    EXPECT_STREQ(to_string(peak::Unit::fp16_wgmma), "FP16 wgmma");
    EXPECT_STREQ(to_string(peak::Unit::bf16_wgmma), "BF16 wgmma");
  }
} // namespace
} // namespace tensormg
