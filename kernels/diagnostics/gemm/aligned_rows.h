// Matrices for the copy engine, which takes only rows that start at multiples of 16 bytes. It sees a matrix as a block
// of cells (kernels/core/block.h), so rows have a multiple of 8 numbers.
#pragma once

#include <cstdint>

#include "kernels/core/block.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/gemm.h"

namespace tensormg::gemm
{
/// The columns that a matrix is given in a workspace: rows of whole lines of 128 bytes.
constexpr std::int64_t aligned_columns(std::int64_t columns) { return (columns + 63) / 64 * 64; }

constexpr bool has_aligned_rows(std::int64_t columns) { return columns % row_granularity == 0; }

/// Packed rows of `columns` numbers at the beginning of rows of aligned_columns(columns); the rest of each is zero.
template <typename Number>
struct RowCopy
{
  std::int64_t rows = 0, columns = 0;
  const Number *from = nullptr;
  Number *to = nullptr;
};

/// Both in one launch, since it costs as much as copying small matrices. Needs compute capability 9.0.
template <typename Number>
void copy_to_aligned_rows(
    const RowCopy<Number> &first, const RowCopy<Number> &second, Stream stream);

/// Numbers that the copies of A and B have.
constexpr std::int64_t aligned_numbers(const Size &size)
{
  return (has_aligned_rows(size.k) ? 0 : size.m * aligned_columns(size.k)) +
      (has_aligned_rows(size.n) ? 0 : size.k * aligned_columns(size.n));
}

/// A and B as the copy engine can read them: where they are, or copies.
template <typename Number>
struct AlignedFactors
{
  const Number *a, *b;
  std::int64_t columns_a, columns_b; ///< with those of zeros

  /// Queues the copies that are needed into `workspace`, which has aligned_numbers(size).
  AlignedFactors(
      const Size &size, const Number *a_, const Number *b_, Number *workspace, Stream stream)
    : a(a_)
    , b(b_)
    , columns_a(size.k)
    , columns_b(size.n)
  {
    RowCopy<Number> copy_a, copy_b;
    if (!has_aligned_rows(size.k))
    {
      columns_a = aligned_columns(size.k);
      copy_a = {size.m, size.k, a_, workspace};
      a = workspace;
      workspace += size.m * columns_a;
    }
    if (!has_aligned_rows(size.n))
    {
      columns_b = aligned_columns(size.n);
      copy_b = {size.k, size.n, b_, workspace};
      b = workspace;
    }
    copy_to_aligned_rows(copy_a, copy_b, stream);
  }
};
} // namespace tensormg::gemm
