// A model of the adder of a tensor core: what is not rounded to nearest.
//
// The products of a block are exact. They and the accumulator are aligned to the largest of them, cut off
// (towards zero) `extra_bits` below the last bit of a float of that size, added exactly, and the sum is cut off
// to a float. Source of the model: M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA
// tensor cores", PeerJ Computer Science 7 (2021). Length of the block and extra bits differ between
// generations of GPUs; adder_probe.h finds those of a device. tests/kernels/mma/rounding_test.cu bounds what it does.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace tensormg::precision
{
struct Adder
{
  int block = 8;      ///< products that are added at once
  int extra_bits = 2; ///< kept below the last bit of the largest term
};

/// The float next to x towards zero. Beyond the largest float: infinity.
inline float cut_to_float(double x)
{
  const auto nearest = static_cast<float>(x);
  if (!std::isfinite(nearest) || std::abs(static_cast<double>(nearest)) <= std::abs(x))
    return nearest;
  return std::nextafter(nearest, 0.F);
}

/// accumulator + sum of the terms. Terms are products of numbers of at most 24 bits, so exact in double.
inline float add_block(float accumulator, std::span<const double> terms, const Adder &adder)
{
  double largest = std::abs(static_cast<double>(accumulator));
  double plain = accumulator; // decides what comes of infinity and NaN
  for (const double term : terms)
  {
    largest = std::max(largest, std::abs(term));
    plain += term;
  }
  if (largest == 0. || !std::isfinite(plain))
    return static_cast<float>(plain);
  // Multiples of the quantum are below 2^(24 + extra_bits): their sum is exact in double.
  constexpr int float_bits = std::numeric_limits<float>::digits;
  const double quantum = std::ldexp(1., std::ilogb(largest) - (float_bits - 1) - adder.extra_bits);
  const auto cut = [&](double term) { return std::trunc(term / quantum); };
  double sum = cut(accumulator);
  for (const double term : terms)
    sum += cut(term);
  return cut_to_float(sum * quantum);
}
} // namespace tensormg::precision
