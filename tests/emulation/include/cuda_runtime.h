// Stands in for CUDA's header of this name when device code is compiled as C++: see ../emulation.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#include "tests/emulation/emulation.h"

#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#undef __align__
#undef __forceinline__
#define __forceinline__                                                                            \
  inline // forced, everything becomes one function: four times the time to compile
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)
#define threadIdx (::tensormg::emulation::thread->index)
#define blockIdx (::tensormg::emulation::thread->block->index)
#define blockDim (::tensormg::emulation::thread->block->block_size)
#define gridDim (::tensormg::emulation::thread->block->grid_size)

inline constexpr int warpSize = 32;

inline void __syncthreads() { tensormg::emulation::block_barrier(); }
inline void __syncwarp(unsigned mask = ~0u) { tensormg::emulation::warp_barrier(mask); }
inline void __threadfence() {}
inline void __threadfence_block() {}
[[noreturn]] inline void __trap() { throw tensormg::emulation::Trap(); }
inline void __nanosleep(unsigned) { tensormg::emulation::yield(); }

namespace tensormg::emulation
{
template <typename T, typename Source>
T shuffle(unsigned mask, T value, int width, Source source)
{
  const int lane = thread->lane, first = lane / width * width;
  return collective(mask, value, [&](auto of_lane) {
    const int from = source(lane - first);
    return of_lane(from < 0 || from >= width ? lane : first + from);
  });
}
} // namespace tensormg::emulation

template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
  return tensormg::emulation::shuffle(mask, value, width, [&](int) { return lane & (width - 1); });
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
  return tensormg::emulation::shuffle(
      mask, value, width, [&](int own) { return own - static_cast<int>(delta); });
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
  return tensormg::emulation::shuffle(
      mask, value, width, [&](int own) { return own + static_cast<int>(delta); });
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
  return tensormg::emulation::shuffle(mask, value, width, [&](int own) { return own ^ bits; });
}
inline unsigned __ballot_sync(unsigned mask, int predicate)
{
  return tensormg::emulation::collective(mask, predicate != 0, [&](auto of_lane) {
    unsigned result = 0;
    for (int lane = 0; lane < 32; ++lane)
      if ((mask >> lane & 1u) != 0 && of_lane(lane))
        result |= 1u << lane;
    return result;
  });
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate)
{
  return __ballot_sync(mask, predicate) == mask;
}

template <typename T>
T __ldg(const T *from)
{
  return *from;
}
template <typename T>
T __ldcs(const T *from)
{
  return *from;
}
template <typename T>
T __ldca(const T *from)
{
  return *from;
}
template <typename T>
T __ldcg(const T *from)
{
  return *from;
}
template <typename T, typename U>
void __stcs(T *to, U value)
{
  *to = value;
}
template <typename T, typename U>
void __stcg(T *to, U value)
{
  *to = value;
}

template <typename T>
T atomicAdd(T *to, T value)
{
  const T old = *to;
  *to += value;
  return old;
}
template <typename T>
T atomicMax(T *to, T value)
{
  const T old = *to;
  *to = std::max(old, value);
  return old;
}
template <typename T>
T atomicOr(T *to, T value)
{
  const T old = *to;
  *to |= value;
  return old;
}
template <typename T>
T atomicExch(T *to, T value)
{
  const T old = *to;
  *to = value;
  return old;
}
template <typename T>
T atomicCAS(T *to, T expected, T value)
{
  const T old = *to;
  if (old == expected)
    *to = value;
  return old;
}

inline int min(int a, int b) { return std::min(a, b); }
inline int max(int a, int b) { return std::max(a, b); }
inline unsigned min(unsigned a, unsigned b) { return std::min(a, b); }
inline unsigned max(unsigned a, unsigned b) { return std::max(a, b); }
inline long min(long a, long b) { return std::min(a, b); }
inline long max(long a, long b) { return std::max(a, b); }
inline long long min(long long a, long long b) { return std::min(a, b); }
inline long long max(long long a, long long b) { return std::max(a, b); }
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }

inline float __frcp_rn(float a) { return 1.F / a; }
inline double __drcp_rn(double a) { return 1. / a; }
inline float rsqrtf(float a) { return 1.F / std::sqrt(a); }
inline double rsqrt(double a) { return 1. / std::sqrt(a); }
inline unsigned __float_as_uint(float a) { return std::bit_cast<unsigned>(a); }
inline float __uint_as_float(unsigned a) { return std::bit_cast<float>(a); }
inline long long __double_as_longlong(double a) { return std::bit_cast<long long>(a); }
inline double __longlong_as_double(long long a) { return std::bit_cast<double>(a); }
inline int __popc(unsigned a) { return std::popcount(a); }
inline int __clz(int a) { return std::countl_zero(static_cast<unsigned>(a)); }
inline int __ffs(int a) { return a == 0 ? 0 : std::countr_zero(static_cast<unsigned>(a)) + 1; }
