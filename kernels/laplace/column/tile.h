// What a block of the column kernel owns, and where it keeps it in shared memory: see column.cuh.
#pragma once

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/shared_memory_limit.h"
#include "kernels/core/wide_float.h"
#include "kernels/laplace/march/warp_roles.h"
#include "kernels/laplace/tiles/kernel.h"

namespace tensormg::laplace
{
/// What is chosen for it.
struct ColumnShape
{
  int modes;           ///< of a line
  int width;           ///< cells per lane
  int rows;            ///< of cells, one warp each
  int ring;            ///< planes of src
  int input_ring = 0;  ///< planes of b and old; 0: Form::apply alone
  int inputs = 2;      ///< b and old: 2; Form::residual reads b alone
  bool parked = false; ///< traces at the top of a layer wait in shared memory
  /// Results of a warp on their way to memory, of so many modes j; 0: lanes write them themselves.
  int staged = 0;
};

/// `rows` warps, each with a row of 32 lanes times `width` neighbouring cells in x; a lane owns its cells
/// with all their modes and marches along z. One more group of warps copies.
///
/// A slot of the ring holds one plane (mode k of a layer) of src:
///   own    [rows + 2][n modes j][n modes i][32 lanes][width]   with a row of cells below and above
///   left   [rows][n modes j][n modes i][halo_x]                cells beside the tile
///   right  likewise
/// a slot of the other ring one plane of b, then of old if `inputs` = 2: [rows][n][n][32][width] each.
template <typename Number_, ColumnShape shape>
struct ColumnTile : WarpRoles<shape.rows>
{
  static constexpr Kernel kernel = Kernel::column;
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int n = shape.modes, width = shape.width, rows = shape.rows;
  static constexpr int ring = shape.ring, input_ring = shape.input_ring, inputs = shape.inputs;
  static constexpr int staged = shape.staged;
  static constexpr bool parked = shape.parked;
  static constexpr int result_ring = 0; ///< each warp has results written by itself

  /// The slots of a layer follow each other: no lane computes where the ring begins again.
  static constexpr bool whole_layers = ring % n == 0;

  /// The lines of a mode j are loaded once for z and x, if there are registers for n^2 packs more; otherwise once for each.
  static constexpr bool loads_once = !parked;

  /// In the ring a ghost in y is a row of cells that has its traces. Where a Number would round away what C holds
  /// of them, they are added to the sums instead.
  static constexpr bool adds_ghosts = sizeof(C) == 8 && sizeof(Number) < 8;

  static constexpr int cells_x = 32 * width;
  static constexpr int cells_y = rows;

  /// Cells of a box beside the tile: the copy engine moves multiples of 16 bytes.
  static constexpr int halo_x = 16 / int(sizeof(Number));

  static constexpr int align(int bytes) { return (bytes + 127) / 128 * 128; }
  static constexpr int own_box = int(sizeof(Number)) * cells_x * n * n * (rows + 2);
  static constexpr int side_box = int(sizeof(Number)) * halo_x * n * n * rows;
  static constexpr int input_box = int(sizeof(Number)) * cells_x * n * n * rows;
  static constexpr int left_at = align(own_box);
  static constexpr int right_at = left_at + align(side_box);
  static constexpr int slot_bytes = right_at + align(side_box);
  static constexpr int input_bytes = align(input_box);

  /// Per warp: traces of the cells beside the row, [left, right][k][j][V, D].
  static constexpr int edge_numbers = 4 * n * n;

  static constexpr int input_offset = ring * slot_bytes;
  static constexpr int edge_offset = input_offset + inputs * input_ring * input_bytes;
  /// Per warp: [j][i][32 lanes][V, D][width].
  static constexpr int park_numbers = parked ? 64 * width * n * n : 0;
  static constexpr int park_offset = edge_offset + align(rows * edge_numbers * int(sizeof(C)));
  /// Per warp: results on their way, `staged` slots of one mode j each, [k][i][32 lanes][width].
  static constexpr int staged_bytes = align(n * n * cells_x * int(sizeof(Number)));
  static constexpr int staged_offset = park_offset + rows * park_numbers * int(sizeof(C));
  static constexpr int barrier_offset = staged_offset + staged * rows * staged_bytes;
  static constexpr int barriers = 2 * (ring + input_ring);
  static constexpr int shared_bytes = barrier_offset + 8 * barriers;

  /// The engine writes a plane with its halo; src is read for z and x and twice for the rows below and
  /// above, b and old once; results may pass through.
  static constexpr double shared_bytes_per_dof = sizeof(Number) *
      ((loads_once ? 3. : 4.) + (staged > 0 ? 2. : 0.) + double(slot_bytes) / input_box);

  static_assert(2 * n * n <= 32, "each lane sums at most one line beside the row per layer");
  static_assert(ring > n, "a layer must be in shared memory as a whole, and one plane more");
  static_assert(row_granularity % width == 0);
  static_assert((rows + 2) * n <= 256 && cells_x <= 256, "boxes of the copy engine");
  static_assert(shared_bytes <= shared_memory_limit::of_block_on_90);
};

/// The tile for blocks with ghosts in y where the storage would round their traces: an instance of its own, since the code that
/// adds them makes the loops of the others slower.
template <typename Tile>
struct GhostTile : Tile
{
  static constexpr bool adds_ghosts = true;
};
} // namespace tensormg::laplace
