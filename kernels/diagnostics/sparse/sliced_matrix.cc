#include "kernels/diagnostics/sparse/sliced_matrix.h"

#include <algorithm>
#include <vector>

namespace tensormg::sparse
{
namespace
{
  using spmv::block_size;
  using spmv::group_rows;
  using spmv::longest_chunk;
  using spmv::quad_entries;
  using spmv::slice_rows;
  using spmv::slices_per_group;

  /// A part of a long row, which fills a group.
  struct Chunk
  {
    std::int32_t first, last; ///< entries of the matrix
    std::int32_t target;
  };

  /// Chunks of long rows in their order, and the other rows as their groups have them.
  struct Pieces
  {
    std::vector<Chunk> chunks;
    std::vector<std::int32_t> rows;
  };

  std::int32_t length_of(const SparseMatrix<double> &matrix, std::int32_t row)
  {
    return matrix.row_begin[row + 1] - matrix.row_begin[row];
  }

  template <typename Number>
  Pieces cut_rows(const SparseMatrix<double> &matrix, SlicedMatrix<Number> &result)
  {
    Pieces pieces;
    pieces.rows.reserve(static_cast<std::size_t>(matrix.rows));
    const std::int32_t longest = spmv::longest_short_row(matrix.rows, matrix.entries());
    std::vector<std::int32_t> long_row, piece_begin{0};
    std::int64_t count = 0;
    for (std::int32_t row = 0; row < matrix.rows; ++row)
    {
      if (length_of(matrix, row) <= longest)
      {
        pieces.rows.push_back(row);
        continue;
      }
      const std::int32_t first = matrix.row_begin[row], last = matrix.row_begin[row + 1];
      const bool is_cut = last - first > longest_chunk;
      for (std::int64_t at = first; at < last; at += longest_chunk)
      {
        check_size(matrix.rows + count + 1, matrix.columns, matrix.entries());
        pieces.chunks.push_back({static_cast<std::int32_t>(at),
            static_cast<std::int32_t>(std::min<std::int64_t>(last, at + longest_chunk)),
            is_cut ? static_cast<std::int32_t>(matrix.rows + count++) : row});
      }
      if (is_cut)
      {
        long_row.push_back(row);
        piece_begin.push_back(static_cast<std::int32_t>(count));
      }
    }
    result.long_rows = static_cast<std::int32_t>(long_row.size());
    result.long_row = Array<std::int32_t>(result.long_rows);
    std::copy(long_row.begin(), long_row.end(), result.long_row.begin());
    result.piece_begin = Array<std::int32_t>(result.long_rows + std::int64_t(1));
    std::copy(piece_begin.begin(), piece_begin.end(), result.piece_begin.begin());
    return pieces;
  }

  /// The rows of one window by length, by counting; `longest` is the largest.
  void sort_window(const SparseMatrix<double> &matrix, std::int32_t longest, bool descending,
      std::int32_t *rows, std::int64_t count)
  {
    std::vector<std::int64_t> begin(static_cast<std::size_t>(longest) + 2, 0);
    const auto kind = [&](std::int32_t row) {
      const std::int32_t length = length_of(matrix, row);
      return static_cast<std::size_t>(descending ? longest - length : length);
    };
    for (std::int64_t i = 0; i < count; ++i)
      ++begin[kind(rows[i]) + 1];
    for (std::size_t k = 1; k < begin.size(); ++k)
      begin[k] += begin[k - 1];
    const std::vector<std::int32_t> unsorted(rows, rows + count);
    for (const std::int32_t row : unsorted)
      rows[begin[kind(row)]++] = row;
  }

