// nvcuda::wmma of the emulation: the functions and shapes that the project uses, by their definitions. Which
// lane holds which entry is not said by the library; here lane l has entries l, l + 32, ... in row order.
#pragma once

#include <stdexcept>
#include <type_traits>

#include <cuda_fp16.h>

#include "kernels/mma/tf32.h"
#include "tests/emulation/emulation.h"

namespace nvcuda::wmma
{
struct row_major
{};
struct col_major
{};
enum layout_t
{
  mem_row_major,
  mem_col_major
};
struct matrix_a
{};
struct matrix_b
{};
struct accumulator
{};
namespace precision
{
  struct tf32
  {};
} // namespace precision

namespace internal
{
  template <typename T>
  struct Storage
  {
    using type = T;
  };
  template <>
  struct Storage<precision::tf32>
  {
    using type = float;
  };
} // namespace internal

template <typename Use, int m, int n, int k, typename T, typename Order = void>
struct fragment
{
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? k : m;
  static constexpr int columns = std::is_same_v<Use, matrix_a> ? k : n;
  static constexpr int num_elements = rows * columns / 32;
  typename internal::Storage<T>::type x[num_elements];

  /// f(row, column, element of this lane).
  template <typename F>
  void for_each(F f)
  {
    for (int e = 0; e < num_elements; ++e)
    {
      const int at = tensormg::emulation::thread->lane + 32 * e;
      f(at / columns, at % columns, x[e]);
    }
  }
};

namespace internal
{
  inline void check(const void *pointer, unsigned ld, int bytes)
  {
    if (reinterpret_cast<std::uintptr_t>(pointer) % 32 != 0)
      throw std::runtime_error("a matrix of WMMA is not aligned to 32 bytes");
    if (ld * bytes % 16 != 0)
      throw std::runtime_error("a leading dimension of WMMA is no multiple of 16 bytes");
  }
  inline double value(double x, double) { return x; }
  inline double value(__half x, __half) { return __half2float(x); }
  /// The hardware ignores the low bits.
  inline double value(float x, precision::tf32)
  {
    return static_cast<float>(tensormg::Tf32::truncate(x));
  }
} // namespace internal

template <typename Use, int m, int n, int k, typename T, typename Order, typename Number>
void load_matrix_sync(fragment<Use, m, n, k, T, Order> &f, const Number *from, unsigned ld)
{
  internal::check(from, ld, sizeof(Number));
  f.for_each([&](int row, int column, auto &x) {
    x = std::is_same_v<Order, row_major> ? from[row * ld + column] : from[column * ld + row];
  });
  tensormg::emulation::warp_barrier(~0u);
}

template <int m, int n, int k, typename T>
void store_matrix_sync(T *to, fragment<accumulator, m, n, k, T> f, unsigned ld, layout_t layout)
{
  internal::check(to, ld, sizeof(T));
  f.for_each([&](int row, int column, T &x) {
    (layout == mem_row_major ? to[row * ld + column] : to[column * ld + row]) = x;
  });
  tensormg::emulation::warp_barrier(~0u);
}

template <int m, int n, int k, typename T>
void fill_fragment(fragment<accumulator, m, n, k, T> &f, T value)
{
  for (T &x : f.x)
    x = value;
}

template <int m, int n, int k, typename T, typename A, typename B, typename C>
void mma_sync(fragment<accumulator, m, n, k, C> &d, const fragment<matrix_a, m, n, k, T, A> &a,
    const fragment<matrix_b, m, n, k, T, B> &b, const fragment<accumulator, m, n, k, C> &c)
{
  struct Both
  {
    fragment<matrix_a, m, n, k, T, A> a;
    fragment<matrix_b, m, n, k, T, B> b;
  };
  fragment<accumulator, m, n, k, C> result = c;
  tensormg::emulation::collective(~0u, Both{a, b}, [&](auto of_lane) {
    result.for_each([&](int row, int column, C &x) {
      double sum = x;
      for (int i = 0; i < k; ++i)
      {
        const int at_a = row * k + i, at_b = i * n + column;
        sum += internal::value(of_lane(at_a % 32).a.x[at_a / 32], T()) *
            internal::value(of_lane(at_b % 32).b.x[at_b / 32], T());
      }
      x = static_cast<C>(sum);
    });
    return 0;
  });
  d = result;
}

inline float __float_to_tf32(float x) { return static_cast<float>(tensormg::Tf32::round(x)); }
} // namespace nvcuda::wmma
