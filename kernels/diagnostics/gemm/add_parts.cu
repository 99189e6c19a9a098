#include "kernels/diagnostics/gemm/add_parts.h"

#include "kernels/device/launch.cuh"
#include "kernels/device/pipeline.cuh"

namespace tensormg::gemm
{
namespace
{
  /// A block has `width` quads of numbers that lie next to each other, and adds their parts in slices of which each has its
  /// own threads: tiles are few where parts are many.
  constexpr int width = 16, slices = 16;

  struct Sums
  {
    Division division;
    int rows, columns, m, n;
    const float *partial;
    float *c;
  };

  __device__ float4 operator+(const float4 &x, const float4 &y)
  {
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }

  template <int n_slices>
  __global__ void __launch_bounds__(width *slices) add_kernel(const __grid_constant__ Sums sums)
  {
    __shared__ float4 of_slices[width * slices];
    const int thread = static_cast<int>(threadIdx.x);
    constexpr int quads_of_block = width * slices / n_slices;
    const int slice = thread / quads_of_block;
    const int quads = sums.rows * sums.columns / 4, parts = sums.division.parts;
    const int quad = static_cast<int>(blockIdx.x) * quads_of_block + thread % quads_of_block;
    const int in_tile = quad % quads, tile = quad / quads;
    const Position position = position_of(sums.division, sums.division.whole + tile);
    const int row = position.m * sums.rows + in_tile * 4 / sums.columns;
    const int column = position.n * sums.columns + in_tile * 4 % sums.columns;
    const bool exists = row < sums.m && column < sums.n;
    const float4 *const from = reinterpret_cast<const float4 *>(sums.partial) +
        static_cast<std::int64_t>(tile) * parts * quads + in_tile;
    const int begin = parts * slice / n_slices, end = exists ? parts * (slice + 1) / n_slices : 0;
    pipeline::wait_for_kernel_before();
    pipeline::let_next_kernel_start();
    float4 sum = make_float4(0.F, 0.F, 0.F, 0.F);
    // Loads of a batch wait together, also where parts are fewer.
    constexpr int batch = 8;
    for (int first = begin; first < end; first += batch)
    {
      float4 x[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (first + i < end)
          x[i] = from[static_cast<std::int64_t>(first + i) * quads];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (first + i < end)
          sum = sum + x[i];
    }
    if constexpr (n_slices > 1)
    {
      of_slices[thread] = sum;
      __syncthreads();
      if (slice > 0)
        return;
      for (int s = 1; s < n_slices; ++s)
        sum = sum + of_slices[s * quads_of_block + thread];
    }
    if (!exists)
      return;
    float *const to = sums.c + static_cast<std::int64_t>(row) * sums.n + column;
    if (sums.n % 4 == 0)
    {
      *reinterpret_cast<float4 *>(to) = sum;
      return;
    }
    const float numbers[4]{sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (column + i < sums.n)
        to[i] = numbers[i];
  }
} // namespace

void add_parts(const Division &division, int rows, int columns, int m, int n, const float *partial,
    float *c, Stream stream)
{
  const Sums sums{division, rows, columns, m, n, partial, c};
  const int n_slices = division.parts >= 2 * slices ? slices : 1;
  const auto quads = static_cast<std::int64_t>(division.divided()) * rows * columns / 4;
  const std::int64_t blocks = quads * n_slices / (width * slices);
  if (blocks > 0)
    launch_overlapping("adding parts of a product",
        n_slices == 1 ? add_kernel<1> : add_kernel<slices>, dim3(static_cast<unsigned>(blocks)),
        dim3(width * slices), 0, stream, sums);
}
} // namespace tensormg::gemm