  void sort_rows(const SparseMatrix<double> &matrix, const ForParts &for_parts,
      std::vector<std::int32_t> &rows)
  {
    const auto size = static_cast<std::int64_t>(rows.size());
    for_parts(
        (size + sorting_window - 1) / sorting_window, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t window = begin; window < end; ++window)
          {
            const std::int64_t first = window * sorting_window;
            sort_window(matrix, spmv::longest_short_row(matrix.rows, matrix.entries()),
                window % 2 == 0, rows.data() + first, std::min(sorting_window, size - first));
          }
        });
  }

  /// Of a lane and a block: an entry, and the range of entries that has it or ends before.
  struct Entry
  {
    std::int64_t entry, first, last;
  };
  /// A lane's part of a group of n blocks whose first place is `begin`: entry_of(block) is where its entry is in the matrix,
  /// if that is less than `last`.
  template <typename Number, typename EntryOf>
  void fill_lane(const SparseMatrix<double> &matrix, std::int64_t begin, std::int64_t n, int lane,
      SlicedMatrix<Number> &result, EntryOf &&entry_of)
  {
    for (std::int64_t block = 0; block < n; ++block)
    {
      const auto [entry, first, last] = entry_of(block);
      const bool is_entry = entry < last;
      // The filling asks for an x that the row has asked for before.
      result.column[begin + spmv::place_in_group<std::int32_t>(block, n, lane)] =
          first < last ? matrix.column[is_entry ? entry : last - 1] : 0;
      result.value[begin + spmv::place_in_group<Number>(block, n, lane)] =
          static_cast<Number>(static_cast<Compute<Number>>(is_entry ? matrix.value[entry] : 0.));
    }
  }

  /// Blocks of a group: of its chunk, or of the longest of its rows.
  std::int32_t blocks_of(
      const SparseMatrix<double> &matrix, const Pieces &pieces, std::int64_t group)
  {
    const auto chunks = static_cast<std::int64_t>(pieces.chunks.size());
    const auto rows = static_cast<std::int64_t>(pieces.rows.size());
    if (group < chunks)
    {
      const Chunk &chunk = pieces.chunks[static_cast<std::size_t>(group)];
      return (chunk.last - chunk.first + block_size - 1) / block_size;
    }
    std::int32_t n = 0;
    for (std::int64_t i = (group - chunks) * group_rows;
         i < std::min(rows, (group - chunks + 1) * group_rows); ++i)
      n = std::max(n, length_of(matrix, pieces.rows[static_cast<std::size_t>(i)]));
    return n;
  }

  /// A lane's part of a group, of a chunk or of rows.
  template <typename Number>
  void fill(const SparseMatrix<double> &matrix, const Pieces &pieces, std::int64_t group, int lane,
      SlicedMatrix<Number> &result)
  {
    const auto chunks = static_cast<std::int64_t>(pieces.chunks.size());
    const auto rows = static_cast<std::int64_t>(pieces.rows.size());
    const std::int64_t begin = std::int64_t(block_size) * result.block_begin[group],
                       n = result.block_begin[group + 1] - result.block_begin[group],
                       in_quads = n / slices_per_group * slices_per_group;
    std::int32_t &target = result.target[group * group_rows + lane];
    if (group < chunks)
    {
      const Chunk &chunk = pieces.chunks[static_cast<std::size_t>(group)];
      target = lane == 0 ? chunk.target : -1;
      fill_lane(matrix, begin, n, lane, result, [&](std::int64_t block) -> Entry {
        return {chunk.first + block * block_size + lane, chunk.first, chunk.last};
      });
      return;
    }
    const int row = lane / quad_entries, t = lane % quad_entries;
    /// Row `row` of a slice; -1 after the last.
    const auto row_of = [&](int slice) {
      const std::int64_t i = (group - chunks) * group_rows + slice * slice_rows + row;
      return i < rows ? pieces.rows[static_cast<std::size_t>(i)] : -1;
    };
    target = row_of(t);
    fill_lane(matrix, begin, n, lane, result, [&](std::int64_t block) -> Entry {
      const bool in_quad = block < in_quads;
      const std::int32_t of = row_of(in_quad ? static_cast<int>(block % slices_per_group) : t);
      if (of < 0)
        return {0, 0, 0};
      const std::int64_t first = matrix.row_begin[of];
      return {first + (in_quad ? block / slices_per_group * quad_entries + t : block), first,
          matrix.row_begin[of + 1]};
    });
  }
} // namespace

template <typename Number>
std::int64_t SlicedMatrix<Number>::stored_in_quads() const
{
  std::int64_t quads = 0;
  for (std::int32_t group = 0; group < groups; ++group)
    quads += (block_begin[group + 1] - block_begin[group]) / slices_per_group;
  return quads * spmv::quad_size;
}

template <typename Number>
SlicedMatrix<Number> make_sliced(const SparseMatrix<double> &matrix, const ForParts &for_parts)
{
  SlicedMatrix<Number> result;
  result.rows = matrix.rows;
  Pieces pieces = cut_rows(matrix, result);
  sort_rows(matrix, for_parts, pieces.rows);
  const auto chunks = static_cast<std::int64_t>(pieces.chunks.size());
  const auto rows = static_cast<std::int64_t>(pieces.rows.size());
  result.chunks = static_cast<std::int32_t>(chunks);
  result.groups = static_cast<std::int32_t>(chunks + (rows + group_rows - 1) / group_rows);
  result.block_begin = Array<std::int32_t>(result.groups + std::int64_t(1));
  std::int64_t blocks = 0;
  for (std::int32_t group = 0; group < result.groups; ++group)
  {
    blocks += blocks_of(matrix, pieces, group);
    // Places beyond the last block are named, though not used, by a kernel that steps over the rest.
    check_size(0, 0, (blocks + 32) * block_size);
    result.block_begin[group + 1] = static_cast<std::int32_t>(blocks);
  }
  result.target = Array<std::int32_t>(std::int64_t(group_rows) * result.groups);
  result.column = Array<std::int32_t>(blocks * block_size);
  result.value = Array<Number>(blocks * block_size);

  for_parts(result.groups, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group)
      for (int lane = 0; lane < group_rows; ++lane)
        fill(matrix, pieces, group, lane, result);
  });
  return result;
}

template struct SlicedMatrix<double>;
template struct SlicedMatrix<float>;
template struct SlicedMatrix<Half>;
template SlicedMatrix<double> make_sliced(const SparseMatrix<double> &, const ForParts &);
template SlicedMatrix<float> make_sliced(const SparseMatrix<double> &, const ForParts &);
template SlicedMatrix<Half> make_sliced(const SparseMatrix<double> &, const ForParts &);
} // namespace tensormg::sparse
