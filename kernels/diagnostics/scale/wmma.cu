// a = q b by nvcuda::wmma: the accumulator is a tile of numbers as they lie in memory, pieces of its columns are
// operands A, and pieces of the rows of q I operands B. The library does the loads and stores, straight from and to
// memory, 8 or fewer bytes per lane and load; the last tile, where it is there in part, by way of shared memory.
#include <cuda_fp16.h>
#include <mma.h>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/scale/scale.h"

namespace tensormg::scale
{
namespace
{
  constexpr int threads = 256, warp = 32, tiles_per_warp = 4;

  /// A tile of edge x edge numbers by products over `depth`; Storage is what the library loads.
  template <int edge_, int depth_, typename Storage_, typename Operand_>
  struct Shape
  {
    static constexpr int edge = edge_, depth = depth_, pieces = edge / depth, tile = edge * edge;
    using Storage = Storage_;
    template <typename Use>
    using Factor =
        nvcuda::wmma::fragment<Use, edge, edge, depth, Operand_, nvcuda::wmma::row_major>;
    using FragmentA = Factor<nvcuda::wmma::matrix_a>;
    using FragmentB = Factor<nvcuda::wmma::matrix_b>;
    /// Of the type in memory: a sum has one term that is not zero.
    using Accumulator =
        nvcuda::wmma::fragment<nvcuda::wmma::accumulator, edge, edge, depth, Storage>;
  };
  using TilesFp64 = Shape<8, 4, double, double>;
  using TilesTf32 = Shape<16, 8, float, nvcuda::wmma::precision::tf32>;
  using TilesFp16 = Shape<16, 16, __half, __half>;

  __device__ double as_storage(double x, double) { return x; }
  __device__ float as_storage(double x, float) { return static_cast<float>(x); }
  __device__ __half as_storage(double x, __half) { return __float2half_rn(static_cast<float>(x)); }

  /// The library takes numbers of TF32 only rounded.
  template <typename Fragment>
  __device__ void round_to_operand(Fragment &fragment)
  {
    if constexpr (sizeof(fragment.x[0]) == sizeof(float))
      for (int i = 0; i < Fragment::num_elements; ++i)
        fragment.x[i] = nvcuda::wmma::__float_to_tf32(fragment.x[i]);
  }

  /// `rest` numbers behind the whole tiles.
  template <typename S>
  __global__ void __launch_bounds__(threads) wmma_kernel(std::int64_t n_tiles, int rest, double q,
      const typename S::Storage *__restrict__ b, typename S::Storage *a)
  {
    using Number = typename S::Storage;
    constexpr int edge = S::edge, depth = S::depth, tile = S::tile;
    const Number zero = as_storage(0., Number());
    auto *const identity = reinterpret_cast<Number *>(dynamic_shared());
    for (int i = static_cast<int>(threadIdx.x); i < tile; i += threads)
      identity[i] = i / edge == i % edge ? as_storage(q, Number()) : zero;
    // The last tile is behind all whole ones: no other block needs it.
    Number *const last = identity + tile;
    const bool has_rest = rest > 0 && blockIdx.x == gridDim.x - 1;
    if (has_rest)
      for (int i = static_cast<int>(threadIdx.x); i < tile; i += threads)
        last[i] = i < rest ? b[n_tiles * tile + i] : zero;
    __syncthreads();
    typename S::FragmentB factor[S::pieces];
    for (int piece = 0; piece < S::pieces; ++piece)
    {
      nvcuda::wmma::load_matrix_sync(factor[piece], identity + piece * depth * edge, edge);
      round_to_operand(factor[piece]);
    }

    const std::int64_t first =
        (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / warp * tiles_per_warp;
    typename S::FragmentA read[tiles_per_warp][S::pieces];
    const auto load = [&](typename S::FragmentA(&to)[S::pieces], const Number *from) {
      for (int piece = 0; piece < S::pieces; ++piece)
        nvcuda::wmma::load_matrix_sync(to[piece], from + piece * depth, edge);
    };
    const auto scale = [&](typename S::FragmentA(&from)[S::pieces], Number *to) {
      typename S::Accumulator product;
      nvcuda::wmma::fill_fragment(product, zero);
      for (int piece = 0; piece < S::pieces; ++piece)
      {
        round_to_operand(from[piece]);
        nvcuda::wmma::mma_sync(product, from[piece], factor[piece], product);
      }
      nvcuda::wmma::store_matrix_sync(to, product, edge, nvcuda::wmma::mem_row_major);
    };
#pragma unroll
    for (int i = 0; i < tiles_per_warp; ++i)
      if (first + i < n_tiles)
        load(read[i], b + (first + i) * tile);
#pragma unroll
    for (int i = 0; i < tiles_per_warp; ++i)
      if (first + i < n_tiles)
        scale(read[i], a + (first + i) * tile);
    if (has_rest && threadIdx.x < warp)
    {
      load(read[0], last);
      __syncwarp();
      scale(read[0], last);
      __syncwarp();
      for (int i = static_cast<int>(threadIdx.x); i < rest; i += warp)
        a[n_tiles * tile + i] = last[i];
    }
  }

  template <typename S>
  void launch_tiles(const char *name, std::int64_t size, double q, const typename S::Storage *b,
      typename S::Storage *a, Stream stream)
  {
    constexpr std::int64_t per_block = threads / warp * tiles_per_warp * S::tile;
    const std::int64_t n_blocks = (size + per_block - 1) / per_block;
    if (n_blocks > 0)
      launch(name, wmma_kernel<S>, dim3(static_cast<unsigned>(n_blocks)), dim3(threads),
          2 * S::tile * sizeof(*b), stream, size / S::tile, static_cast<int>(size % S::tile), q, b,
          a);
  }
} // namespace

void wmma(std::int64_t size, double q, const double *b, double *a, Stream stream)
{
  launch_tiles<TilesFp64>("launching the scale kernel of WMMA", size, q, b, a, stream);
}

void wmma_tf32(std::int64_t size, double q, const float *b, float *a, Stream stream)
{
  launch_tiles<TilesTf32>("launching the scale kernel of WMMA in TF32", size, q, b, a, stream);
}

void wmma_fp16(std::int64_t size, double q, const Half *b, Half *a, Stream stream)
{
  launch_tiles<TilesFp16>("launching the scale kernel of WMMA in FP16", size, q,
      reinterpret_cast<const __half *>(b), reinterpret_cast<__half *>(a), stream);
}
} // namespace tensormg::scale
