// Quotients by multiplication are those of the division: every small pair, and both neighbours of the multiples
// next to the largest dividend, for all divisors of a table and those around powers of two.
#include "kernels/core/divisor.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  static_assert(Divisor(7).quotient(48) == 6 && Divisor(7).remainder(48) == 6);
  static_assert(Divisor().quotient(Divisor::largest_dividend) == Divisor::largest_dividend);

  TEST(Divisor, SmallNumbers)
  {
    for (std::uint32_t d = 1; d <= 300; ++d)
    {
      const Divisor divisor(d);
      for (std::uint32_t a = 0; a <= 2000; ++a)
      {
        ASSERT_EQ(divisor.quotient(a), a / d) << a << " / " << d;
        ASSERT_EQ(divisor.remainder(a), a % d) << a << " % " << d;
      }
    }
  }

  TEST(Divisor, LargeNumbers)
  {
    std::vector<std::uint32_t> divisors;
    for (std::uint32_t d = 1; d < 100000; d += 1 + d / 50)
      divisors.push_back(d);
    for (int power = 1; power <= 30; ++power)
      for (const int offset : {-1, 0, 1})
        divisors.push_back((1u << power) + static_cast<std::uint32_t>(offset));
    divisors.push_back(Divisor::largest_dividend);
    for (const std::uint32_t d : divisors)
    {
      const Divisor divisor(d);
      // Where an error of the multiplier shows first: at the ends of the largest intervals of one quotient.
      for (std::uint32_t q = Divisor::largest_dividend / d, n = 0; q > 0 && n < 500; --q, ++n)
        for (const std::uint32_t a : {q * d - 1, q * d})
          ASSERT_EQ(divisor.quotient(a), a / d) << a << " / " << d;
      for (std::uint32_t a = Divisor::largest_dividend - 500; a <= Divisor::largest_dividend; ++a)
        ASSERT_EQ(divisor.quotient(a), a / d) << a << " / " << d;
    }
  }
} // namespace
} // namespace tensormg
