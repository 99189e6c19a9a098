// a = q b by nvcuda::wmma in FP64, whose only shape is 8 x 8 x 4: the accumulator is a tile of 8 x 8 numbers, the
// left and the right half of the tile are operands A, and the upper and the lower half of q I operands B. The library
// does the loads and stores, straight from and to memory, 8 bytes per lane and load.
#include <stdexcept>

#include <mma.h>

#include "kernels/core/launch.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/scale/scale.h"

namespace tensormg::scale
{
namespace
{
  constexpr int threads = 256, warp = 32;
  constexpr int edge = 8, depth = 4, tile = edge * edge;
  constexpr int tiles_per_warp = 4;

  template <typename Use, typename Order = void>
  using Fragment = nvcuda::wmma::fragment<Use, edge, edge, depth, double, Order>;
  using FragmentA = Fragment<nvcuda::wmma::matrix_a, nvcuda::wmma::row_major>;
  using FragmentB = Fragment<nvcuda::wmma::matrix_b, nvcuda::wmma::row_major>;

  __global__ void __launch_bounds__(threads)
      wmma_kernel(std::int64_t n_tiles, double q, const double *__restrict__ b, double *a)
  {
    auto *const identity = reinterpret_cast<double *>(dynamic_shared());
    if (threadIdx.x < tile)
      identity[threadIdx.x] = threadIdx.x / edge == threadIdx.x % edge ? q : 0.;
    __syncthreads();
    FragmentB upper, lower;
    nvcuda::wmma::load_matrix_sync(upper, identity, edge);
    nvcuda::wmma::load_matrix_sync(lower, identity + depth * edge, edge);

    const std::int64_t first =
        (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / warp * tiles_per_warp;
    FragmentA left[tiles_per_warp], right[tiles_per_warp];
#pragma unroll
    for (int i = 0; i < tiles_per_warp; ++i)
      if (first + i < n_tiles)
      {
        nvcuda::wmma::load_matrix_sync(left[i], b + (first + i) * tile, edge);
        nvcuda::wmma::load_matrix_sync(right[i], b + (first + i) * tile + depth, edge);
      }
#pragma unroll
    for (int i = 0; i < tiles_per_warp; ++i)
      if (first + i < n_tiles)
      {
        nvcuda::wmma::fragment<nvcuda::wmma::accumulator, edge, edge, depth, double> product;
        nvcuda::wmma::fill_fragment(product, 0.);
        nvcuda::wmma::mma_sync(product, left[i], upper, product);
        nvcuda::wmma::mma_sync(product, right[i], lower, product);
        nvcuda::wmma::store_matrix_sync(
            a + (first + i) * tile, product, edge, nvcuda::wmma::mem_row_major);
      }
  }
} // namespace

void wmma(std::int64_t size, double q, const double *b, double *a, Stream stream)
{
  const std::int64_t n_tiles = size / tile;
  constexpr std::int64_t per_block = threads / warp * tiles_per_warp;
  if (size % tile != 0)
    throw std::invalid_argument("the scale kernel of WMMA takes multiples of 64 numbers");
  if (n_tiles > 0)
    launch("launching the scale kernel of WMMA", wmma_kernel,
        dim3(static_cast<unsigned>((n_tiles + per_block - 1) / per_block)), dim3(threads),
        tile * sizeof(double), stream, n_tiles, q, b, a);
}
} // namespace tensormg::scale
