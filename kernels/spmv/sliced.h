// CONTRACT of the product y = A x with a matrix in slices of eight rows, made for the fragments of mma.sync.
//
// A slice holds eight rows of similar length, cut into blocks of eight rows by four entries and filled up with
// zeros. Entry t of row g of a block lies at 4 g + t: lane 4 g + t of a warp reads its value as A[g][t] and the
// x of its column as B[t][g], and the diagonal of A B are the sums of the eight rows. One eighth of the product
// is used; a product with sparse matrices leaves so much of the arithmetic unused anyway.
//
//   reference_sliced   host, the oracle of the format
//   cuda_sliced_mma    the diagonals of mma.sync: m8n8k4 in double; m16n8k8 in FP16, of which one block fills a quarter, with
//                      sums and y in FP32
//   cuda_sliced_fma    the same loads, each lane a multiplication and an addition, shuffles at the end: the twin
//
// Rows longer than `longest_piece` are long: they have slices of their own, whose blocks hold 32 neighbouring entries of
// one row, four for each of eight pieces, so that a warp reads x at neighbouring places; the sums of the pieces are
// added afterwards in their order by a kernel of its own. A warp gets neighbouring slices with about as many
// blocks as any other warp. y is written in the order of the matrix: nothing is left permuted. x must be finite (zeros of the filling are
// multiplied with it). Source of the diagonal: Y. Lu, W. Liu, "DASP: Specific dense matrix multiply-accumulate
// units accelerated general sparse matrix-vector multiplication", SC 2023.
// Tests: tests/kernels/spmv_cuda_test.cu, tests/operators/sparse/sliced_matrix_test.cc.
#pragma once

#include <cstdint>

#include "kernels/core/device.h"
#include "kernels/core/half.h"

namespace tensormg::spmv
{
inline constexpr int slice_rows = 8, block_entries = 4, block_size = slice_rows * block_entries;
inline constexpr std::int32_t longest_piece = 256;
/// Of a long row in one slice.
inline constexpr std::int32_t longest_chunk = slice_rows * longest_piece;
/// A warp's slices: their number, and their blocks unless it is one slice.
inline constexpr std::int32_t most_slices_of_warp = 8, most_blocks_of_warp = 32;

template <typename Number>
struct Sliced
{
  std::int32_t rows = 0;
  std::int32_t slices = 0;
  std::int32_t long_rows = 0;
  const std::int32_t *block_begin = nullptr; ///< slices + 1, counted in blocks
  const std::int32_t *column = nullptr;      ///< block_size per block
  const Number *value = nullptr;             ///< likewise
  /// slice_rows per slice: where the sum goes. Less than `rows`: y; otherwise piece target - rows; -1: nowhere.
  const std::int32_t *target = nullptr;
  const std::int32_t *long_row = nullptr;    ///< long_rows: the rows that were cut
  const std::int32_t *piece_begin = nullptr; ///< long_rows + 1
  std::int32_t warps = 0;
  const std::int32_t *warp_begin = nullptr; ///< warps + 1, counted in slices
};

/// `pieces`: scratch memory for the sums of pieces, piece_begin[long_rows] numbers.
template <typename Number>
void reference_sliced(
    const Sliced<Number> &matrix, const Number *x, Compute<Number> *y, Compute<Number> *pieces);

/// Device memory, queued in the stream; DeviceError in a build without CUDA.
void cuda_sliced_mma(
    const Sliced<double> &matrix, const double *x, double *y, double *pieces, Stream stream);
void cuda_sliced_mma(
    const Sliced<Half> &matrix, const Half *x, float *y, float *pieces, Stream stream);
template <typename Number>
void cuda_sliced_fma(const Sliced<Number> &matrix, const Number *x, Compute<Number> *y,
    Compute<Number> *pieces, Stream stream);
} // namespace tensormg::spmv
