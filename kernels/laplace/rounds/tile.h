// What a block of the kernel that works on a layer in rounds owns, and where it keeps it in shared memory: see rounds.cuh.
#pragma once

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/shared_memory_limit.h"
#include "kernels/laplace/tiles/kernel.h"

namespace tensormg::laplace
{
/// What is chosen for it.
struct RoundsShape
{
  int modes;        ///< of a line
  int warps;        ///< that compute
  int planes;       ///< of a round
  int own_ring;     ///< rounds of the tile
  int halo_ring;    ///< rounds of the cells around it
  bool pairs_lines; ///< the lines in x of a warp have the same faces in y, as far as that goes
};

/// A row of 16 lanes, each with neighbouring cells in x of 8 bytes together. `warps` work on `planes` planes of the row at a time, a
/// round: half a warp has a line of them. Rings, in rounds:
///   own    [own_ring][planes][n modes j][n modes i][cells_x]; sums of x and y take the place of u
///   halo   [halo_ring] row beyond [planes][n][n][cells_x]; left, right [planes][n][n][halo_x]
///   mail   [2][planes][n lines i][16 lanes] letters (V, D) of the block that has the row on the other side; what the faces in y
///          give to even modes j, (v, g), takes their place
///   faces  [planes][n lines i][16 lanes] (v, g) of odd modes j
///   edges  [2][left, right][planes][n lines j][V, D] beside the row
/// `pairs_lines`: the two lines in x of a warp have modes j of one parity in the same plane, as far as that goes, and so the same
/// faces in y. Blocks are kept within a round of each other (InStep).
template <typename Number_, RoundsShape shape>
struct RoundsTile
{
  static constexpr Kernel kernel = Kernel::rounds;
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int n = shape.modes, planes = shape.planes, warps = shape.warps;
  static constexpr int own_ring = shape.own_ring, halo_ring = shape.halo_ring;
  static constexpr bool pairs_lines = shape.pairs_lines;
  static constexpr int rounds = n / planes; ///< of a layer
  static constexpr int lines = planes * n;  ///< in x of a round, and in y

  static constexpr int rows = 1;                 ///< of cells, of a block
  static constexpr int cluster = 2;              ///< blocks with rows beside each other
  static constexpr int cells_y = rows * cluster; ///< of a cluster
  static constexpr int lanes_x = 16;
  static constexpr int width = 8 / int(sizeof(C)); ///< cells of a lane
  static constexpr int cells_x = lanes_x * width;
  static constexpr int modes = n * n; ///< of a plane
  static constexpr int halo_x = 16 / int(sizeof(Number));

  static constexpr int units = 2 * warps;                    ///< halves of warps
  static constexpr int strips = (modes + units - 1) / units; ///< lines in z of a lane
  /// One warp copies, one sums lines beside the row.
  static constexpr int service_warps = 2;
  static constexpr int threads = 32 * (warps + service_warps);
  static constexpr int consumer_registers = 0; ///< nobody hands over any
  /// As in LayersTile: neither gains.
  static constexpr bool whole_columns = false, halves_of_rows = false;

  /// A line of a round: plane m of it, mode j.
  struct Line
  {
    int m, j;
  };
  /// The line in x of half a warp in a round.
  static constexpr Line line_in_x(int unit)
  {
    if (!pairs_lines)
      return {unit / n, unit % n};
    // Pairs of even and of odd modes; of either parity one is left over where there is an odd number of them.
    constexpr int evens = (n + 1) / 2, odds = n / 2, pairs = evens / 2 + odds / 2;
    constexpr int singles = evens % 2 + odds % 2;
    const int warp = unit / 2, half = unit % 2;
    if (warp < planes * pairs)
    {
      const int pair = warp % pairs, odd = pair >= evens / 2 ? 1 : 0;
      return {warp / pairs, odd + 4 * (pair - odd * (evens / 2)) + 2 * half};
    }
    const int rest = unit - 2 * planes * pairs, of_plane = singles > 1 ? rest % 2 : 0;
    const bool is_even = evens % 2 == 1 && of_plane == 0;
    return {rest / (singles > 1 ? 2 : 1), is_even ? 2 * (evens - 1) : 2 * odds - 1};
  }

  static constexpr int align(int bytes) { return (bytes + 127) / 128 * 128; }
  static constexpr int plane_bytes = int(sizeof(Number)) * cells_x * modes; ///< of a row of cells
  static constexpr int side_bytes = 16 * modes; ///< of what lies beside it in a plane
  // The copy engine reads the planes of a round as one box.
  static constexpr int read_box = planes, write_box = 1;
  static constexpr int own_box = planes * plane_bytes;
  static constexpr int side_box = planes * side_bytes;
  static constexpr int left_at = own_box;
  static constexpr int right_at = left_at + align(side_box);
  static constexpr int halo_bytes = right_at + align(side_box);
  static constexpr int halo_box = own_box + 2 * side_box;
  static constexpr int letter_bytes = 16;
  static constexpr int line_mail = lanes_x * letter_bytes; ///< letters of a line
  static constexpr int mail_bytes = lines * line_mail;     ///< of a round
  static constexpr int edge_numbers = 4 * lines;           ///< of a round
  static constexpr int place_bytes = 48;                   ///< of a segment

  static constexpr int halo_offset = own_ring * own_box;
  static constexpr int mail_offset = halo_offset + halo_ring * halo_bytes;
  static constexpr int faces_offset = mail_offset + 2 * mail_bytes;
  static constexpr int edge_offset = faces_offset + mail_bytes;
  static constexpr int place_offset = edge_offset + align(2 * edge_numbers * int(sizeof(C)));
  static constexpr int barrier_offset = place_offset + warps * place_bytes;
  static constexpr int barriers = 2 * own_ring + 2 * halo_ring + 3 + 2 * warps;
  static constexpr int worker_offset = barrier_offset + 8 * barriers;
  static constexpr int shared_bytes = worker_offset + 8;

  /// The engine writes a round with its halo; u is read for z, for x and to be sent, the row beyond is read; sums of x and y are
  /// written and read. Of a line two letters are written and read, and what the faces in y give, 4 numbers, is written; of these every
  /// number reads two.
  static constexpr double shared_bytes_per_dof =
      sizeof(Number) * (5. + double(halo_bytes) / own_box) + sizeof(C) * (4. + 8. / n);

  static_assert(own_box % 128 == 0, "boxes begin there");
  static_assert(sizeof(C) == sizeof(Number), "sums take the place of u");
  static_assert(n % planes == 0, "who reads letters of a round sends some of the next one");
  static_assert(lines <= units, "half a warp has a line of a round");
  static_assert(halo_ring + 1 >= rounds && own_ring >= 2,
      "the thread that copies has asked for a layer before it waits for what that layer gives back");
  static_assert(own_ring >= rounds, "all of a layer is there when z is summed");
  static_assert(rows * n <= 256, "boxes of the copy engine");
  static_assert(shared_bytes <= shared_memory_limit::of_block_on_90);
  static_assert(threads <= 1024);
};
} // namespace tensormg::laplace
