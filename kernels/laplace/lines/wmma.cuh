// Products of the line kernel by nvcuda::wmma. Which lane holds what is not said there, so operands and
// sums pass through shared memory, of each warp its own: cells are rows of operand A and lie side by side.
#pragma once

#include <algorithm>
#include <bit>

#include <cuda_fp16.h>
#include <mma.h>

#include "kernels/laplace/lines/launch.cuh"
#include "kernels/mma/tf32.h"

namespace tensormg::laplace::lines
{
/// The shape for lines of n modes, the type of multiplicands in shared memory and as the library names them.
template <Arithmetic arithmetic, int n>
struct WmmaShape
{
  static constexpr bool fp16 = multiplies_halves(arithmetic);
  static constexpr bool fp64 = arithmetic == Arithmetic::fp64;
  using Multiplicand = std::conditional_t<fp64, double,
      std::conditional_t<fp16, __half, nvcuda::wmma::precision::tf32>>;
  using Field = std::conditional_t<fp64, double, std::conditional_t<fp16, __half, float>>;
  // FP16 has three shapes: 8 columns are enough for most degrees.
  static constexpr int rows = fp64 ? 8 : fp16 && n <= 8 ? 32 : 16;
  static constexpr int columns = fp64 || (fp16 && n <= 8) ? 8 : 16;
  static constexpr int depth = fp64 ? 4 : fp16 ? 16 : 8;
};

template <Arithmetic arithmetic_, int n_>
class WmmaProduct
{
public:
  static constexpr Arithmetic arithmetic = arithmetic_;
  static constexpr int n = n_;
  static constexpr int warps_alone = 8;
  static constexpr int unrolled = 1; ///< the compiler's time limits it

private:
  using Number = StorageOf<arithmetic>;
  using C = Compute<Number>;
  using S = WmmaShape<arithmetic, n>;
  using Field = typename S::Field;
  using A = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, S::rows, S::columns, S::depth,
      typename S::Multiplicand, nvcuda::wmma::col_major>;
  using B = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, S::rows, S::columns, S::depth,
      typename S::Multiplicand, nvcuda::wmma::row_major>;
  using Sum = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, S::rows, S::columns, S::depth, C>;
  static constexpr int steps = (2 * n + S::depth - 1) / S::depth, length = steps * S::depth;
  static constexpr int tiles = (n + S::columns - 1) / S::columns, width = tiles * S::columns;
  static constexpr int parts = arithmetic == Arithmetic::fp16x2 ? 2 : 1; ///< of weights

  static constexpr int weight_bytes = parts * length * width * int(sizeof(Field));
  static constexpr int warp_bytes =
      std::max(length * int(sizeof(Field)), width *int(sizeof(C))) * S::rows;

  Field *const weights_;        ///< [part][number m][sum i], of the block
  unsigned char *const memory_; ///< of this warp: [number m][cell], then [sum i][cell]
  B weight_[parts][tiles][steps];

public:
  static constexpr int halves = S::rows / 8; ///< strips of 8 cells in a product
  static constexpr int scratch(int warps) { return weight_bytes + warps * warp_bytes; }
  static_assert(weight_bytes % 128 == 0 && warp_bytes % 128 == 0);

  __device__ __forceinline__ explicit WmmaProduct(unsigned char *shared)
    : weights_(reinterpret_cast<Field *>(shared))
    , memory_(shared + weight_bytes + int(threadIdx.x) / 32 * warp_bytes)
  {}

  /// As MmaProduct. All threads of the block.
  template <typename Weight>
  __device__ __forceinline__ void prepare(const Weight &weight)
  {
    for (int at = threadIdx.x; at < length * width; at += int(blockDim.x))
    {
      C rest = weight(at / width, at % width);
#pragma unroll
      for (int part = 0; part < parts; ++part)
      {
        const Field rounded = round(rest);
        weights_[part * length * width + at] = rounded;
        rest -= number(rounded);
      }
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
        for (int step = 0; step < steps; ++step)
          nvcuda::wmma::load_matrix_sync(weight_[part][tile][step],
              weights_ + (part * length + step * S::depth) * width + tile * S::columns, width);
  }

  template <typename Extra>
  struct Extras
  {
    Extra of[halves][(n + 3) / 4];
  };
  template <typename Extra, typename Get>
  __device__ __forceinline__ void fetch(Extras<Extra> &extras, Get get) const
  {
    each_result(
        [&](int half, int cell, int four, int i) { extras.of[half][four] = get(half, cell, i); });
  }

  struct Operands
  {
    Number of[halves][length / 4];
  };
  static constexpr int under_way(bool) { return 1; }
  template <typename Get>
  __device__ __forceinline__ void load(Operands &operands, Get get) const
  {
    const int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < halves; ++half)
#pragma unroll
      for (int first = 0; first < length; first += 4)
        operands.of[half][first / 4] = get(half, lane % 8, min(first + lane / 8, 2 * n - 1));
  }

