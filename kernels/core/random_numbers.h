// Numbers that look random, but are functions of their place: any part can be made again, in any order and
// by any number of threads.
#pragma once

#include <cstdint>

namespace tensormg
{
/// An avalanche of all bits (the finaliser of splitmix64; G. Steele, D. Lea, C. Flood, OOPSLA 2014).
constexpr std::uint64_t mix_bits(std::uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// Number `index` of the sequence `seed`, all bits of it.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index)
{
  return mix_bits(mix_bits(seed + 1) + index * 0x9e3779b97f4a7c15U);
}

/// Uniform in (0, 1), never an end.
constexpr double random_unit(std::uint64_t seed, std::uint64_t index)
{
  return (static_cast<double>(random_bits(seed, index) >> 12) + 0.5) * 0x1p-52;
}

/// Uniform in [-1, -1/8] and [1/8, 1]: never zero, never so small that its errors would not show.
constexpr double random_value(std::uint64_t seed, std::uint64_t index)
{
  const double x = random_unit(seed, index);
  return x < 0.5 ? -0.125 - 1.75 * x : 0.125 + 1.75 * (x - 0.5);
}
} // namespace tensormg
