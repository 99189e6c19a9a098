// What a block of the tensor-core layer kernel owns, and where it keeps it in shared memory: see mma_layers.cuh.
#pragma once

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/shared_memory_limit.h"
#include "kernels/laplace/march/swizzled_rows.h"
#include "kernels/laplace/march/warp_roles.h"
#include "kernels/laplace/mma_layers/lines.h"
#include "kernels/laplace/tiles/kernel.h"

namespace tensormg::laplace
{
/// What is chosen for it.
struct MmaLayersShape
{
  int modes;      ///< of a line
  int cells_x;    ///< of a row
  int rows;       ///< of cells
  int lines;      ///< in x, of a warp
  int ring;       ///< planes of src
  int halo_ring;  ///< planes of the cells around the tile
  int input_ring; ///< planes of b and old, and of results
  int inputs = 2; ///< b and old: 2; Form::residual reads b alone
  int parts =
      1; ///< terms of the sums by which weights and traces are given: 1 (11 bits) or 2 (22 bits)
};

/// `rows` rows of `cells_x` cells. Of 16 neighbouring cells a warp owns the modes of `lines` lines in x: n / lines
/// warps, rounded up, share the cells. One more group of warps copies.
///
/// Three rings: a slot of the first holds one plane (mode k of a layer) of src in the tile, one of the second the
/// cells around it in that plane, one of the third b, then old (form apply has neither):
///   own    [rows][n modes j][n modes i][cells_x]
///   halo   lower, upper [n][n][cells_x]; left, right [rows][n][n][8 cells]
///   input  [rows][n][n][cells_x] each; the result takes the place of b on its way to memory
/// Rows of cells_x cells are permuted by the copy engine (SwizzledRows).
template <MmaLayersShape shape>
struct MmaLayersTile
  : WarpRoles<shape.rows *(shape.cells_x / 16) * ((shape.modes + shape.lines - 1) / shape.lines)>
{
  using Roles =
      WarpRoles<shape.rows *(shape.cells_x / 16) * ((shape.modes + shape.lines - 1) / shape.lines)>;
  using Roles::warps, Roles::consumer_registers;
  static constexpr Kernel kernel = Kernel::mma_layers;
  using Number = Half;
  using C = float;
  static constexpr int n = shape.modes, cells_x = shape.cells_x, rows = shape.rows;
  static constexpr int lines = shape.lines, ring = shape.ring, halo_ring = shape.halo_ring;
  static constexpr int input_ring = shape.input_ring, inputs = shape.inputs, parts = shape.parts;

  static constexpr int modes = n * n;                   ///< of a plane
  static constexpr int strips = rows * (cells_x / 16);  ///< of 16 cells
  static constexpr int split = (n + lines - 1) / lines; ///< warps per strip
  using Own = OwnModes<n, lines>;
  static constexpr int tiles = (Own::slots + 7) / 8;      ///< of 8 modes: its accumulators
  static constexpr int x_blocks = (Own::slots + 15) / 16; ///< of 16 modes: its multiplicands
  /// At the end of those: some of their modes may be none of the warp's.
  static constexpr int partial_blocks = Own::by_parity ? x_blocks : 1;
  static constexpr int pairs = (lines + 1) / 2;        ///< of lines in x: traces at both ends
  using Lines = LineBlocks<n>;                         ///< in y
  static constexpr int y_blocks = Lines::blocks;       ///< of 16 modes: a whole plane
  static constexpr int line_tiles = Lines::line_tiles; ///< of 3 or 4 lines in y
  static constexpr int groups = (Own::slots + 3) / 4;  ///< of 4 lines in z
  using Planes = PlanePairs<n>;

  static constexpr int cells_y = rows;
  /// As in LayersTile. With nine modes the warps compute all the time: a block less is a loss. Two parts: not measured.
  static constexpr bool whole_columns = n < 9 && parts == 1;

  /// D u is a product, not FP32 on CUDA cores.
  static constexpr bool multiplies_diagonal = inputs < 2;

  static constexpr int halo_x = 8;
  static constexpr int row_bytes = 2 * cells_x;
  using Rows = SwizzledRows<row_bytes>;

  /// Permuted rows repeat after eight.
  static constexpr int align(int bytes)
  {
    return (bytes + 8 * row_bytes - 1) / (8 * row_bytes) * (8 * row_bytes);
  }
  static constexpr int own_box = row_bytes * modes * rows;
  static constexpr int input_box = own_box;
  static constexpr int row_box = row_bytes * modes;
  static constexpr int side_box = 16 * modes * rows;
  static constexpr int own_bytes = align(own_box);
  /// The row above begins behind the one below, where the copy engine may write; its lines are permuted as if they followed.
  static constexpr int upper_at = (row_box + 127) / 128 * 128;
  static constexpr int upper_line = upper_at / row_bytes;
  static constexpr int left_at = (upper_at + row_box + 127) / 128 * 128;
  static constexpr int right_at = left_at + (side_box + 127) / 128 * 128;
  static constexpr int halo_bytes = align(right_at + side_box);

  static constexpr int input_bytes = own_bytes * inputs;
  /// Per warp: where it writes what is no mode of its own.
  static constexpr int spare_bytes = 128;
  /// In the banks where a line at that address is.
  template <typename Address>
  static constexpr Address in_spare(Address at)
  {
    return at % spare_bytes / 16 * 16;
  }

  static constexpr int halo_offset = ring * own_bytes;
  static constexpr int input_offset = halo_offset + halo_ring * halo_bytes;
  static constexpr int spare_offset = input_offset + input_ring * input_bytes;
  static constexpr int place_bytes = 64; ///< of a warp
  static constexpr int place_offset = spare_offset + warps * spare_bytes;
  static constexpr int constant_offset = place_offset + warps * place_bytes;
  static_assert(constant_offset % 16 == 0);
  /// There are registers for the weights of products in x and of faces in y.
  static constexpr bool holds_all = parts == 1;
  /// Sums and differences of the traces below and above instead of both, where a tile has few lines j (FacesZ).
  static constexpr bool joins_y = Own::by_parity || (n == 8 && parts == 1);
  // Multiplicands that all warps share, in the order of Weights (weights.cuh).
  static constexpr int end_blocks =
      (n + 7) / 8; ///< of 8 modes of a line in x of the cells before and after a warp's
  static constexpr int end_words = EndSlots<n>::words; ///< modes of one of those that a lane reads
  static constexpr int tile_pairs = (tiles + 1) / 2;
  static constexpr int diagonal_bytes = multiplies_diagonal ? 128 * split * tile_pairs * n : 0;
  static constexpr int entries =
      2 * Lines::weights + Planes::pairs; ///< that are read again and again
  static constexpr int constant_bytes =
      (parts * (256 * entries + 24 * n) + 15) / 16 * 16 + diagonal_bytes;
  static constexpr int barrier_offset = constant_offset + constant_bytes;
  static constexpr int barriers =
      2 + ring + 2 * halo_ring + 3 * input_ring + (split > 1 ? 2 * strips + 1 : 0);
  static constexpr int y_face_entries =
      Own::by_parity ? 0 : split * tiles * (joins_y ? 1 : line_tiles);
  /// Those that are read once, if warps hold them (holds_all): traces on their way in y take their place then.
  static constexpr int held_entries = x_blocks * pairs + y_face_entries;
  static constexpr int small_entries =
      pairs * tiles + end_blocks + (Own::by_parity ? split * tiles : 0);
  static constexpr int held_offset = (barrier_offset + 8 * barriers + 15) / 16 * 16;
  static constexpr int held_end = held_offset + parts * (256 * held_entries + 128 * small_entries);
  static constexpr int mail_offset = holds_all ? held_offset : held_end;
  static constexpr int trace_bytes = 8 * parts; ///< of a lane
  /// Per strip: traces in y of two planes on their way, [2 planes][below, above][line tile][lane].
  static constexpr int mail_bytes = 2 * 2 * line_tiles * 32 * trace_bytes;
  /// The warps of a strip form traces in y for each other, each those of one tile's lines, if there is room.
  static constexpr int most_shared_bytes = shared_memory_limit::of_block_on_90;
  static constexpr bool shares_y =
      split > 1 && mail_offset + strips *mail_bytes <= most_shared_bytes;
  static constexpr bool mail_replaces_weights = holds_all && shares_y;
  static constexpr int own_y_blocks = shares_y ? y_blocks / split : y_blocks; ///< that a warp forms
  static constexpr int own_line_tiles = shares_y ? 1 : line_tiles;
  static constexpr int mail_end = mail_offset + (shares_y ? strips * mail_bytes : 0);
  static constexpr int shared_bytes = mail_end > held_end ? mail_end : held_end;

  /// Blocks are kept within a third of a layer of each other (InStep): within a whole one L2 loses rows of cells before the block
  /// beside wants them, the more the faster a layer is done.
  static constexpr int steps = 3;
  static constexpr bool begins_step(int k)
  {
    return k == 0 || k * steps / n != (k - 1) * steps / n;
  }

  /// There are registers to release planes without a fence, by arrivals that need the sums of what has been read.
  static constexpr bool releases_behind_sums = consumer_registers >= 200;

  /// There are registers for two planes at a time, and for the weights of traces in y.
  static constexpr bool overlaps = parts == 1;
  static constexpr bool holds_weights =
      consumer_registers >= 200 && (parts == 1 || n == 8 || shares_y);
  /// Lines in z are summed once for both of their ends, and the traces at the top held until the layer above is worked on. In
  /// two parts there are no registers for that: they are summed again.
  static constexpr bool keeps_top = parts == 1;
  /// Where a lane takes traces of the cells beside from is a mask, not a predicate: fewer instructions, and more registers,
  /// which p = 5 with all weights in registers has not.
  static constexpr bool chooses_by_masks = n != 6;

  /// The engine writes a plane with its halo; a warp reads src for z once (without keeps_top: twice), in pairs of planes and whole
  /// tiles, for x and the diagonal; the warps of a strip read the rows of cells below and above, each all of them unless they
  /// share the traces; the result passes through.
  static constexpr double reads_for_z = 2. * Planes::pairs / n * 8 * tiles * split / modes;
  static constexpr double shared_bytes_per_dof = 2. *
      (4. + (keeps_top ? 1. : 2.) * reads_for_z + 2. * (shares_y ? 1 : split) +
          double(halo_bytes) / own_box);

  static_assert(Own::by_parity || (split - 1) * Own::slots + 16 * (x_blocks - 1) <= modes,
      "only the last 16 modes of a warp may have some that are not its own");
  static_assert(!Own::by_parity || (split == 2 && Lines::per_tile == 4 && Lines::line_tiles == 2),
      "lines of one parity each, tiles of four modes i");
  static_assert(!shares_y || (split == line_tiles && own_y_blocks * split == y_blocks));
  static_assert(!overlaps || keeps_top,
      "plane 0 of a layer is released before the layer is worked on, when nobody may read it again");
  static_assert(lines <= 8, "lines of the cells before and after are rows of half a fragment");
  static_assert(ring < 3 * n, "two barriers for layers");
  static_assert(ring >= 2 * n, "two layers must be in shared memory as a whole");
  static_assert(rows * n <= 256, "boxes of the copy engine");
  static_assert(shared_bytes <= most_shared_bytes);
};
} // namespace tensormg::laplace
