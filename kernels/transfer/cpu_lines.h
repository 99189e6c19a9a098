// Between the lines of a cell and those of its two children, for the `cpu` backend of the transfer.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/core/simd.h"
#include "kernels/transfer/transfer.h"

namespace tensormg::transfer
{
template <typename C>
C *scratch(std::int64_t count)
{
  thread_local std::vector<C> memory;
  if (static_cast<std::int64_t>(memory.size()) < count)
    memory.assign(static_cast<std::size_t>(count), C(0));
  return memory.data();
}

template <int n, typename C>
struct Weights
{
  std::array<std::array<C, n>, n> p; ///< [child mode][parent mode]
  explicit Weights(const CellBasis &basis, double factor = 1.)
  {
    for (int a = 0; a < n; ++a)
      for (int i = 0; i < n; ++i)
        p[a][i] = static_cast<C>(factor * basis.prolongation[a * n + i]);
  }
};

template <typename C, int W>
TENSORMG_INLINE inline simd::Vec<C, W> sign_of_odd(int a, simd::Vec<C, W> v)
{
  return a % 2 == 0 ? v : -v;
}

/// Parent line `src` (modes at stride) -> both children's lines; length numbers each. A call for each
/// line, so that one instance serves both dimensions and every direction.
template <int n, typename Src, typename C>
[[gnu::noinline]] void expand(const Weights<n, C> &weights, const Src *src, std::int64_t stride,
    C *child0, C *child1, std::int64_t child_stride, std::int64_t length)
{
  simd::for_each_vector<C>(length, [&](std::int64_t x, auto width) TENSORMG_INLINE {
    constexpr int W = width;
    simd::Vec<C, W> u[n];
#pragma GCC unroll 9
    for (int i = 0; i < n; ++i)
      u[i] = simd::load<W>(src + i * stride + x);
#pragma GCC unroll 9
    for (int a = 0; a < n; ++a)
    {
      simd::Vec<C, W> even{}, odd{};
#pragma GCC unroll 9
      for (int i = 0; i < n; ++i)
        (i % 2 == 0 ? even : odd) += weights.p[a][i] * u[i];
      simd::store<W>(child0 + a * child_stride + x, even + odd);
      simd::store<W>(child1 + a * child_stride + x, sign_of_odd<C, W>(a, even - odd));
    }
  });
}

/// Both children's lines -> the parent's line: the transpose of expand.
template <int n, typename C, typename Dst>
[[gnu::noinline]] void collect(const Weights<n, C> &weights, const C *child0, const C *child1,
    std::int64_t child_stride, Dst *dst, std::int64_t stride, std::int64_t length)
{
  simd::for_each_vector<C>(length, [&](std::int64_t x, auto width) TENSORMG_INLINE {
    constexpr int W = width;
    simd::Vec<C, W> sum[n], difference[n];
#pragma GCC unroll 9
    for (int a = 0; a < n; ++a)
    {
      const simd::Vec<C, W> lower = simd::load<W>(child0 + a * child_stride + x);
      const simd::Vec<C, W> upper =
          sign_of_odd<C, W>(a, simd::load<W>(child1 + a * child_stride + x));
      sum[a] = lower + upper;
      difference[a] = lower - upper;
    }
#pragma GCC unroll 9
    for (int i = 0; i < n; ++i)
    {
      simd::Vec<C, W> result{};
#pragma GCC unroll 9
      for (int a = 0; a < n; ++a)
        result += weights.p[a][i] * (i % 2 == 0 ? sum[a] : difference[a]);
      simd::store<W>(dst + i * stride + x, result);
    }
  });
}

/// Calls the instance for the dimension and the number of modes.
template <typename Function>
void dispatch(int dim, int n, Function &&f)
{
  const auto with_dim = [&]<int d>(std::integral_constant<int, d>) {
    const bool found = [&]<int... m>(std::integer_sequence<int, m...>)
    {
      return ((n == m + 2 ? (f.template operator()<d, m + 2>(), true) : false) || ...);
    }
    (std::make_integer_sequence<int, max_degree>());
    if (!found)
      throw std::invalid_argument("transfer: degree is not in 1..8");
  };
  if (dim == 2)
    with_dim(std::integral_constant<int, 2>());
  else
    with_dim(std::integral_constant<int, 3>());
}

/// dst (+ rest) = line [+ dst] [+ rest]: the sum rounded in dst, what that takes away in rest unless it is nullptr.
template <typename C, typename Number>
TENSORMG_INLINE inline void add_line(
    const C *line, std::int64_t length, Number *dst, Number *rest, bool add, bool add_rest)
{
  simd::for_each_vector<C>(length, [&](std::int64_t x, auto width) TENSORMG_INLINE {
    constexpr int W = width;
    simd::Vec<C, W> value = simd::load<W>(line + x);
    if (add)
      value += simd::load<W>(dst + x);
    if (add_rest)
      value += simd::load<W>(rest + x);
    simd::store<W>(dst + x, value);
    if (rest != nullptr)
      simd::store<W>(rest + x, value - simd::load<W>(dst + x));
  });
}
} // namespace tensormg::transfer
