// Products in low precision: rounding bit for bit, the adder by hand, and errors that the theory allows.
#include "kernels/diagnostics/precision/methods.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/diagnostics/precision/block_sum.h"
#include "kernels/diagnostics/precision/formats.h"

namespace tensormg
{
namespace
{
  using namespace precision;

  /// Floats of all kinds: limits, neighbours of ties, random bits.
  std::vector<float> hard_floats()
  {
    std::vector<float> values{0.F, 1.F, 65504.F, 65519.996F, 65520.F, 1e30F, 0x1p-14F, 0x1p-24F,
        0x1p-25F, 0x1.8p-24F, 0x1p-126F, std::numeric_limits<float>::max(),
        std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::infinity()};
    for (int i = 0; i < 64; ++i)
      for (const float step : {0x1p-8F, 0x1p-9F, 0x1p-11F, 0x1p-12F, 0x1p-23F})
        values.push_back(1.F + static_cast<float>(i) * step);
    std::uint32_t state = 7;
    while (values.size() < 20'000)
    {
      state = state * 1664525u + 1013904223u;
      const float value = std::bit_cast<float>(state);
      if (!std::isnan(value))
        values.push_back(value);
    }
    for (std::size_t i = 0, n = values.size(); i < n; ++i)
      values.push_back(-values[i]);
    return values;
  }

  /// To `bits` significant bits by the arithmetic of double: to nearest, ties to even or away from zero;
  /// multiples of `finest` at least, infinite from `beyond` on.
  double rounded(float value, int bits, double finest, double beyond, bool ties_away)
  {
    if (value == 0.F || std::isinf(value))
      return value;
    const double x = value;
    const double unit = std::max(finest, std::ldexp(1., std::ilogb(x) - bits + 1));
    const double multiple = ties_away ? std::round(x / unit) : std::nearbyint(x / unit);
    const double result = multiple * unit;
    return std::abs(result) >= beyond ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                      : result;
  }

  TEST(Precision, RoundingIsThatOfTheFormats)
  {
    ASSERT_EQ(std::fegetround(), FE_TONEAREST);
    for (const float x : hard_floats())
    {
      ASSERT_EQ(to_fp16(x), rounded(x, 11, 0x1p-24, 65536., false)) << x;
      ASSERT_EQ(to_bf16(x), rounded(x, 8, 0x1p-133, 0x1p128, false)) << x;
      ASSERT_EQ(to_tf32(x), rounded(x, 11, 0x1p-136, 0x1p128, true)) << x;
      ASSERT_EQ(std::signbit(to_bf16(x)), std::signbit(x));
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(to_fp16(nan)) && std::isnan(to_bf16(nan)) && std::isnan(to_tf32(nan)));
    EXPECT_TRUE(std::isnan(to_bf16(std::bit_cast<float>(0x7f800001u)))); // not cut to infinity
  }

  TEST(Precision, CutIsTowardsZero)
  {
    EXPECT_EQ(cut_to_float(1. + 0x1.ffp-24), 1.F);
    EXPECT_EQ(cut_to_float(-1. - 0x1.ffp-24), -1.F);
    EXPECT_EQ(cut_to_float(2. - 0x1p-40), 0x1.fffffep0F);
    EXPECT_EQ(cut_to_float(-0x1p-160), 0.F);
    EXPECT_EQ(cut_to_float(0.), 0.F);
    EXPECT_TRUE(std::isinf(cut_to_float(1e300)));
  }

  float block(float accumulator, const std::vector<double> &terms, int extra_bits = 2)
  {
    return add_block(accumulator, terms, {.block = 8, .extra_bits = extra_bits});
  }

  TEST(Precision, AdderByHand)
  {
    EXPECT_EQ(block(0.F, {}), 0.F);
    EXPECT_EQ(block(3.F, {}), 3.F);
    EXPECT_EQ(block(1.F, {2., 3.5}), 6.5F);
    // Eight halves of the last bit: kept as extra bits, lost without them, and one by one lost to nearest.
    const std::vector<double> halves(8, 0x1p-24);
    EXPECT_EQ(block(1.F, halves), 1.F + 0x1p-21F);
    EXPECT_EQ(block(1.F, halves, 0), 1.F);
    EXPECT_EQ(block(1.F, std::vector<double>(8, 0x1p-26)), 1.F); // below the extra bits
    EXPECT_EQ(block(1.F, {0x1.8p-24}), 1.F); // to nearest it would be the next float
    EXPECT_EQ(block(-1.F, {-0x1.8p-24}), -1.F);
    EXPECT_EQ(block(1.F, {-0x1p-30}), 1.F); // cut before it can cancel
    EXPECT_EQ(block(1.F, {-1., 0x1p-25}), 0x1p-25F);
    EXPECT_TRUE(std::isinf(block(1.F, {std::numeric_limits<double>::infinity()})));
    EXPECT_TRUE(std::isnan(block(1.F, {std::numeric_limits<double>::quiet_NaN()})));
  }

  /// Signs at random or all positive, magnitudes in [1/2, 1).
  std::vector<float> factors(std::int64_t size, std::uint32_t state, bool positive)
  {
    std::vector<float> list(static_cast<std::size_t>(size));
    for (float &x : list)
    {
      state = state * 1664525u + 1013904223u;
      x = 0.5F + static_cast<float>(state >> 9) * 0x1p-24F;
      x = !positive && (state >> 8 & 1u) != 0 ? -x : x;
    }
    return list;
  }

  const Method &find(const std::string &name)
  {
    for (const Method &method : methods())
      if (name == method.name)
        return method;
    throw std::invalid_argument(name);
  }

  /// The largest relative error of some dot products.
  double error(const Method &method, std::int64_t length, bool positive)
  {
    double largest = 0.;
    for (std::uint32_t sample = 0; sample < 20; ++sample)
    {
      const auto a = factors(length, 2 * sample + 1, positive),
                 b = factors(length, 2 * sample + 1000, positive);
      const Exact exact = exact_dot(length, a.data(), b.data());
      largest = std::max(largest,
          std::abs(method.dot(length, a.data(), b.data()) - exact.product) / exact.magnitude);
    }
    return largest;
  }

  TEST(Precision, ErrorsAreBelowTheirBounds)
  {
    for (const Method &method : methods())
      for (const bool positive : {false, true})
        for (const std::int64_t length : {0, 1, 7, 8, 9, 100, 3001})
        {
          if (length == 0)
            EXPECT_EQ(method.dot(0, nullptr, nullptr), 0.);
          else
            EXPECT_LE(error(method, length, positive), method.bound(length))
                << method.name << ", length " << length;
        }
  }

  TEST(Precision, BoundsAreNotMuchTooLarge)
  {
    for (const Method &method : methods())
    {
      EXPECT_GE(error(method, 1, true), method.factor_roundoff / 100.) << method.name;
      EXPECT_LT(method.bound(1), 50. * method.factor_roundoff + 1e-6) << method.name;
    }
  }

  TEST(Precision, CorrectionRecoversSinglePrecision)
  {
    const double single = error(find("FP32"), 256, false);
    for (const char *name : {"TF32 corrected", "FP16 corrected"})
      EXPECT_LT(error(find(name), 256, false), 8. * single) << name;
    // Three times as many additions, each cut off.
    EXPECT_LT(error(find("3xTF32"), 256, false), 16. * single);
    for (const char *name : {"TF32", "FP16"})
      EXPECT_GT(error(find(name), 256, false), 100. * single) << name;
    EXPECT_LT(error(find("3xBF16"), 256, false), 0.1 * error(find("BF16"), 256, false));
  }

  TEST(Precision, CuttingSumsOffIsABias)
  {
    // Errors of one sign add up: proportional to the length, where rounding to nearest gives its root.
    EXPECT_GT(
        error(find("3xTF32"), 20'000, true), 4. * error(find("TF32 corrected"), 20'000, true));
  }

  TEST(Precision, RangeOfHalf)
  {
    const std::vector<float> large(8, 1e5F), one(8, 1.F), small(8, 1e-8F);
    for (const char *name : {"FP16", "FP16 corrected"})
      EXPECT_FALSE(std::isfinite(find(name).dot(8, large.data(), one.data()))) << name;
    EXPECT_EQ(find("FP16").dot(8, small.data(), one.data()), 0.);
    for (const char *name : {"TF32", "BF16", "3xTF32", "TF32 corrected", "3xBF16"})
    {
      EXPECT_NEAR(find(name).dot(8, large.data(), one.data()), 8e5, 8e5 * find(name).bound(8));
      EXPECT_NEAR(find(name).dot(8, small.data(), one.data()), 8e-8, 8e-8 * find(name).bound(8));
    }
  }

  TEST(Precision, ExactDotKeepsWhatCancels)
  {
    const std::vector<float> a{1e30F, 1.F, -1e30F, 0x1p-100F}, b{1e7F, 1.F, 1e7F, 1.F};
    const Exact exact = exact_dot(4, a.data(), b.data());
    EXPECT_EQ(exact.product, 1.);
    EXPECT_NEAR(exact.magnitude, 2e37, 1e31);
  }
} // namespace
} // namespace tensormg
