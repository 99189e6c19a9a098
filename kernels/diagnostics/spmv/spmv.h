// CONTRACT of the product y = A x with a sparse matrix.
//
//   reference     sums in double precision, entry by entry in the order in which they are stored: the oracle
//   cpu_rows      whole rows to each share, about the same number of entries to each
//   cpu_merge     the same number of rows plus entries to each share, so that rows of any length are divided
//                 (merge path: D. Merrill, M. Garland, "Merge-based parallel sparse matrix-vector
//                 multiplication", SC 2016)
//
//   cuda_vector   device: 2 to 32 neighbouring threads per row
//   cuda_merge    device: the same number of rows plus entries to each block, whose products pass through shared
//                 memory; entries are loaded by fours, so columns and values should begin at multiples of 16 bytes;
//                 where blocks begin is found once per matrix; of FP16 with sums and y in FP32
//
// The host kernels do one share of the work, so that any number of threads can call them at the same time;
// results do not depend on their order. After all shares of cpu_merge, add_carries() completes the rows that
// several shares have worked on. With one share both give the same bits.
// Requires: row_begin[0] = 0, not descending; 0 <= column < columns. Rows may be empty and of any length;
// y must not alias x. Every entry of y is written.
// On the device the view's arrays lie in device memory, so that the number of entries is an argument; no
// atomics: results do not differ from run to run.
// Tests: tests/kernels/diagnostics/spmv/spmv_test.cc, tests/kernels/diagnostics/spmv/cuda_test.cu.
#pragma once

#include <cstdint>

#include "kernels/core/half.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/roofline/roofline.h"

namespace tensormg::spmv
{
/// Compressed sparse rows, as a view: entries row_begin[i] ... row_begin[i + 1] - 1 belong to row i.
template <typename Number>
struct Csr
{
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  const std::int32_t *row_begin = nullptr; ///< rows + 1 of them
  const std::int32_t *column = nullptr;    ///< row_begin[rows] of them
  const Number *value = nullptr;           ///< likewise

  std::int32_t entries() const { return row_begin[rows]; }
};

/// Part `index` of `count` parts of the work.
struct Share
{
  int index = 0;
  int count = 1;
};

/// What a share has summed up of a row that another share completes; row = rows: nothing.
template <typename Number>
struct Carry
{
  std::int32_t row = 0;
  Number sum = 0;
};

/// Two flops per entry; every entry with its column, the row starts, x and y once.
constexpr roofline::Work work(
    std::int64_t rows, std::int64_t columns, std::int64_t entries, std::size_t number_bytes)
{
  const auto bytes = static_cast<double>(number_bytes);
  return {2. * static_cast<double>(entries),
      static_cast<double>(entries) * (bytes + 4.) + static_cast<double>(rows + 1) * 4. +
          static_cast<double>(rows + columns) * bytes};
}

template <typename Number>
void reference(const Csr<Number> &matrix, const Number *x, double *y);

template <typename Number>
void cpu_rows(const Csr<Number> &matrix, const Number *x, Number *y, Share share);

/// `carries` has share.count entries; this call writes one of them.
template <typename Number>
void cpu_merge(
    const Csr<Number> &matrix, const Number *x, Number *y, Share share, Carry<Number> *carries);

/// After all shares.
template <typename Number>
void add_carries(const Csr<Number> &matrix, Number *y, int shares, const Carry<Number> *carries);

/// Rows and entries before a point of the merge path.
struct PathPoint
{
  std::int32_t row = 0;
  std::int32_t entry = 0;
  bool operator==(const PathPoint &) const = default;
};

/// The point at which `step` rows and entries have been consumed: a row is consumed after its entries.
template <typename Number>
PathPoint find_path_point(const Csr<Number> &matrix, std::int64_t step);

/// Threads per row that suit rows of this mean length: a power of two from 2 to 32.
constexpr int lanes_per_row(std::int64_t rows, std::int64_t entries)
{
  int lanes = 2;
  while (lanes < 32 && 2 * lanes * rows <= entries)
    lanes *= 2;
  return lanes;
}

/// Queued in the stream; throws std::invalid_argument for other lanes.
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_vector(const Csr<Number> &matrix, std::int32_t entries,
    const Number *x, Number *y, int lanes, Stream stream);

/// Blocks of cuda_merge: so many carries it needs, in device memory.
TENSORMG_CUDA_FUNCTION std::int64_t merge_blocks(std::int64_t rows, std::int64_t entries);

/// Where they begin: writes merge_blocks() + 1 rows to device memory.
template <typename Number>
TENSORMG_CUDA_FUNCTION void find_merge_rows(
    const Csr<Number> &matrix, std::int32_t entries, std::int32_t *first_rows, Stream stream);

template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_merge(const Csr<Number> &matrix, std::int32_t entries,
    const std::int32_t *first_rows, const Number *x, Compute<Number> *y,
    Carry<Compute<Number>> *carries, Stream stream);
} // namespace tensormg::spmv
