// The sum of all numbers of a block.
#pragma once

#include "kernels/device/launch.cuh"

namespace tensormg::stream
{
/// To a[block], always in the same order.
template <int threads>
__device__ inline void store_sum(double sum, double *a)
{
  constexpr int warp = 32;
  constexpr unsigned all_lanes = 0xffffffffu;
  __shared__ double warp_sums[threads / warp];
#pragma unroll
  for (int distance = warp / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(all_lanes, sum, distance);
  if (threadIdx.x % warp == 0)
    warp_sums[threadIdx.x / warp] = sum;
  __syncthreads();
  if (threadIdx.x > 0)
    return;
  for (int w = 1; w < threads / warp; ++w)
    sum += warp_sums[w];
  a[blockIdx.x] = sum;
}
} // namespace tensormg::stream
