// Shape of the marching kernel's tile: which threads, how much shared memory, what lies where in it.
#pragma once

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

namespace tensormg::laplace
{
/// What one block of the marching kernel works on, per degree and number type.
///
/// A consumer thread owns a column: one mode i in x of `width` neighbouring cells, the modes
/// j = type + types * m of one cell row in y, and all modes k in z. Four service warps copy and sum the
/// halo.
template <typename Number_, int n_, int width_, int packs_, int rows_, int types_, int ring_,
    int halo_ring_, int edge_ring_, int input_ring_>
struct MarchTile
{
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr bool owns_columns = false; ///< this is no ColumnTile
  static constexpr int n = n_;
  static constexpr int width = width_; ///< cells per thread
  static constexpr int packs = packs_; ///< threads per row of cells
  static constexpr int cells_x = width * packs;
  static constexpr int cells_y = rows_;
  static constexpr int types = types_; ///< threads per column, each with some of the modes j
  static constexpr int ring = ring_;   ///< planes of the tile itself
  static constexpr int halo_ring = halo_ring_;   ///< planes of the cells around it
  static constexpr int edge_ring = edge_ring_;   ///< planes of the traces of those cells
  static constexpr int input_ring = input_ring_; ///< planes of b and old

  static constexpr int columns = packs * n * cells_y; ///< threads per type
  static constexpr int column_warps = (columns + 31) / 32;
  static constexpr int consumer_warps = types * column_warps;
  static constexpr int consumer_groups = (consumer_warps + 3) / 4;
  static constexpr int threads = 128 * (consumer_groups + 1);

  /// Registers per thread: at launch all threads have the same number; the consumers then take what the
  /// service warps give back, at most 240.
  static constexpr int service_registers = 56;
  static constexpr int launch_registers = 65536 / threads / 8 * 8;
  static constexpr int pool =
      (launch_registers + (launch_registers - service_registers) / consumer_groups) / 8 * 8;
  static constexpr int consumer_registers = pool < 240 ? pool : 240;

  /// Cells of a halo box in x: the copy engine moves multiples of 16 bytes.
  static constexpr int halo_x = 16 / sizeof(Number);

  /// One number of each cell of a pack.
  struct Slot
  {
    C number[width];
  };

  static constexpr int lines = cells_y * n; ///< lines in x of a plane, per cell
  static constexpr int tops = n * packs;    ///< packs of columns along one side in y

  static constexpr int align(int bytes) { return (bytes + 127) / 128 * 128; }
  static constexpr int own_box = sizeof(Number) * cells_x * n * n * cells_y;
  static constexpr int halo_y_box = sizeof(Number) * cells_x * n * n;
  static constexpr int halo_x_box = sizeof(Number) * halo_x * n * n * cells_y;
  static constexpr int own_bytes = align(own_box);
  static constexpr int halo_y_bytes = align(halo_y_box);
  static constexpr int halo_x_bytes = align(halo_x_box);
  static constexpr int halo_bytes = 2 * halo_y_bytes + 2 * halo_x_bytes; ///< y-, y+, x-, x+
  static constexpr int edge_y_bytes = align(4 * tops * sizeof(Slot));    ///< V, D of y-; V, D of y+
  static constexpr int edge_bytes = edge_y_bytes + align(4 * lines * sizeof(C)); ///< and of x-, x+
  static constexpr int input_bytes = 2 * own_bytes;                              ///< b, old
  static constexpr int columns_y = columns + tops; ///< with a row of cells to spare
  static constexpr int exchange_bytes = align((4 * columns_y + 4 * columns) * sizeof(Slot));

  static constexpr int own_offset = 0;
  static constexpr int halo_offset = own_offset + ring * own_bytes;
  static constexpr int edge_offset = halo_offset + halo_ring * halo_bytes;
  static constexpr int input_offset = edge_offset + edge_ring * edge_bytes;
  static constexpr int exchange_offset = input_offset + input_ring * input_bytes;
  static constexpr int barrier_offset = exchange_offset + 2 * exchange_bytes;
  static constexpr int barriers = 2 * (ring + halo_ring + edge_ring + input_ring) + 2;
  static constexpr int shared_bytes = barrier_offset + 8 * barriers;

  /// The engine writes a plane and its halo; src is read once per direction; each number takes one pair
  /// from x, each line hands over two pairs per direction, each column takes two in y.
  static constexpr double shared_bytes_per_dof =
      sizeof(Number) * (4. + double(halo_bytes) / own_box) +
      sizeof(C) * (2. + (8. + 4. * types) / n);

  static_assert(ring > n, "a layer must be in shared memory as a whole, and one plane more");
  static_assert(halo_ring >= 1 && edge_ring >= 3 && cells_y >= 2 && packs >= 2);
  static_assert(32 % packs == 0, "the lines of a warp end inside it");
  static_assert(row_granularity % width == 0);
  static_assert(cells_x * sizeof(Number) >= 16);
  static_assert(shared_bytes <= 232448, "227 KiB per block");
  static_assert(threads <= 1024);
};
} // namespace tensormg::laplace
