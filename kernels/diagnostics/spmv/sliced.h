// CONTRACT of the product y = A x with a matrix in groups of 32 rows, made for the fragments of mma.sync.
//
// A group holds 32 rows of similar length as four slices of eight, filled up with zeros to the longest of them, n
// entries: n / 4 quads, each four entries of every row, and n % 4 singles, each one entry of every row. In a quad
// entry t of row g of a slice belongs to lane 4 g + t of a warp, which reads its value as A[g][t] and the x of its column
// as B[t][g]: the diagonal of A B are the sums of the eight rows. One eighth of the product is used; a product with sparse
// matrices leaves so much of the arithmetic unused anyway. The entries of a lane for the four slices are neighbours in
// memory, so that it loads 16 bytes. Singles are multiplied by CUDA cores, lane 4 g + t that of row g of slice t: so
// rows of 1, 2, 3, 5, ... entries need no filling.
//
//   reference_sliced   host, the oracle of the format
//   cuda_sliced_mma    the diagonals of mma.sync: m8n8k4 in double, one product per slice; m16n8k8 in FP16, one for two slices,
//                      each with one of the two k of a lane and eight of the 16 rows, with sums and y in FP32
//   cuda_sliced_mma_m16n8k4   in double: two slices are the rows of A, one product per slice multiplies both by the x of one, and
//                      of its 16 rows those of that slice count; compute capability 9.0
//   cuda_sliced_fma    the same loads, each lane a multiplication and an addition, shuffles at the end: the twin
//
// Rows longer than longest_short_row() are cut into chunks, each a group of its own, whose entry l of block b of 32 is
// the chunk's entry 32 b + l, so that a warp reads x at neighbouring places. The sums of the chunks of a row are its
// pieces, which a kernel of its own adds in their order; a row of one chunk needs none. y is written in the order of the
// matrix: nothing is left permuted. x must be finite (zeros of the filling are multiplied with it). Sources: of the
// diagonal, Y. Lu, W. Liu, "DASP: Specific dense matrix multiply-accumulate units accelerated general sparse
// matrix-vector multiplication", SC 2023; of rows sorted in windows, M. Kreutzer et al., "A unified sparse matrix data
// format for efficient general sparse matrix-vector multiplication on modern processors with wide SIMD units", SIAM J.
// Sci. Comput. 36 (2014).
// Tests: tests/kernels/diagnostics/spmv/cuda_test.cu, tests/kernels/diagnostics/sparse/sliced_matrix_test.cc.
#pragma once

#include <cstdint>

#include "kernels/core/half.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::spmv
{
inline constexpr int slice_rows = 8, slices_per_group = 4,
                     group_rows = slice_rows * slices_per_group;
/// Entries of a row in a quad, and places of a quad and of a single or a block of a chunk.
inline constexpr int quad_entries = 4, quad_size = group_rows * quad_entries,
                     block_size = group_rows;
inline constexpr std::int32_t longest_chunk = 2048;

/// Rows beyond it are long. As short as the filling of chunks allows, since a warp takes the entries of a row in turns.
constexpr std::int32_t longest_short_row(std::int64_t rows, std::int64_t entries)
{
  constexpr std::int32_t least = 48, most = 96;
  const std::int64_t wanted = rows > 0 ? 2 * entries / rows : 0;
  return wanted < least ? least : wanted > most ? most : static_cast<std::int32_t>(wanted);
}

template <typename Number>
struct Sliced
{
  std::int32_t rows = 0;
  std::int32_t groups = 0;
  std::int32_t chunks = 0; ///< groups that are chunks: the first ones
  std::int32_t long_rows = 0;
  std::int32_t blocks = 0;                   ///< of all groups
  const std::int32_t *block_begin = nullptr; ///< groups + 1, counted in blocks: n of each group
  const std::int32_t *column = nullptr;      ///< block_size per block; aligned to 16 bytes
  const Number *value = nullptr;             ///< likewise
  /// group_rows per group, by lanes: where the sum goes, of a chunk that of all lanes in the first. Less than `rows`: y;
  /// otherwise piece target - rows; -1: nowhere.
  const std::int32_t *target = nullptr;
  const std::int32_t *long_row = nullptr;    ///< long_rows: those of several chunks
  const std::int32_t *piece_begin = nullptr; ///< long_rows + 1
};

/// Where a lane's entry of a slice is within a quad: 16 bytes per lane and load, or all it has.
template <typename T>
constexpr int place_in_quad(int lane, int slice)
{
  constexpr int at_once = sizeof(T) > 4 ? 2 : 4;
  return slice / at_once * (at_once * group_rows) + lane * at_once + slice % at_once;
}

/// Where a lane's entry of block b of a group of n is: blocks 4 q ... 4 q + 3 are quad q, the last n % 4 are singles.
template <typename T>
constexpr std::int64_t place_in_group(std::int64_t block, std::int64_t n, int lane)
{
  const std::int64_t first = block / slices_per_group * quad_size;
  if (block < n / slices_per_group * slices_per_group)
    return first + place_in_quad<T>(lane, static_cast<int>(block % slices_per_group));
  return block * block_size + lane;
}

/// `pieces`: scratch memory for the sums of pieces, piece_begin[long_rows] numbers.
template <typename Number>
void reference_sliced(
    const Sliced<Number> &matrix, const Number *x, Compute<Number> *y, Compute<Number> *pieces);

/// Device memory, queued in the stream.
TENSORMG_CUDA_FUNCTION void cuda_sliced_mma(
    const Sliced<double> &matrix, const double *x, double *y, double *pieces, Stream stream);
TENSORMG_CUDA_FUNCTION void cuda_sliced_mma(
    const Sliced<Half> &matrix, const Half *x, float *y, float *pieces, Stream stream);
TENSORMG_CUDA_FUNCTION void cuda_sliced_mma_m16n8k4(
    const Sliced<double> &matrix, const double *x, double *y, double *pieces, Stream stream);
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_sliced_fma(const Sliced<Number> &matrix, const Number *x,
    Compute<Number> *y, Compute<Number> *pieces, Stream stream);
} // namespace tensormg::spmv
