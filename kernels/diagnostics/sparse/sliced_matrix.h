// A sparse matrix in groups of 32 rows (kernels/diagnostics/spmv/sliced.h) that owns its memory.
#pragma once

#include <cstdint>

#include "kernels/core/half.h"
#include "kernels/diagnostics/sparse/sparse_matrix.h"
#include "kernels/diagnostics/spmv/sliced.h"

namespace tensormg::sparse
{
/// Rows are sorted by length within windows of so many: groups have rows of similar length, which are neighbours
/// or nearly so and read the same x.
inline constexpr std::int64_t sorting_window = 4096;

template <typename Number>
struct SlicedMatrix
{
  std::int32_t rows = 0, groups = 0, chunks = 0, long_rows = 0;
  Array<std::int32_t> block_begin, column, target, long_row, piece_begin;
  Array<Number> value;

  std::int32_t pieces() const { return piece_begin[long_rows]; }
  /// Stored entries, zeros of the filling included.
  std::int64_t stored() const { return value.size(); }
  /// Those of them in quads.
  std::int64_t stored_in_quads() const;
  spmv::Sliced<Number> view() const
  {
    return {rows, groups, chunks, long_rows, block_begin[groups], block_begin.data(), column.data(),
        value.data(), target.data(), long_row.data(), piece_begin.data()};
  }
};

/// Values are rounded to Number; beyond its range they are infinite. Chunks of long rows first, then the windows, with
/// rows in descending and ascending order of their length by turns, equal ones as they stand: so a group of
/// two windows has rows of similar length, too. Throws std::length_error if the filling makes the matrix too large.
template <typename Number>
SlicedMatrix<Number> make_sliced(
    const SparseMatrix<double> &matrix, const ForParts &for_parts = serially);
} // namespace tensormg::sparse
