// A sparse matrix in slices of eight rows (kernels/spmv/sliced.h) that owns its memory.
#pragma once

#include <cstdint>

#include "kernels/core/half.h"
#include "kernels/spmv/sliced.h"
#include "operators/sparse/sparse_matrix.h"

namespace tensormg::sparse
{
template <typename Number>
struct SlicedMatrix
{
  std::int32_t rows = 0, slices = 0, long_rows = 0;
  Array<std::int32_t> block_begin, column, target, long_row, piece_begin, warp_begin;
  Array<Number> value;

  std::int32_t pieces() const { return piece_begin[long_rows]; }
  std::int32_t warps() const { return static_cast<std::int32_t>(warp_begin.size()) - 1; }
  /// Stored entries, zeros of the filling included.
  std::int64_t stored() const { return value.size(); }
  spmv::Sliced<Number> view() const
  {
    return {rows, slices, long_rows, block_begin.data(), column.data(), value.data(), target.data(),
        long_row.data(), piece_begin.data(), warps(), warp_begin.data()};
  }
};

/// Values are rounded to Number; beyond its range they are infinite. Long rows first, then the others in descending
/// order of their number of blocks, equal ones as they stand. Throws std::length_error if the filling makes the
/// matrix too large.
template <typename Number>
SlicedMatrix<Number> make_sliced(
    const SparseMatrix<double> &matrix, const ForParts &for_parts = serially);
} // namespace tensormg::sparse
