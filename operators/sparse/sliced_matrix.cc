#include "operators/sparse/sliced_matrix.h"

#include <algorithm>
#include <vector>

namespace tensormg::sparse
{
namespace
{
  using spmv::block_entries;
  using spmv::block_size;
  using spmv::longest_piece;
  using spmv::slice_rows;

  /// A row or a part of one.
  struct Piece
  {
    std::int32_t first, last; ///< entries of the matrix
    std::int32_t target;      ///< as in spmv::Sliced
    std::int32_t blocks() const { return (last - first + block_entries - 1) / block_entries; }
  };

  template <typename Number>
  std::vector<Piece> cut_rows(const SparseMatrix<double> &matrix, SlicedMatrix<Number> &result)
  {
    std::vector<Piece> pieces;
    pieces.reserve(static_cast<std::size_t>(matrix.rows));
    std::vector<std::int32_t> long_row, piece_begin{0};
    std::int32_t count = 0;
    for (std::int32_t row = 0; row < matrix.rows; ++row)
    {
      const std::int32_t first = matrix.row_begin[row], last = matrix.row_begin[row + 1];
      if (last - first <= longest_piece)
      {
        pieces.push_back({first, last, row});
        continue;
      }
      for (std::int32_t at = first; at < last; at += longest_piece)
        pieces.push_back({at, std::min(last, at + longest_piece), matrix.rows + count++});
      long_row.push_back(row);
      piece_begin.push_back(count);
    }
    check_size(static_cast<std::int64_t>(matrix.rows) + count, matrix.columns, matrix.entries());
    result.long_rows = static_cast<std::int32_t>(long_row.size());
    result.long_row = Array<std::int32_t>(result.long_rows);
    std::copy(long_row.begin(), long_row.end(), result.long_row.begin());
    result.piece_begin = Array<std::int32_t>(result.long_rows + 1);
    std::copy(piece_begin.begin(), piece_begin.end(), result.piece_begin.begin());
    return pieces;
  }

  /// By descending number of blocks, by counting: linear in the number of rows.
  std::vector<Piece> sorted(const std::vector<Piece> &pieces)
  {
    constexpr std::size_t kinds = longest_piece / block_entries + 1;
    std::vector<std::size_t> begin(kinds + 1, 0);
    const auto kind = [](const Piece &piece) {
      return kinds - 1 - static_cast<std::size_t>(piece.blocks());
    };
    for (const Piece &piece : pieces)
      ++begin[kind(piece) + 1];
    for (std::size_t k = 0; k < kinds; ++k)
      begin[k + 1] += begin[k];
    std::vector<Piece> result(pieces.size());
    for (const Piece &piece : pieces)
      result[begin[kind(piece)]++] = piece;
    return result;
  }
} // namespace

template <typename Number>
SlicedMatrix<Number> make_sliced(const SparseMatrix<double> &matrix)
{
  SlicedMatrix<Number> result;
  result.rows = matrix.rows;
  const std::vector<Piece> pieces = sorted(cut_rows(matrix, result));
  const auto count = static_cast<std::int64_t>(pieces.size());
  result.slices = static_cast<std::int32_t>((count + slice_rows - 1) / slice_rows);
  result.block_begin = Array<std::int32_t>(result.slices + std::int64_t(1));
  result.target = Array<std::int32_t>(std::int64_t(slice_rows) * result.slices);
  std::fill(result.target.begin(), result.target.end(), -1);
  std::int64_t blocks = 0;
  for (std::int32_t slice = 0; slice < result.slices; ++slice)
  {
    blocks +=
        pieces[static_cast<std::size_t>(slice) * slice_rows].blocks(); // the longest stands first
    check_size(0, 0, blocks * block_size);
    result.block_begin[slice + 1] = static_cast<std::int32_t>(blocks);
  }
  result.column = Array<std::int32_t>(blocks * block_size);
  result.value = Array<Number>(blocks * block_size);
  for (std::int64_t p = 0; p < count; ++p)
  {
    const Piece &piece = pieces[static_cast<std::size_t>(p)];
    const std::int64_t slice = p / slice_rows, g = p % slice_rows;
    result.target[p] = piece.target;
    const std::int64_t begin = result.block_begin[slice], end = result.block_begin[slice + 1];
    for (std::int64_t i = 0; i < (end - begin) * block_entries; ++i)
    {
      const std::int64_t at =
          (begin + i / block_entries) * block_size + g * block_entries + i % block_entries;
      // The filling asks for an x that the row has asked for before.
      const std::int64_t e = std::min<std::int64_t>(piece.first + i, piece.last - 1);
      const bool is_entry = piece.first + i < piece.last;
      result.column[at] = piece.first < piece.last ? matrix.column[e] : 0;
      result.value[at] =
          static_cast<Number>(static_cast<Compute<Number>>(is_entry ? matrix.value[e] : 0.));
    }
  }
  return result;
}

template SlicedMatrix<double> make_sliced(const SparseMatrix<double> &);
template SlicedMatrix<float> make_sliced(const SparseMatrix<double> &);
template SlicedMatrix<Half> make_sliced(const SparseMatrix<double> &);
} // namespace tensormg::sparse
