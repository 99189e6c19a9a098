// One row of a step in SIMD registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kernels/core/simd.h"
#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
/// A tap as a row sees it.
template <typename Number>
struct RowTap
{
  const Number *from; ///< what the first point that is computed takes
  std::int64_t dx;
  Number weight;
};

/// The taps whose rows exist; only `count` of them are initialised.
template <typename Number>
struct RowTaps
{
  std::array<RowTap<Number>, max_taps> taps;
  int count = 0;
};

/// Points [first, first + count) of a row of nx points, to[0] being the first of them.
template <typename Number>
class Row
{
public:
  Row(const RowTaps<Number> &taps, int radius, std::int64_t nx, std::int64_t first,
      std::int64_t count, Number *to)
    : taps_(taps)
    , nx_(nx)
    , first_(first)
    , count_(count)
    , begin_(std::min(count, std::max<std::int64_t>(0, radius - first)))
    , end_(std::clamp(nx - radius - first, begin_, count))
    , to_(to)
  {}

  /// `past_caches`: with stores that do not read the line first, where they are aligned.
  void compute(bool past_caches) const
  {
    for (std::int64_t i = 0; i < begin_; ++i)
      compute_near_end(i);
    if (end_ - begin_ < width)
      for (std::int64_t i = begin_; i < end_; ++i)
        compute_near_end(i);
    else
      compute_inside_of(std::integer_sequence<int, 5, 7, 9, 13, 27>(), past_caches);
    for (std::int64_t i = end_; i < count_; ++i)
      compute_near_end(i);
  }

private:
  static constexpr int width = simd::native_width<Number>;
  static constexpr int unrolled = 4;
  using Vec = simd::Vec<Number, width>;

  void compute_near_end(std::int64_t i) const
  {
    Number sum = 0;
    for (int t = 0; t < taps_.count; ++t)
    {
      const RowTap<Number> &tap = taps_.taps[static_cast<std::size_t>(t)];
      const std::int64_t x = first_ + i + tap.dx;
      if (x >= 0 && x < nx_)
        sum += tap.weight * tap.from[i];
    }
    to_[i] = sum;
  }

  /// With the number of taps known to the compiler, if it is one of these.
  template <int... known>
  void compute_inside_of(std::integer_sequence<int, known...>, bool past_caches) const
  {
    const bool done = ((taps_.count == known && (compute_inside<known>(past_caches), true)) || ...);
    if (!done)
      compute_inside<0>(past_caches);
  }

  template <int known, int n, bool past_caches>
  TENSORMG_INLINE inline void compute_vectors(std::int64_t i) const
  {
    Vec sums[n]{};
    const int count = known > 0 ? known : taps_.count;
#pragma GCC unroll 27
    for (int t = 0; t < count; ++t)
    {
      const RowTap<Number> &tap = taps_.taps[static_cast<std::size_t>(t)];
      const Number *const from = tap.from + i;
#pragma GCC unroll 4
      for (int v = 0; v < n; ++v)
        sums[v] += tap.weight * simd::load<width>(from + v * width);
    }
#pragma GCC unroll 4
    for (int v = 0; v < n; ++v)
      if constexpr (past_caches)
        simd::store_streaming<width>(to_ + i + v * width, sums[v]);
      else
        simd::store<width>(to_ + i + v * width, sums[v]);
  }

  /// The last vector overlaps with the one before, and with stores past the caches, which must be aligned,
  /// the second one with the first.
  template <int known>
  void compute_inside(bool past_caches) const
  {
    std::int64_t i = begin_;
    if (past_caches)
    {
      compute_vectors<known, 1, false>(i);
      const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(to_ + i) / sizeof(Number);
      i += width - static_cast<std::int64_t>(place % width);
      for (; i + unrolled * width <= end_; i += unrolled * width)
        compute_vectors<known, unrolled, true>(i);
    }
    for (; i + unrolled * width <= end_; i += unrolled * width)
      compute_vectors<known, unrolled, false>(i);
    for (; i + width <= end_; i += width)
      compute_vectors<known, 1, false>(i);
    if (i < end_)
      compute_vectors<known, 1, false>(end_ - width);
  }

  const RowTaps<Number> &taps_;
  std::int64_t nx_, first_, count_, begin_, end_;
  Number *to_;
};
} // namespace tensormg::stencil
