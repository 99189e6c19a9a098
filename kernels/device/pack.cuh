// A few numbers of neighbouring cells that one thread works on, element by element.
#pragma once

#include <cstdint>
#include <type_traits>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

namespace tensormg
{
template <typename C, int width>
struct Pack
{
  C at[width];

  Pack() = default;
  __device__ explicit Pack(C value)
  {
#pragma unroll
    for (int w = 0; w < width; ++w)
      at[w] = value;
  }
};

/// c += a * b
template <typename C, int width>
__device__ inline void add_product(Pack<C, width> &c, C a, const Pack<C, width> &b)
{
#pragma unroll
  for (int w = 0; w < width; ++w)
    c.at[w] = fma(a, b.at[w], c.at[w]);
}

template <typename C, int width>
__device__ inline Pack<C, width> operator+(const Pack<C, width> &a, const Pack<C, width> &b)
{
  Pack<C, width> c;
#pragma unroll
  for (int w = 0; w < width; ++w)
    c.at[w] = a.at[w] + b.at[w];
  return c;
}

template <typename C, int width>
__device__ inline Pack<C, width> operator-(const Pack<C, width> &a, const Pack<C, width> &b)
{
  Pack<C, width> c;
#pragma unroll
  for (int w = 0; w < width; ++w)
    c.at[w] = a.at[w] - b.at[w];
  return c;
}

template <typename C, int width>
__device__ inline Pack<C, width> operator-(const Pack<C, width> &a)
{
  Pack<C, width> c;
#pragma unroll
  for (int w = 0; w < width; ++w)
    c.at[w] = -a.at[w];
  return c;
}

template <typename C, int width>
__device__ inline Pack<C, width> operator*(C a, const Pack<C, width> &b)
{
  Pack<C, width> c;
#pragma unroll
  for (int w = 0; w < width; ++w)
    c.at[w] = a * b.at[w];
  return c;
}

template <int bytes>
struct WordOf;
template <>
struct WordOf<2>
{
  using type = unsigned short;
};
template <>
struct WordOf<4>
{
  using type = unsigned;
};
template <>
struct WordOf<8>
{
  using type = uint2;
};
template <>
struct WordOf<16>
{
  using type = uint4;
};

/// Reads `width` neighbouring numbers by one access; the address is a multiple of their size.
template <int width, typename Number>
__device__ inline Pack<Compute<Number>, width> load_pack(const Number *from)
{
  using Word = typename WordOf<width * sizeof(Number)>::type;
  Pack<Compute<Number>, width> result;
  union
  {
    Word word;
    Number number[width];
    __half half[width * sizeof(Number) / 2];
    __half2 half2[width * sizeof(Number) >= 4 ? width * sizeof(Number) / 4 : 1];
  };
  word = *reinterpret_cast<const Word *>(from);
  if constexpr (sizeof(Number) == 2)
  {
    if constexpr (width == 1)
      result.at[0] = __half2float(half[0]);
    else
#pragma unroll
      for (int w = 0; w < width; w += 2)
      {
        const float2 both = __half22float2(half2[w / 2]);
        result.at[w] = both.x;
        result.at[w + 1] = both.y;
      }
  }
  else
#pragma unroll
    for (int w = 0; w < width; ++w)
      result.at[w] = static_cast<Compute<Number>>(number[w]);
  return result;
}

/// The same of what nobody reads again soon.
template <int width, typename Number>
__device__ inline Pack<Compute<Number>, width> load_pack_once(const Number *from)
{
  const auto word =
      __ldcs(reinterpret_cast<const typename WordOf<width * sizeof(Number)>::type *>(from));
  return load_pack<width>(reinterpret_cast<const Number *>(&word));
}

/// Writes to shared memory by one access.
template <typename C, int width>
__device__ inline void write_pack(C *to, const Pack<C, width> &value)
{
  using Word = typename WordOf<width * sizeof(C)>::type;
  union
  {
    Word word;
    C number[width];
  };
#pragma unroll
  for (int w = 0; w < width; ++w)
    number[w] = value.at[w];
  *reinterpret_cast<Word *>(to) = word;
}

/// Neighbouring numbers as they are stored, rounded to nearest even.
template <typename Number, int width>
__device__ inline auto rounded_word(const Pack<Compute<Number>, width> &value)
{
  using Word = typename WordOf<width * sizeof(Number)>::type;
  union
  {
    Word word;
    Number number[width];
    __half half[width * sizeof(Number) / 2];
    __half2 half2[width * sizeof(Number) >= 4 ? width * sizeof(Number) / 4 : 1];
  };
  if constexpr (sizeof(Number) == 2)
  {
    if constexpr (width == 1)
      half[0] = __float2half_rn(value.at[0]);
    else
#pragma unroll
      for (int w = 0; w < width; w += 2)
        half2[w / 2] = __floats2half2_rn(value.at[w], value.at[w + 1]);
  }
  else
#pragma unroll
    for (int w = 0; w < width; ++w)
      number[w] = static_cast<Number>(value.at[w]);
  return word;
}

/// Writes to global memory by one access that does not stay in the caches.
template <typename Number, int width>
__device__ inline void store_pack(Number *to, const Pack<Compute<Number>, width> &value)
{
  const auto word = rounded_word<Number>(value);
  __stcs(reinterpret_cast<std::remove_const_t<decltype(word)> *>(to), word);
}

/// Writes to shared memory by one access.
template <typename Number, int width>
__device__ inline void write_rounded(Number *to, const Pack<Compute<Number>, width> &value)
{
  const auto word = rounded_word<Number>(value);
  *reinterpret_cast<std::remove_const_t<decltype(word)> *>(to) = word;
}
} // namespace tensormg
