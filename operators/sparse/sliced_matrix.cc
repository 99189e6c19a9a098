#include "operators/sparse/sliced_matrix.h"

#include <algorithm>
#include <vector>

namespace tensormg::sparse
{
namespace
{
  using spmv::block_entries;
  using spmv::block_size;
  using spmv::longest_chunk;
  using spmv::longest_piece;
  using spmv::slice_rows;

  /// A short row, or a chunk of a long one, which fills the eight rows of a slice.
  struct Piece
  {
    std::int32_t first, last; ///< entries of the matrix
    std::int32_t target;      ///< as in spmv::Sliced; of a chunk that of its first row
    bool is_chunk;
    std::int32_t blocks() const
    {
      const std::int32_t entries = is_chunk ? block_size : block_entries;
      return (last - first + entries - 1) / entries;
    }
  };

  /// Chunks of long rows in their order, and short rows.
  struct Pieces
  {
    std::vector<Piece> chunks, rows;
  };

  template <typename Number>
  Pieces cut_rows(const SparseMatrix<double> &matrix, SlicedMatrix<Number> &result)
  {
    Pieces pieces;
    pieces.rows.reserve(static_cast<std::size_t>(matrix.rows));
    std::vector<std::int32_t> long_row, piece_begin{0};
    std::int32_t count = 0;
    for (std::int32_t row = 0; row < matrix.rows; ++row)
    {
      const std::int32_t first = matrix.row_begin[row], last = matrix.row_begin[row + 1];
      if (last - first <= longest_piece)
      {
        pieces.rows.push_back({first, last, row, false});
        continue;
      }
      for (std::int64_t at = first; at < last; at += longest_chunk)
      {
        pieces.chunks.push_back({static_cast<std::int32_t>(at),
            static_cast<std::int32_t>(std::min<std::int64_t>(last, at + longest_chunk)),
            matrix.rows + count, true});
        count += slice_rows;
      }
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

  /// Neighbouring slices for each warp.
  Array<std::int32_t> divide_among_warps(const Array<std::int32_t> &block_begin)
  {
    const auto slices = static_cast<std::int32_t>(block_begin.size() - 1);
    std::vector<std::int32_t> begin{0};
    for (std::int32_t slice = 1; slice <= slices; ++slice)
      if (slice == slices || slice - begin.back() == spmv::most_slices_of_warp ||
          block_begin[slice + 1] - block_begin[begin.back()] > spmv::most_blocks_of_warp)
        begin.push_back(slice);
    Array<std::int32_t> result(static_cast<std::int64_t>(begin.size()));
    std::copy(begin.begin(), begin.end(), result.begin());
    return result;
  }

  /// Row g of a slice: entry `at` of its blocks is entry first + place(at) of the matrix.
  template <typename Number>
  void fill_row(const SparseMatrix<double> &matrix, const Piece &piece, std::int64_t slice,
      std::int64_t g, SlicedMatrix<Number> &result)
  {
    const std::int64_t begin = result.block_begin[slice], end = result.block_begin[slice + 1];
    const std::int64_t stride = piece.is_chunk ? block_size : block_entries;
    std::int64_t from = piece.first + (piece.is_chunk ? g * block_entries : 0);
    for (std::int64_t block = begin; block < end; ++block, from += stride)
      for (std::int64_t t = 0; t < block_entries; ++t)
      {
        const std::int64_t at = block * block_size + g * block_entries + t;
        const bool is_entry = from + t < piece.last;
        // The filling asks for an x that the row has asked for before.
        const std::int64_t e = is_entry ? from + t : piece.last - std::int64_t(1);
        result.column[at] = piece.first < piece.last ? matrix.column[e] : 0;
        result.value[at] =
            static_cast<Number>(static_cast<Compute<Number>>(is_entry ? matrix.value[e] : 0.));
      }
  }
} // namespace

template <typename Number>
SlicedMatrix<Number> make_sliced(const SparseMatrix<double> &matrix, const ForParts &for_parts)
{
  SlicedMatrix<Number> result;
  result.rows = matrix.rows;
  Pieces pieces = cut_rows(matrix, result);
  pieces.rows = sorted(pieces.rows);
  const auto chunks = static_cast<std::int64_t>(pieces.chunks.size());
  const auto rows = static_cast<std::int64_t>(pieces.rows.size());
  result.slices = static_cast<std::int32_t>(chunks + (rows + slice_rows - 1) / slice_rows);
  result.block_begin = Array<std::int32_t>(result.slices + std::int64_t(1));
  // The longest of the rows of a slice stands first.
  const auto first_of = [&](std::int64_t slice) -> const Piece & {
    return slice < chunks ? pieces.chunks[static_cast<std::size_t>(slice)]
                          : pieces.rows[static_cast<std::size_t>((slice - chunks) * slice_rows)];
  };
  std::int64_t blocks = 0;
  for (std::int32_t slice = 0; slice < result.slices; ++slice)
  {
    blocks += first_of(slice).blocks();
    check_size(0, 0, blocks * block_size);
    result.block_begin[slice + 1] = static_cast<std::int32_t>(blocks);
  }
  result.warp_begin = divide_among_warps(result.block_begin);
  result.target = Array<std::int32_t>(std::int64_t(slice_rows) * result.slices);
  result.column = Array<std::int32_t>(blocks * block_size);
  result.value = Array<Number>(blocks * block_size);
  for_parts(result.slices, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slice = begin; slice < end; ++slice)
      for (std::int32_t g = 0; g < slice_rows; ++g)
      {
        const std::int64_t row = (slice - chunks) * slice_rows + g;
        std::int32_t &target = result.target[slice * slice_rows + g];
        target = -1;
        if (slice < chunks)
          target = first_of(slice).target + g;
        else if (row < rows)
          target = pieces.rows[static_cast<std::size_t>(row)].target;
        if (target >= 0)
          fill_row(matrix,
              slice < chunks ? first_of(slice) : pieces.rows[static_cast<std::size_t>(row)], slice,
              g, result);
      }
  });
  return result;
}

template SlicedMatrix<double> make_sliced(const SparseMatrix<double> &, const ForParts &);
template SlicedMatrix<float> make_sliced(const SparseMatrix<double> &, const ForParts &);
template SlicedMatrix<Half> make_sliced(const SparseMatrix<double> &, const ForParts &);
} // namespace tensormg::sparse
