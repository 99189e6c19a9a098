// A sparse matrix in square blocks of rows and columns (BSR): dense blocks, the structure only once for each.
#pragma once

#include <cstdint>

#include "kernels/diagnostics/sparse/sparse_matrix.h"
#include "kernels/diagnostics/spmv/cusparse.h"

namespace tensormg::sparse
{
template <typename Number>
struct BlockMatrix
{
  std::int32_t block = 1; ///< rows and columns of a block
  std::int32_t block_rows = 0, block_columns = 0;
  Array<std::int32_t> row_begin; ///< block_rows + 1, counted in blocks
  Array<std::int32_t> column;    ///< of each block, ascending within a row of blocks
  Array<Number> value; ///< block * block for each, row by row; zero where the matrix has no entry

  std::int32_t blocks() const { return block_rows == 0 ? 0 : row_begin[block_rows]; }
  spmv::Bsr<Number> view() const
  {
    return {
        block, block_rows, block_columns, blocks(), row_begin.data(), column.data(), value.data()};
  }
};

inline constexpr std::int32_t largest_block = 8;
/// Numbers stored for each entry of the matrix, at most, for blocks to be of use.
inline constexpr double most_filling = 1.1;

/// The largest block that divides rows and columns and needs no more than most_filling; 1: none does.
std::int32_t find_block(const SparseMatrix<double> &matrix);

/// Throws std::invalid_argument unless `block` divides rows and columns.
template <typename Number>
BlockMatrix<Number> make_blocks(
    const SparseMatrix<double> &matrix, std::int32_t block, const ForParts &for_parts = serially);
} // namespace tensormg::sparse
