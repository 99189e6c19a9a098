// How all scale kernels of the device but WMMA's go through memory: only the arithmetic differs.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/device/launch.cuh"

namespace tensormg::scale
{
inline constexpr int threads = 256;
inline constexpr int words_per_thread = 4; ///< loads in flight

/// 16 bytes: a load or a store of one lane.
struct alignas(16) Word
{
  std::uint32_t parts[4];
};

/// The same as numbers.
template <typename Number>
struct alignas(16) Numbers
{
  Number values[16 / sizeof(Number)];
};
template <typename Number>
__device__ Numbers<Number> numbers_of(const Word &word)
{
  return std::bit_cast<Numbers<Number>>(word);
}
template <typename Number>
__device__ Word word_of(const Numbers<Number> &numbers)
{
  return std::bit_cast<Word>(numbers);
}

/// A block owns threads * words_per_thread words; the last one of a vector may be there in part. Arithmetic::scale(q, words) is
/// called by all lanes.
template <typename Arithmetic, typename Number>
__global__ void __launch_bounds__(threads)
    words_kernel(std::int64_t size, double q, const Number *__restrict__ b, Number *__restrict__ a)
{
  constexpr int per_word = 16 / sizeof(Number);
  const std::int64_t n_words = size / per_word;
  const int rest = static_cast<int>(size % per_word);
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * (threads * words_per_thread) + threadIdx.x;
  Word words[words_per_thread]{};
#pragma unroll
  for (int w = 0; w < words_per_thread; ++w)
    if (const std::int64_t at = first + w * threads; at < n_words)
      words[w] = std::bit_cast<Word>(__ldcs(reinterpret_cast<const uint4 *>(b) + at));
    else if (at == n_words && rest > 0)
    {
      Numbers<Number> numbers{};
      for (int i = 0; i < rest; ++i)
        numbers.values[i] = b[n_words * per_word + i];
      words[w] = word_of(numbers);
    }
  Arithmetic::scale(q, words);
#pragma unroll
  for (int w = 0; w < words_per_thread; ++w)
    if (const std::int64_t at = first + w * threads; at < n_words)
      __stcs(reinterpret_cast<uint4 *>(a) + at, std::bit_cast<uint4>(words[w]));
    else if (at == n_words && rest > 0)
    {
      const Numbers<Number> numbers = numbers_of<Number>(words[w]);
      for (int i = 0; i < rest; ++i)
        a[n_words * per_word + i] = numbers.values[i];
    }
}

template <typename Arithmetic, typename Number>
void launch_words(
    const char *name, std::int64_t size, double q, const Number *b, Number *a, Stream stream)
{
  constexpr std::int64_t per_word = 16 / sizeof(Number), per_block = threads * words_per_thread;
  const std::int64_t n_words = (size + per_word - 1) / per_word;
  if (n_words == 0)
    return;
  launch(name, words_kernel<Arithmetic, Number>,
      dim3(static_cast<unsigned>((n_words + per_block - 1) / per_block)), dim3(threads), 0, stream,
      size, q, b, a);
}
} // namespace tensormg::scale
