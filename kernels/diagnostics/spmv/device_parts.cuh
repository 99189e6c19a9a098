// What sparse products have in common on a device: loads of entries, which are read once, by 16 bytes where they can
// be, of x by their columns, and the sum of a warp.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <cuda_fp16.h>

#include "kernels/core/half.h"

namespace tensormg::spmv
{
inline constexpr int warp = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

template <typename T>
struct Four
{
  T of[4];
};

template <typename Number>
__device__ Compute<Number> widened(Number x)
{
  if constexpr (std::is_same_v<Number, Half>)
    return __half2float(std::bit_cast<__half>(x));
  else
    return x;
}

/// Read once.
template <typename T>
__device__ T load_streaming(const T *from)
{
  if constexpr (std::is_same_v<T, Half>)
    return std::bit_cast<Half>(__ldcs(reinterpret_cast<const unsigned short *>(from)));
  else
    return __ldcs(from);
}

template <typename T>
__device__ T load_cached(const T *from)
{
  if constexpr (std::is_same_v<T, Half>)
    return std::bit_cast<Half>(__ldg(reinterpret_cast<const unsigned short *>(from)));
  else
    return __ldg(from);
}

/// Two and two neighbours, each pair aligned to its size.
__device__ inline Four<double> load_two_pairs(const double *first, const double *second)
{
  const double2 a = __ldcs(reinterpret_cast<const double2 *>(first)),
                b = __ldcs(reinterpret_cast<const double2 *>(second));
  return {{a.x, a.y, b.x, b.y}};
}

/// Four neighbours, aligned to the size of all, at most 16 bytes.
template <typename T>
__device__ Four<T> load_four(const T *from)
{
  if constexpr (sizeof(T) == 8)
    return load_two_pairs(from, from + 2);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<Four<T>>(__ldcs(reinterpret_cast<const int4 *>(from)));
  else
    return std::bit_cast<Four<T>>(__ldcs(reinterpret_cast<const int2 *>(from)));
}

/// To shared memory, aligned to 16 bytes.
__device__ inline void store_four(double *to, const Four<double> &numbers)
{
  reinterpret_cast<double2 *>(to)[0] = make_double2(numbers.of[0], numbers.of[1]);
  reinterpret_cast<double2 *>(to)[1] = make_double2(numbers.of[2], numbers.of[3]);
}

__device__ inline void store_four(float *to, const Four<float> &numbers)
{
  *reinterpret_cast<float4 *>(to) =
      make_float4(numbers.of[0], numbers.of[1], numbers.of[2], numbers.of[3]);
}

template <typename Number>
__device__ Four<Number> gather(const Number *x, const Four<std::int32_t> &columns)
{
  Four<Number> result;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    result.of[i] = load_cached(x + columns.of[i]);
  return result;
}

/// The sum of the numbers of all lanes, in all of them.
template <typename Result>
__device__ Result warp_sum(Result own)
{
#pragma unroll
  for (int distance = warp / 2; distance > 0; distance /= 2)
    own += __shfl_xor_sync(all_lanes, own, distance);
  return own;
}
} // namespace tensormg::spmv
