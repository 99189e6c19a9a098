// Division of 32-bit integers by a number that is known before the loop: a product and a shift.
#pragma once

#include <bit>
#include <cstdint>

namespace tensormg
{
/// quotient(a) = floor(a / d) for 0 <= a <= largest_dividend and d >= 1.
///
/// With l = ceil(log2 d) and m = floor(2^(31+l) / d) + 1 < 2^32 + 1, the quotient is floor(a m / 2^(31+l)), since
/// 0 < m d - 2^(31+l) <= 2^l and a < 2^31 (T. Granlund, P. Montgomery, Division by invariant integers using
/// multiplication, PLDI 1994, theorem 4.2 with N = 31).
class Divisor
{
public:
  static constexpr std::uint32_t largest_dividend = 0x7fffffffu;

  Divisor() = default;
  constexpr explicit Divisor(std::uint32_t d)
    : divisor_(d)
    , shift_(31 + std::bit_width(d - 1))
    , multiplier_(static_cast<std::uint32_t>((std::uint64_t(1) << shift_) / d + 1))
  {}

  constexpr std::uint32_t quotient(std::uint32_t a) const
  {
    return static_cast<std::uint32_t>((std::uint64_t(a) * multiplier_) >> shift_);
  }
  /// a - q d, where q is the quotient.
  constexpr std::uint32_t remainder(std::uint32_t a, std::uint32_t q) const
  {
    return a - q * divisor_;
  }
  constexpr std::uint32_t remainder(std::uint32_t a) const { return remainder(a, quotient(a)); }

private:
  std::uint32_t divisor_ = 1;
  int shift_ = 31;
  std::uint32_t multiplier_ = 0x80000001u;
};
} // namespace tensormg
