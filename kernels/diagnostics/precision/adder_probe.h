// What the adder of a unit does to sums, found out by sums that are chosen for it. Host code: the sums themselves are
// formed elsewhere, by a device (kernels/diagnostics/precision/device.h) or by the model in block_sum.h.
// Tests: tests/kernels/diagnostics/precision/adder_probe_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tensormg::precision
{
/// c + sum of a[k] b[k], all exact in their formats.
struct SumTest
{
  std::vector<double> a, b;
  double c = 0.;
};

/// The numbers that a unit takes and the sums it forms.
struct UnitFormat
{
  int length = 8;            ///< products of one instruction
  int sum_digits = 24;       ///< of the accumulator
  int least_exponent = -126; ///< of normal factors; those of sums: -126 or -1022
  int largest_exponent = 127;
};

enum class Rounding : std::uint8_t
{
  nearest,
  towards_zero,
  down,
  up
};
const char *to_string(Rounding rounding);

struct AdderProperties
{
  Rounding rounding = Rounding::nearest; ///< of what lies below the last digit of a sum
  /// Digits below the last one of the largest term that count when terms are added. Zero as well if sums are rounded
  /// to nearest one after the other.
  int extra_bits = 0;
  int block = 1;               ///< products that are added at once, at least
  bool block_is_whole = false; ///< all of an instruction: there may be more
  bool keeps_subnormal_factors = false, keeps_subnormal_sums = false;
  /// Beyond the largest number; nothing if products cannot get there.
  std::optional<bool> overflow_is_infinite;
};

/// `sums` returns the results of all tests, each of format.length products.
AdderProperties probe_adder(const UnitFormat &format,
    const std::function<std::vector<double>(const std::vector<SumTest> &)> &sums);
} // namespace tensormg::precision
