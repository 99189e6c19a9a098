// What a block of the tensor-core column kernel owns, and where it keeps it in shared memory: see steps.cuh.
#pragma once

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/shared_memory_limit.h"
#include "kernels/laplace/march/swizzled_rows.h"
#include "kernels/laplace/march/warp_roles.h"
#include "kernels/laplace/tiles/kernel.h"

namespace tensormg::laplace
{
/// What is chosen for it.
struct MmaColumnShape
{
  int cells_x;    ///< of a row
  int rows;       ///< of cells
  int parts;      ///< warps per row
  int ring;       ///< planes of src
  int input_ring; ///< planes of b and old
  int inputs = 2; ///< b and old: 2; Form::residual reads b alone
};

/// Degree 3: the 16 modes of a plane are what ldmatrix reads at a time, and so are four lines in z.
///
/// `rows` rows of `cells_x` cells; a row belongs to `parts` warps, each with cells_x / parts neighbouring cells in
/// fragments of 16, which it works on with all their modes while it marches along z. One more group of warps
/// copies.
///
/// A slot of the ring holds one plane (mode k of a layer) of src:
///   own    [rows + 2][n modes j][n modes i][cells_x]    with a row of cells below and above
///   left   [rows][n modes j][n modes i][8 cells]        beside the tile
///   right  likewise
/// a slot of the second ring one plane of b, then of old if `inputs` = 2: [rows][n][n][cells_x] each, a slot of the
/// third one plane of results on their way to memory. Rows of cells_x cells are permuted by the copy engine
/// (SwizzledRows).
template <MmaColumnShape shape>
struct MmaColumnTile : WarpRoles<shape.rows * shape.parts>
{
  static constexpr Kernel kernel = Kernel::mma_column;
  using Number = Half;
  using C = float;
  static constexpr int n = 4;
  static constexpr int cells_x = shape.cells_x, rows = shape.rows, parts = shape.parts;
  static constexpr int ring = shape.ring, input_ring = shape.input_ring, inputs = shape.inputs;
  static constexpr int result_ring = n; ///< plane k of a layer always has the same slot

  static constexpr int modes = n * n;      ///< of a plane
  static constexpr int tiles = modes / 8;  ///< of 8 modes: accumulators of a plane and 16 cells
  static constexpr int groups = modes / 4; ///< of 4 lines in z
  static constexpr int fragments = cells_x / 16 / parts; ///< of 16 cells, per warp

  static constexpr int cells_y = rows;
  static constexpr int halo_x = 8;
  static constexpr int row_bytes = 2 * cells_x;

  static constexpr int align(int bytes) { return (bytes + 1023) / 1024 * 1024; }
  static constexpr int own_box = row_bytes * modes * (rows + 2);
  static constexpr int side_box = 16 * modes * rows;
  static constexpr int input_box = row_bytes * modes * rows;
  static constexpr int left_at = own_box;
  static constexpr int right_at = left_at + (side_box + 127) / 128 * 128;
  /// Half a period of the permutation more than whole ones: lines in z read by one ldmatrix belong to two planes, whose
  /// banks would be the same.
  static constexpr int period = SwizzledRows<row_bytes>::period;
  static constexpr int slot_bytes =
      (right_at + side_box + period / 2 - 1) / period * period + period / 2;
  static constexpr int input_bytes = align(input_box);

  /// Per warp: the segment that it works on.
  static constexpr int place_bytes = 64;

  // Multiplicands that all warps share, in the order of Constants.
  static constexpr int trace_entries = 6; ///< x, y and z: right and left
  static constexpr int face_entries =
      2 * tiles + 2 * n; ///< x and y: by tile of modes; z: by k, lower and upper
  static constexpr int diagonal_entries = 5 * n * tiles; ///< by term, k and tile
  static constexpr int entries = trace_entries + face_entries;
  /// The residual, of jumps: the same, a cell alone by k, tile and part, beside ghosts in y and z at both ends.
  static constexpr int jump_entries = entries + 2 * n * tiles + 4;
  static constexpr int traced_bytes = 256 * entries + 128 * diagonal_entries + 4 * n * 8 * tiles;
  static constexpr int constant_bytes =
      traced_bytes > 256 * jump_entries ? traced_bytes : 256 * jump_entries;

  static constexpr int input_offset = align(ring * slot_bytes);
  static constexpr int result_offset = input_offset + inputs * input_ring * input_bytes;
  static constexpr int place_offset = result_offset + result_ring * input_bytes;
  static constexpr int constant_offset = place_offset + rows * parts * place_bytes;
  static constexpr int barrier_offset = (constant_offset + constant_bytes + 7) / 8 * 8;
  static constexpr int barriers = 2 * (ring + input_ring + result_ring);
  static constexpr int shared_bytes = barrier_offset + 8 * barriers;

  /// The engine writes a plane with its halo; src is read for z, for x and twice for the rows below and
  /// above; the result passes through.
  static constexpr double shared_bytes_per_dof = 2. * (6. + double(slot_bytes) / input_box);

  static_assert(parts == 1 || parts == 2 || parts == 4);
  static_assert(ring > n, "a layer must be in shared memory as a whole, and one plane more");
  static_assert((rows + 2) * n <= 256, "boxes of the copy engine");
  static_assert(shared_bytes <= shared_memory_limit::of_block_on_90);
};
} // namespace tensormg::laplace
