// Products of FP16 matrices: configurations of the ladder, of which CUDA cores share the last.
#pragma once

#include "kernels/diagnostics/gemm/device.h"
#include "kernels/diagnostics/gemm/kernel.cuh"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg::gemm
{
/// What all rungs share, and what the first has: each further one names what it changes.
struct Naive
{
  using Policy = Plain<mma::M16N8K16<Half>>;
  static constexpr int m = 32, n = 32, k = 16;
  static constexpr int warps_m = 2, warps_n = 4;
  static constexpr int stages = 1;
  static constexpr Copies copies = Copies::numbers;
  static constexpr Fill fill = Fill::numbers;
  static constexpr bool buffered = false;
  static constexpr bool copies_first = false;
  static constexpr bool batched = false;
  static constexpr int least_blocks = 1;
  using LayoutA = mma::RowMajor<k>;
  using LayoutB = mma::RowMajor<n>;
};

struct MoreTiles : Naive
{
  static constexpr int m = 64, n = 64;
  using LayoutB = mma::RowMajor<n>;
};

/// Units of 16 bytes trade places: rows of A have 2 of them (32 bytes), rows of B 8.
struct PermutedTiles : MoreTiles
{
  static constexpr Copies copies = Copies::words;
  static constexpr Fill fill = Fill::ldmatrix;
  static constexpr int k = 32;
  using LayoutA = mma::Permuted<mma::RowMajor<k>, mma::Swizzle64B, 2>;
  using LayoutB = mma::Permuted<mma::RowMajor<n>, mma::Swizzle128B, 2>;
};

struct Buffered : PermutedTiles
{
  static constexpr bool buffered = true;
};

struct Staged : Buffered
{
  static constexpr int stages = 3;
  static constexpr Copies copies = Copies::async;
};

/// A warp has 64 x 64 sums: 8 KiB from shared memory for 64 products, where 64 x 32 would take 12. Rows of B have 256
/// bytes: their number changes units of 16 bytes within halves of a row.
struct Larger : Staged
{
  static constexpr int m = 256, n = 128, k = 64;
  static constexpr int warps_m = 4, warps_n = 2;
  static constexpr int stages = 4;
  using LayoutA = mma::Permuted<mma::RowMajor<k>, mma::Swizzle128B, 2>;
  using LayoutB = mma::Permuted<mma::RowMajor<n>, mma::Swizzle<3, 4, 4>, 2>;
};

/// The tiles, stages and copies of Larger; a lane has 8 x 16 sums.
struct CudaLarger : Larger
{
  using S = CudaVectors<Half, float, 4>;
  using Policy = Plain<S>;
  static constexpr Fill fill = Fill::vectors;
  static constexpr bool buffered = false;
  static constexpr int steps_at_once = 2;
  static_assert(vector_conflicts<S, LayoutA, LayoutB>() == 0);
};

template <Rung rung>
struct Fp16ConfigOf;
template <>
struct Fp16ConfigOf<Rung::naive>
{
  using type = Naive;
};
template <>
struct Fp16ConfigOf<Rung::more_tiles>
{
  using type = MoreTiles;
};
template <>
struct Fp16ConfigOf<Rung::permuted>
{
  using type = PermutedTiles;
};
template <>
struct Fp16ConfigOf<Rung::buffered>
{
  using type = Buffered;
};
template <>
struct Fp16ConfigOf<Rung::staged>
{
  using type = Staged;
};
template <>
struct Fp16ConfigOf<Rung::larger>
{
  using type = Larger;
};
template <>
struct Fp16ConfigOf<Rung::cuda_cores>
{
  using type = CudaLarger;
};

template <Rung rung>
void fp16(const Size &size, const Half *a, const Half *b, float *c, Stream stream)
{
  run<typename Fp16ConfigOf<rung>::type>("launching the FP16 product", size, a, b, c, stream);
}

template <Rung rung>
Blocking fp16_blocking()
{
  return blocking_of<typename Fp16ConfigOf<rung>::type>();
}

template <Rung rung>
double fp16_shared_bytes(const Size &size)
{
  return shared_bytes_of<typename Fp16ConfigOf<rung>::type>(size);
}
} // namespace tensormg::gemm
