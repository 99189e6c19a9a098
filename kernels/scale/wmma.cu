// a = q b by nvcuda::wmma in FP64, whose only shape is 8 x 8 x 4: the accumulator is a tile of 8 x 8 numbers, the
// left and the right half of the tile are operands A, and the upper and the lower half of q I operands B. The library
// does the loads and stores, straight from and to memory, 8 bytes per lane and load; the last tile, where it is there in
// part, by way of shared memory.
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

  /// `rest` numbers behind the whole tiles.
  __global__ void __launch_bounds__(threads)
      wmma_kernel(std::int64_t n_tiles, int rest, double q, const double *__restrict__ b, double *a)
  {
    auto *const identity = reinterpret_cast<double *>(dynamic_shared());
    if (threadIdx.x < tile)
      identity[threadIdx.x] = threadIdx.x / edge == threadIdx.x % edge ? q : 0.;
    // The last tile is behind all whole ones: no other block needs it.
    double *const last = identity + tile;
    const bool has_rest = rest > 0 && blockIdx.x == gridDim.x - 1;
    if (has_rest && threadIdx.x < tile)
      last[threadIdx.x] =
          static_cast<int>(threadIdx.x) < rest ? b[n_tiles * tile + threadIdx.x] : 0.;
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
    const auto scale = [&](const FragmentA &a_left, const FragmentA &a_right, double *to) {
      nvcuda::wmma::fragment<nvcuda::wmma::accumulator, edge, edge, depth, double> product;
      nvcuda::wmma::fill_fragment(product, 0.);
      nvcuda::wmma::mma_sync(product, a_left, upper, product);
      nvcuda::wmma::mma_sync(product, a_right, lower, product);
      nvcuda::wmma::store_matrix_sync(to, product, edge, nvcuda::wmma::mem_row_major);
    };
#pragma unroll
    for (int i = 0; i < tiles_per_warp; ++i)
      if (first + i < n_tiles)
        scale(left[i], right[i], a + (first + i) * tile);
    if (has_rest && threadIdx.x < warp)
    {
      nvcuda::wmma::load_matrix_sync(left[0], last, edge);
      nvcuda::wmma::load_matrix_sync(right[0], last + depth, edge);
      __syncwarp();
      scale(left[0], right[0], last);
      __syncwarp();
      for (int i = static_cast<int>(threadIdx.x); i < rest; i += warp)
        a[n_tiles * tile + i] = last[i];
    }
  }
} // namespace

void wmma(std::int64_t size, double q, const double *b, double *a, Stream stream)
{
  constexpr std::int64_t per_block = threads / warp * tiles_per_warp;
  const std::int64_t n_blocks = (size + per_block * tile - 1) / (per_block * tile);
  if (n_blocks > 0)
    launch("launching the scale kernel of WMMA", wmma_kernel, dim3(static_cast<unsigned>(n_blocks)),
        dim3(threads), 2 * tile * sizeof(double), stream, size / tile,
        static_cast<int>(size % tile), q, b, a);
}
} // namespace tensormg::scale