  template <typename Weights, typename Extra, typename Consume>
  __device__ __forceinline__ void run(
      const Weights &, const Operands &operands, const Extras<Extra> &extras, Consume consume) const
  {
    using namespace nvcuda;
    const int lane = int(threadIdx.x) % 32, cell = lane % 8;
    auto *const numbers = reinterpret_cast<Field *>(memory_);
    auto *const results = reinterpret_cast<C *>(memory_);
    __syncwarp(); // the results before have been read
#pragma unroll
    for (int half = 0; half < halves; ++half)
#pragma unroll
      for (int first = 0; first < length; first += 4)
      {
        const int m = first + lane / 8;
        numbers[m * S::rows + 8 * half + cell] =
            m < 2 * n ? field(operands.of[half][first / 4]) : Field(0.F);
      }
    __syncwarp();
    Sum sum[tiles];
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      wmma::fill_fragment(sum[tile], C(0));
#pragma unroll
    for (int step = 0; step < steps; ++step)
    {
      A a;
      wmma::load_matrix_sync(a, numbers + step * S::depth * S::rows, S::rows);
      if constexpr (arithmetic == Arithmetic::tf32)
#pragma unroll
        for (int e = 0; e < a.num_elements; ++e)
          a.x[e] = wmma::__float_to_tf32(a.x[e]);
#pragma unroll
      for (int part = parts - 1; part >= 0; --part)
#pragma unroll
        for (int tile = 0; tile < tiles; ++tile)
          wmma::mma_sync(sum[tile], a, weight_[part][tile][step], sum[tile]);
    }
    __syncwarp(); // the numbers have been read
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
      wmma::store_matrix_sync(
          results + tile * S::columns * S::rows, sum[tile], S::rows, wmma::mem_col_major);
    __syncwarp();
    each_result([&](int half, int of, int four, int i) {
      consume(half, of, i, results[i * S::rows + 8 * half + of], extras.of[half][four]);
    });
  }

private:
  /// f(half, cell, i / 4, i) for the results of this lane; i / 4 does not depend on it.
  template <typename Function>
  __device__ __forceinline__ static void each_result(Function f)
  {
    const int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < halves; ++half)
#pragma unroll
      for (int first = 0; first < n; first += 4)
        if (first + 3 < n || first + lane / 8 < n)
          f(half, lane % 8, first / 4, first + lane / 8);
  }
  __device__ __forceinline__ static double field(double value) { return value; }
  __device__ __forceinline__ static Field field(float value)
  {
    if constexpr (S::fp16)
      return round(value);
    else
      return value;
  }
  __device__ __forceinline__ static __half field(Half value)
  {
    return std::bit_cast<__half>(value);
  }

  __device__ __forceinline__ static Field round(C value)
  {
    if constexpr (S::fp16)
      return __float2half_rn(value);
    else if constexpr (S::fp64)
      return value;
    else
      return nvcuda::wmma::__float_to_tf32(value);
  }
  __device__ __forceinline__ static C number(Field value)
  {
    if constexpr (S::fp16)
      return __half2float(value);
    else
      return value;
  }
};
} // namespace tensormg::laplace::lines

namespace tensormg::laplace
{
template <Arithmetic arithmetic>
LinesKernel<StorageOf<arithmetic>> wmma_lines(int dim, int degree)
{
  using Number = StorageOf<arithmetic>;
  return dim == 2 ? lines_of_degree<lines::WmmaProduct, arithmetic, Number, 2>(degree)
                  : lines_of_degree<lines::WmmaProduct, arithmetic, Number, 3>(degree);
}
} // namespace tensormg::laplace
