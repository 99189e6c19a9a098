#include "kernels/diagnostics/gemm/aligned_rows.h"

#include <algorithm>

#include "kernels/core/half.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/pipeline.cuh"

namespace tensormg::gemm
{
namespace
{
  constexpr int threads = 256;

  /// A thread writes 16 bytes. It reads number by number: rows begin anywhere.
  template <typename Number>
  __device__ void copy_word(const RowCopy<Number> &copy, std::int64_t word)
  {
    constexpr int width = 16 / sizeof(Number);
    const std::int64_t words = aligned_columns(copy.columns) / width;
    const std::int64_t row = word / words, first = word % words * width;
    union
    {
      uint4 bits;
      Number number[width];
    };
    bits = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < width; ++i)
      if (first + i < copy.columns)
        number[i] = copy.from[row * copy.columns + first + i];
    reinterpret_cast<uint4 *>(copy.to)[word] = bits;
  }

  template <typename Number>
  __host__ __device__ constexpr std::int64_t words_of(const RowCopy<Number> &copy)
  {
    return copy.rows * aligned_columns(copy.columns) * static_cast<int>(sizeof(Number)) / 16;
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads)
      copy_kernel(const RowCopy<Number> first, const RowCopy<Number> second)
  {
    pipeline::wait_for_kernel_before();
    pipeline::let_next_kernel_start();
    const std::int64_t of_first = words_of(first), words = of_first + words_of(second);
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t word = std::int64_t(blockIdx.x) * threads + threadIdx.x; word < words;
         word += stride)
      if (word < of_first)
        copy_word(first, word);
      else
        copy_word(second, word - of_first);
  }
} // namespace

template <typename Number>
void copy_to_aligned_rows(
    const RowCopy<Number> &first, const RowCopy<Number> &second, Stream stream)
{
  constexpr std::int64_t most_blocks = 1 << 16;
  const std::int64_t words = words_of(first) + words_of(second);
  if (words == 0)
    return;
  const std::int64_t blocks = std::min(most_blocks, (words + threads - 1) / threads);
  launch_overlapping("aligning the rows of matrices", copy_kernel<Number>,
      dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, stream, first, second);
}

template void copy_to_aligned_rows(const RowCopy<Half> &, const RowCopy<Half> &, Stream);
template void copy_to_aligned_rows(const RowCopy<float> &, const RowCopy<float> &, Stream);
} // namespace tensormg::gemm
