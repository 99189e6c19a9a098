// Random block vectors for tests: same seed, same numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "operators/vectors/vector.h"

namespace tensormg::test
{
inline double to_double(double x) { return x; }
inline double to_double(float x) { return x; }
inline double to_double(WideFloat x) { return x.value; }
inline double to_double(Half x) { return static_cast<float>(x); }

template <typename Number>
Number from_double(double x)
{
  if constexpr (std::is_same_v<Number, Half>)
    return Half(static_cast<float>(x));
  else
    return static_cast<Number>(x);
}

/// Calls f(position) for every degree of freedom, padding excluded.
template <typename Function>
void for_each_dof(const Block &block, Function &&f)
{
  for (std::int64_t line = 0; line < block.size() / block.pitch; ++line)
    for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
      f(line * block.pitch + cx);
}

/// Calls f(position) for every padding entry.
template <typename Function>
void for_each_padding(const Block &block, Function &&f)
{
  for (std::int64_t line = 0; line < block.size() / block.pitch; ++line)
    for (std::int64_t cx = block.cells[0]; cx < block.pitch; ++cx)
      f(line * block.pitch + cx);
}

/// Uniform in [-1, 1]; padding zero.
template <typename Number>
Vector<Number> random_vector(const Block &block, unsigned seed)
{
  Vector<Number> v(block);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1., 1.);
  for_each_dof(block, [&](std::int64_t at) { v[at] = from_double<Number>(uniform(generator)); });
  return v;
}

/// Every entry NaN (all bits set), so that an unwritten one is noticed.
template <typename Number>
void poison(Vector<Number> &v)
{
  std::memset(
      static_cast<void *>(v.data()), 0xff, static_cast<std::size_t>(v.size()) * sizeof(Number));
}

/// max |a - b| / max |b| over the degrees of freedom; NaN anywhere gives infinity.
template <typename A, typename B>
double relative_difference(const Vector<A> &a, const Vector<B> &b)
{
  double difference = 0., largest = 0.;
  bool finite = true;
  for_each_dof(a.block(), [&](std::int64_t at) {
    const double x = to_double(a[at]), y = to_double(b[at]);
    finite = finite && std::isfinite(x) && std::isfinite(y);
    difference = std::max(difference, std::abs(x - y));
    largest = std::max(largest, std::abs(y));
  });
  return finite ? difference / largest : std::numeric_limits<double>::infinity();
}

template <typename Number>
bool padding_is_zero(const Vector<Number> &v)
{
  bool zero = true;
  for_each_padding(v.block(), [&](std::int64_t at) { zero = zero && to_double(v[at]) == 0.; });
  return zero;
}
} // namespace tensormg::test
