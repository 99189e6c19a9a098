#include "kernels/diagnostics/sparse/block_matrix.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensormg::sparse
{
namespace
{
  /// The columns of the blocks in a row of blocks, ascending.
  std::vector<std::int32_t> columns_of(
      const SparseMatrix<double> &matrix, std::int32_t block, std::int64_t block_row)
  {
    const std::int32_t *const first = matrix.column.data() + matrix.row_begin[block_row * block];
    const std::int32_t *const last =
        matrix.column.data() + matrix.row_begin[(block_row + 1) * block];
    std::vector<std::int32_t> columns(first, last);
    for (std::int32_t &column : columns)
      column /= block;
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
  }
} // namespace

std::int32_t find_block(const SparseMatrix<double> &matrix)
{
  constexpr std::int64_t most_samples = 2000;     // rows of blocks that are looked at
  constexpr std::int32_t longest_sample = 10'000; // entries: dense rows decide nothing
  for (std::int32_t block = largest_block; block > 1; --block)
  {
    if (matrix.rows == 0 || matrix.rows % block != 0 || matrix.columns % block != 0)
      continue;
    const std::int64_t block_rows = matrix.rows / block;
    const std::int64_t step = std::max<std::int64_t>(1, block_rows / most_samples);
    double stored = 0., entries = 0.;
    for (std::int64_t row = 0; row < block_rows; row += step)
    {
      const std::int32_t length =
          matrix.row_begin[(row + 1) * block] - matrix.row_begin[row * block];
      if (length > longest_sample)
        continue;
      stored += static_cast<double>(columns_of(matrix, block, row).size()) * block * block;
      entries += length;
    }
    if (entries > 0. && stored <= most_filling * entries)
      return block;
  }
  return 1;
}

template <typename Number>
BlockMatrix<Number> make_blocks(
    const SparseMatrix<double> &matrix, std::int32_t block, const ForParts &for_parts)
{
  if (block < 1 || matrix.rows % block != 0 || matrix.columns % block != 0)
    throw std::invalid_argument("blocks of " + std::to_string(block) + " in a matrix of " +
        std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns));
  BlockMatrix<Number> result;
  result.block = block;
  result.block_rows = matrix.rows / block;
  result.block_columns = matrix.columns / block;
  result.row_begin = Array<std::int32_t>(result.block_rows + std::int64_t(1));
  for_parts(result.block_rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      result.row_begin[row + 1] = static_cast<std::int32_t>(columns_of(matrix, block, row).size());
  });
  for (std::int64_t row = 0; row < result.block_rows; ++row)
    result.row_begin[row + 1] += result.row_begin[row]; // no more than the entries of the matrix
  const std::int64_t size = std::int64_t(block) * block;
  result.column = Array<std::int32_t>(result.blocks());
  result.value = Array<Number>(result.blocks() * size);
  for_parts(result.block_rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
    {
      const std::vector<std::int32_t> columns = columns_of(matrix, block, row);
      const std::int64_t first = result.row_begin[row];
      std::copy(columns.begin(), columns.end(), result.column.begin() + first);
      for (std::int64_t i = 0; i < block; ++i)
        for (std::int32_t e = matrix.row_begin[row * block + i];
             e < matrix.row_begin[row * block + i + 1]; ++e)
        {
          const auto at =
              std::lower_bound(columns.begin(), columns.end(), matrix.column[e] / block) -
              columns.begin();
          Number &value = result.value[(first + at) * size + i * block + matrix.column[e] % block];
          value = static_cast<Number>(static_cast<double>(value) + matrix.value[e]);
        }
    }
  });
  return result;
}

template BlockMatrix<double> make_blocks(
    const SparseMatrix<double> &, std::int32_t, const ForParts &);
template BlockMatrix<float> make_blocks(
    const SparseMatrix<double> &, std::int32_t, const ForParts &);
} // namespace tensormg::sparse
