#include "kernels/diagnostics/precision/adder_probe.h"

#include <cmath>
#include <limits>

namespace tensormg::precision
{
namespace
{
  /// Tests of one unit, and their results.
  class Tests
  {
  public:
    explicit Tests(const UnitFormat &format)
      : format_(format)
    {}

    /// A sum that starts from c. Returns its number.
    std::size_t start(double c)
    {
      const auto size = static_cast<std::size_t>(format_.length);
      list_.push_back({std::vector<double>(size, 0.), std::vector<double>(size, 0.), c});
      return list_.size() - 1;
    }
    /// Product k of the last sum is mantissa 2^exponent, with factors of about the same size.
    void product(int k, double mantissa, int exponent)
    {
      const int half = exponent >= 0 ? exponent / 2 : -(-exponent / 2);
      list_.back().a[static_cast<std::size_t>(k)] = std::ldexp(mantissa, half);
      list_.back().b[static_cast<std::size_t>(k)] = std::ldexp(1., exponent - half);
    }
    void factors(int k, double a, double b)
    {
      list_.back().a[static_cast<std::size_t>(k)] = a;
      list_.back().b[static_cast<std::size_t>(k)] = b;
    }
    const std::vector<SumTest> &list() const { return list_; }

  private:
    UnitFormat format_;
    std::vector<SumTest> list_;
  };

  /// The tests that say it all, by their numbers.
  struct Probe
  {
    Tests tests;
    int last;                 ///< exponent of the last digit of 1
    std::size_t above, below; ///< three quarters of the last digit, on both sides of zero
    /// 2^j terms whose sum is the last digit: none is lost if j extra bits count.
    std::vector<std::size_t> shares;
    /// 1 - 1 + something that is lost beside 1: it survives in a later block only.
    std::vector<std::size_t> places;
    double subnormal_factor, subnormal_sum;
    std::size_t factor, sum;
    bool can_overflow;
    std::size_t overflow;

    explicit Probe(const UnitFormat &format)
      : tests(format)
      , last(1 - format.sum_digits)
    {
      above = tests.start(1.);
      tests.product(0, 3., last - 2);
      below = tests.start(-1.);
      tests.product(0, -3., last - 2);
      for (int j = 1; 1 << j <= format.length; ++j)
      {
        shares.push_back(tests.start(1.));
        for (int k = 0; k < 1 << j; ++k)
          tests.product(k, 1., last - j);
      }
      const int tiny = last - 7;
      for (int k = 1; k < format.length; ++k)
      {
        places.push_back(tests.start(1.));
        tests.product(0, -1., 0);
        tests.product(k, 1., tiny);
      }

      subnormal_factor = std::ldexp(1., format.least_exponent - 2);
      factor = tests.start(0.);
      tests.factors(0, subnormal_factor, 16.);
      const bool is_double = format.sum_digits == 53;
      subnormal_sum = std::ldexp(1., (is_double ? -1022 : -126) - 2);
      sum = tests.start(subnormal_sum);

      const double largest = is_double ? std::numeric_limits<double>::max()
                                       : static_cast<double>(std::numeric_limits<float>::max());
      const int exponent = is_double ? 1023 : 127;
      can_overflow = 2 * format.largest_exponent > exponent;
      overflow = tests.start(can_overflow ? largest : 0.);
      if (can_overflow)
        tests.product(0, 1., exponent);
    }
  };
} // namespace

const char *to_string(Rounding rounding)
{
  switch (rounding)
  {
    case Rounding::nearest:
      return "to nearest";
    case Rounding::towards_zero:
      return "towards zero";
    case Rounding::down:
      return "down";
    case Rounding::up:
      return "up";
  }
  return "";
}

AdderProperties probe_adder(const UnitFormat &format,
    const std::function<std::vector<double>(const std::vector<SumTest> &)> &sums)
{
  const Probe probe(format);
  const std::vector<double> result = sums(probe.tests.list());
  AdderProperties found;
  const bool grows = result[probe.above] > 1., falls = result[probe.below] < -1.;
  found.rounding = grows ? (falls ? Rounding::nearest : Rounding::up)
                         : (falls ? Rounding::down : Rounding::towards_zero);
  while (found.extra_bits < static_cast<int>(probe.shares.size()) &&
      result[probe.shares[static_cast<std::size_t>(found.extra_bits)]] ==
          1. + std::ldexp(1., probe.last))
    ++found.extra_bits;
  for (const std::size_t place : probe.places)
  {
    if (result[place] != 0.)
      break;
    ++found.block;
  }
  found.block_is_whole = found.block == format.length;
  found.keeps_subnormal_factors = result[probe.factor] == 16. * probe.subnormal_factor;
  found.keeps_subnormal_sums = result[probe.sum] == probe.subnormal_sum;
  if (probe.can_overflow)
    found.overflow_is_infinite = std::isinf(result[probe.overflow]);
  return found;
}
} // namespace tensormg::precision
