// What a warp of the 2D kernel owns, and where it keeps it in shared memory: see strips_2d.cuh.
#pragma once

#include <cstdint>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/shared_memory_limit.h"
#include "kernels/core/wide_float.h"

namespace tensormg::laplace
{
/// What is chosen for it.
struct StripShape
{
  int width;           ///< cells per lane
  int warps;           ///< of a block
  int blocks;          ///< per multiprocessor, by registers
  int rows;            ///< of cells in the ring of src
  int input_lines = 0; ///< in the rings of b and old
  bool rolled = false; ///< the loop over the lines of a row is not unrolled
  bool parked = false; ///< the traces of the newest row wait in shared memory
  /// Of src in the ring beyond those rows: a ring of two rows is waited for as a whole the moment its last line has been asked for.
  int more_lines = 0;
};

/// A strip of 32 lanes times `width` neighbouring cells in x that one warp marches along in y.
///
/// Shared memory of a warp:
///   source  [lines][n modes i][32 lanes][width]             cells of src: a ring of lines, of mode j each
///   inputs  [b, old][input_lines][n modes i][32][width]     lines (of mode j) of b and old
///   edges   [lines][left, right][n modes i]                 16 bytes each with the cell beside the strip
///   traces  [left, right][n modes j][V, D]                  of the edges of one row
///   parking [2 n traces][32][width]                         of the newest row, lane-private
template <typename Number_, int n_, int inputs_, StripShape shape_>
struct StripTile
{
  static constexpr StripShape shape = shape_;
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int n = n_;           ///< modes per direction
  static constexpr int inputs = inputs_; ///< 0: src alone, 1: b, 2: b and old
  static constexpr int width = shape.width, warps = shape.warps, blocks = shape.blocks;
  static constexpr int rows = shape.rows, more_lines = shape.more_lines;
  static constexpr int input_lines = shape.input_lines;
  static constexpr bool rolled = shape.rolled, parked = shape.parked;
  static constexpr int lines = rows * n + more_lines; ///< of the ring

  /// Where the row behind one begins, in lines of the ring.
  static constexpr int next_row(int row) { return wrapped(row + n); }
  /// Of line j of the row that begins at `row`; only a ring that is no whole number of rows ends within one.
  static constexpr int position(int row, int j)
  {
    return more_lines > 0 ? wrapped(row + j) : row + j;
  }
  static constexpr int wrapped(int line) { return line < lines ? line : line - lines; }

  static constexpr int threads = 32 * warps;
  static constexpr int cells = 32 * width;                       ///< of a strip in x
  static constexpr int pack_bytes = width * int(sizeof(Number)); ///< one access of a lane
  static constexpr int mode_bytes = 32 * pack_bytes;
  static constexpr int line_bytes = n * mode_bytes;

  /// One access of cp.async past the L1 cache.
  static constexpr int chunk_bytes = 16;
  static constexpr int chunk_numbers = chunk_bytes / int(sizeof(Number));
  static constexpr int mode_chunks = mode_bytes / chunk_bytes;

  /// One chunk more than needed, so that lanes that read the lines of one row meet in few banks.
  static constexpr int edge_line_bytes = (2 * n + 1) * chunk_bytes;

  static constexpr int input_bytes = input_lines * line_bytes; ///< of b, or of old
  static constexpr int input_offset = lines * line_bytes;
  static constexpr int edge_offset = input_offset + inputs * input_bytes;
  static constexpr int trace_offset = edge_offset + lines * edge_line_bytes;
  static constexpr int park_offset = (trace_offset + 4 * n * int(sizeof(C)) + 127) / 128 * 128;
  static constexpr int park_bytes = 32 * width * int(sizeof(C)); ///< of one trace
  static constexpr int warp_bytes = park_offset + (parked ? 2 * n * park_bytes : 0);

  /// Numbers of one line of the table [j][i] of diagonal entries that a rolled loop reads.
  static constexpr int table_pack = 16 / int(sizeof(C));
  static constexpr int table_line = (n + table_pack - 1) / table_pack * table_pack;
  static constexpr int table_bytes = rolled ? n * table_line * int(sizeof(C)) : 0;
  static constexpr int table_offset = warps * warp_bytes;
  static constexpr int shared_bytes = table_offset + table_bytes;

  /// src is copied and read for y and for x, b and old are copied and read; the two cells beside a row of the strip are
  /// copied with what lies beside them and read; parked traces are written and read.
  static constexpr double shared_bytes_per_dof = sizeof(Number) * (3. + 2. * inputs) +
      2. * (chunk_bytes + sizeof(Number)) / cells + (parked ? 4. * sizeof(C) / n : 0.);

  static_assert(pack_bytes >= 4 && pack_bytes <= 16, "one access of a lane");
  static_assert(shared_bytes <= shared_memory_limit::of_block_on_90);
  static_assert(rows >= 2, "a row is finished with the traces of the next one");
  static_assert(inputs == 0 || input_lines > 0);
  // With fewer lines than a row the wait is line by line, for everything but the newest copies.
  static_assert(inputs == 0 || input_lines < n || input_lines >= (rows - 1) * n);
  static_assert(more_lines == 0 || inputs == 0, "b and old are waited for with whole rows");
  static_assert(n <= 16, "half a warp copies one edge");
};
} // namespace tensormg::laplace
