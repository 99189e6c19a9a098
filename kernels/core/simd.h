// Fixed-width vectors of float and double over the compiler's vector extension, with loads and stores
// that convert from the stored type. Widths divide row_granularity or are twice that (float, AVX-512).
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

#if defined(__AVX__) || defined(__F16C__)
#include <immintrin.h>
#endif

/// Loop bodies must be inlined: otherwise what they capture lives in memory and aliases their stores.
#define TENSORMG_INLINE __attribute__((always_inline))

namespace tensormg::simd
{
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
inline constexpr const char *instruction_set = "AVX-512";
/// The zero-masked forms of the conversions: the plain ones trip -Wmaybe-uninitialized in GCC 12.
inline constexpr __mmask16 all_lanes = 0xffff;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
inline constexpr const char *instruction_set = "AVX2";
#else
inline constexpr int register_bytes = 16;
#if defined(__SSE2__)
inline constexpr const char *instruction_set = "SSE2";
#else
inline constexpr const char *instruction_set = "as the compiler chose"; // ARM: NEON
#endif
#endif

/// Lanes of one register.
template <typename Number>
inline constexpr int native_width = register_bytes / static_cast<int>(sizeof(Number));

/// W numbers; the arithmetic operators act lane by lane.
template <std::floating_point Number, int W>
struct VectorType
{
  using type [[gnu::vector_size(W * sizeof(Number))]] = Number;
};
template <std::floating_point Number, int W>
using Vec = typename VectorType<Number, W>::type;

/// All lanes the same.
template <int W, typename Number>
inline Vec<Number, W> broadcast(Number value)
{
  return value - Vec<Number, W>{}; // the extension broadcasts scalars in mixed expressions
}

/// Unaligned load of W numbers.
template <int W, std::floating_point Number>
inline Vec<Number, W> load(const Number *p)
{
  Vec<Number, W> v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

template <int W>
inline Vec<float, W> load(const Half *p)
{
#if defined(__AVX512F__)
  if constexpr (W == 16)
    return (Vec<float, 16>)_mm512_maskz_cvtph_ps(
        all_lanes, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
  else
#endif
#if defined(__F16C__)
      if constexpr (W == 8)
    return (Vec<float, 8>)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
  else
#endif
  {
    Vec<float, W> v;
    for (int i = 0; i < W; ++i)
      v[i] = static_cast<float>(p[i]);
    return v;
  }
}

template <int W>
inline Vec<double, W> load(const WideFloat *p)
{
  Vec<float, W> v;
  std::memcpy(&v, p, sizeof(v));
  return __builtin_convertvector(v, Vec<double, W>);
}

/// Unaligned store of W numbers.
template <int W, std::floating_point Number>
inline void store(Number *p, Vec<Number, W> v)
{
  std::memcpy(p, &v, sizeof(v));
}

template <int W>
inline void store(Half *p, Vec<float, W> v)
{
#if defined(__AVX512F__)
  if constexpr (W == 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(p),
        _mm512_maskz_cvtps_ph(all_lanes, (__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  else
#endif
#if defined(__F16C__)
      if constexpr (W == 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p),
        _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  else
#endif
    for (int i = 0; i < W; ++i)
      p[i] = Half(v[i]);
}

template <int W>
inline void store(WideFloat *p, Vec<double, W> v)
{
  const Vec<float, W> rounded = __builtin_convertvector(v, Vec<float, W>);
  std::memcpy(static_cast<void *>(p), &rounded, sizeof(rounded));
}

/// Store past the caches; p must be aligned to the bytes of the vector.
template <int W, typename Number>
inline void store_streaming(Number *p, Vec<Compute<Number>, W> v)
{
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<Number, double> && W == 8)
    _mm512_stream_pd(p, (__m512d)v);
  else if constexpr (std::is_same_v<Number, float> && W == 16)
    _mm512_stream_ps(p, (__m512)v);
  else if constexpr (std::is_same_v<Number, WideFloat> && W == 8)
    _mm256_stream_ps(&p->value, (__m256) __builtin_convertvector(v, Vec<float, W>));
  else if constexpr (std::is_same_v<Number, Half> && W == 16)
    _mm256_stream_si256(reinterpret_cast<__m256i *>(p),
        _mm512_maskz_cvtps_ph(all_lanes, (__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  else
#elif defined(__AVX__)
  if constexpr (std::is_same_v<Number, double> && W == 4)
    _mm256_stream_pd(p, (__m256d)v);
  else if constexpr (std::is_same_v<Number, float> && W == 8)
    _mm256_stream_ps(p, (__m256)v);
  else if constexpr (std::is_same_v<Number, WideFloat> && W == 4)
    _mm_stream_ps(&p->value, (__m128) __builtin_convertvector(v, Vec<float, W>));
  else
#endif
    store<W>(p, v);
}

/// What leaves past the caches at once.
inline constexpr std::int64_t line_bytes = 64;

/// Copies one line past the caches, by halves, as which it has just been stored: a wider load would wait until they have left the
/// store buffer. Both begin at a multiple of line_bytes.
inline void stream_line(void *to, const void *from)
{
#if defined(__AVX__)
  for (int half = 0; half < 2; ++half)
    _mm256_stream_si256(static_cast<__m256i *>(to) + half,
        _mm256_load_si256(static_cast<const __m256i *>(from) + half));
#else
  std::memcpy(to, from, line_bytes);
#endif
}

/// v in lanes below `count`, zero in the others (also where v is NaN).
template <int W, typename Number>
inline Vec<Number, W> keep_first(Vec<Number, W> v, std::int64_t count)
{
  for (int i = 0; i < W; ++i)
    v[i] = i < count ? v[i] : Number(0);
  return v;
}

/// f(x, width) for x = 0, W, 2W, ... < length in full registers, a remainder of row_granularity in
/// narrower ones. length is a multiple of row_granularity.
template <typename Number, typename Function>
TENSORMG_INLINE inline void for_each_vector(std::int64_t length, Function &&f)
{
  constexpr int W = native_width<Number>;
  std::int64_t x = 0;
  for (; x + W <= length; x += W)
    f(x, std::integral_constant<int, W>());
  if constexpr (W > 8)
    for (; x < length; x += 8)
      f(x, std::integral_constant<int, 8>());
}
} // namespace tensormg::simd
