#include "kernels/gemm/aligned_rows.h"

#include <algorithm>

#include "kernels/core/half.h"
#include "kernels/core/launch.cuh"
#include "kernels/gemm/device.h"

namespace tensormg::gemm
{
namespace
{
  constexpr int threads = 256;

  /// A thread writes 16 bytes. It reads number by number: rows begin anywhere.
  template <typename Number>
  __global__ void __launch_bounds__(threads) copy_kernel(std::int64_t rows, std::int64_t columns,
      const Number *__restrict__ from, Number *__restrict__ to)
  {
    constexpr int width = 16 / sizeof(Number);
    const std::int64_t words = aligned_columns(columns) / width;
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t word = std::int64_t(blockIdx.x) * threads + threadIdx.x; word < rows * words;
         word += stride)
    {
      const std::int64_t row = word / words, first = word % words * width;
      union
      {
        uint4 bits;
        Number number[width];
      };
      bits = make_uint4(0, 0, 0, 0);
#pragma unroll
      for (int i = 0; i < width; ++i)
        if (first + i < columns)
          number[i] = from[row * columns + first + i];
      reinterpret_cast<uint4 *>(to)[word] = bits;
    }
  }
} // namespace

template <typename Number>
void copy_to_aligned_rows(
    std::int64_t rows, std::int64_t columns, const Number *from, Number *to, Stream stream)
{
  constexpr std::int64_t width = 16 / sizeof(Number), most_blocks = 1 << 16;
  const std::int64_t words = rows * aligned_columns(columns) / width;
  if (words == 0)
    return;
  const std::int64_t blocks = std::min(most_blocks, (words + threads - 1) / threads);
  launch("aligning the rows of a matrix", copy_kernel<Number>, dim3(static_cast<unsigned>(blocks)),
      dim3(threads), 0, stream, rows, columns, from, to);
}

template <typename Number>
std::int64_t wgmma_workspace(const Size &size)
{
  std::int64_t numbers = 0;
  if (!has_aligned_rows(size.k))
    numbers += size.m * aligned_columns(size.k);
  if (!has_aligned_rows(size.n))
    numbers += size.k * aligned_columns(size.n);
  return numbers;
}

template void copy_to_aligned_rows(std::int64_t, std::int64_t, const Half *, Half *, Stream);
template void copy_to_aligned_rows(std::int64_t, std::int64_t, const float *, float *, Stream);
template std::int64_t wgmma_workspace<Half>(const Size &);
template std::int64_t wgmma_workspace<float>(const Size &);
} // namespace tensormg::gemm
