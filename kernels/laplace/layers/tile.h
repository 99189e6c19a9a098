// What a block of the layer kernel on CUDA cores owns, and where it keeps it in shared memory: see layers.cuh.
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
struct LayersShape
{
  int modes;     ///< of a line
  int rows;      ///< of cells
  int groups;    ///< of warps, which take planes in turns
  int halo_ring; ///< planes of the cells around the tile
  bool split =
      false;       ///< halves of a warp have the even and the odd modes j of one row, not two rows
  int width = 0;   ///< cells per lane; 0: 8 bytes of sums
  int cluster = 1; ///< blocks with rows of cells beside each other, 1 or 2
  int planes_out = 0; ///< that are written at a time; 0: a layer
  int planes_in = 0;  ///< that are waited for at a time; 0: a layer
  int own_ring = 0;   ///< planes of the tile; 0: two layers
  bool boxes = false; ///< planes that are waited for together are one request of the copy engine
};

/// `rows` rows of 16 lanes, a lane with `width` neighbouring cells in x. Half a warp works on a
/// row of cells in a plane (mode k of a layer): the halves have two rows, or, with `split`, the even and the odd modes j of
/// the same one. `groups` groups of warps take a plane each, one after the other. Two more
/// warps copy (`writes_apart`: three). `planes_out` planes of a layer are written, and replaced by those of the layer after the next, at a time, and
/// `planes_in` planes waited for.
///
/// Two layers of src are in shared memory, or some planes more, and a ring of planes of the cells around the tile:
///   own    [own_ring planes][rows][n modes j][n modes i][cells_x], slot(); B u takes the place of u
///   halo   lower, upper [n][n][cells_x]; left, right [rows][n][n][halo_x]
/// Where a Number would round the sums of x and y, these have a place of their own, for one layer, and u is there until
/// its place takes B u.
/// The halo of the blocks of a cluster is lower or upper. On the other side they send each other the traces of their rows
/// (`by_mail`).
template <typename Number_, LayersShape shape_>
struct LayersTile
{
  static constexpr Kernel kernel = Kernel::layers;
  static constexpr LayersShape shape = shape_;
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int n = shape.modes, rows = shape.rows, groups = shape.groups;
  static constexpr int halo_ring = shape.halo_ring, cluster = shape.cluster;
  static constexpr int own_ring = shape.own_ring > 0 ? shape.own_ring : 2 * n;
  static constexpr int planes_out = shape.planes_out > 0 ? shape.planes_out : n;
  static constexpr int planes_in = shape.planes_in > 0 ? shape.planes_in : n;
  static constexpr bool split = shape.split;
  /// That may be on their way at the same time: each has barriers.
  static constexpr int layers = own_ring > 2 * n ? 3 : 2;
  /// Place of plane k of a layer, which are numbered in the order of copies.
  static constexpr int slot(int layer, int k)
  {
    return own_ring == 2 * n ? layer % 2 * n + k : (layer * n + k) % own_ring;
  }
  static constexpr int width = shape.width > 0 ? shape.width : 8 / int(sizeof(C));
  static constexpr int lanes_x = 16;
  static constexpr int cells_x = lanes_x * width;
  static constexpr int cells_y = rows * cluster;                      ///< of a cluster
  static constexpr int modes = n * n;                                 ///< of a plane
  static constexpr int steps_out = (n + planes_out - 1) / planes_out; ///< of a layer
  static constexpr int steps_in = (n + planes_in - 1) / planes_in;
  static constexpr int group_warps = split ? rows : rows / 2;
  static constexpr int warps = groups * group_warps;
  static constexpr bool by_mail = cluster > 1;

  /// For the launch: blocks_for_whole_columns(); for what is near which half of L2: worker_with_half_of_rows(), which gain where the row
  /// beside is sent and sides in x take few sectors of L2.
  static constexpr bool whole_columns = sizeof(C) == sizeof(Number);
  static constexpr bool halves_of_rows = by_mail && sizeof(Number) == 8;

  /// Two more warps copy; registers are given to warps by fours. Where so many warps
  /// would have more than the warps of all groups, a group of warps copies and gives them its registers.
  /// `writes_apart`: a warp of its own writes, so that reading the planes that leave one by one does not wait for the next
  /// ones to be done, if there are registers for it.
  static constexpr bool writes_apart = cluster == 1 && steps_out > 1 &&
      (warps + 3 + 3) / 4 == (warps + 2 + 3) / 4;
  static constexpr int service_warps = writes_apart ? 3 : 2;
  using Roles = WarpRoles<warps, 40>;
  static constexpr int plain_registers =
      Roles::of_multiprocessor / (128 * ((warps + service_warps + 3) / 4)) / 8 * 8;
  static constexpr bool moves_registers = Roles::pool > plain_registers;
  static constexpr int first_service = moves_registers ? 128 * Roles::consumer_groups : 32 * warps;
  static constexpr int threads = moves_registers ? Roles::threads : 32 * (warps + service_warps);
  static constexpr int service_registers = Roles::service_registers;
  static constexpr int consumer_registers = moves_registers ? Roles::consumer_registers
      : plain_registers < Roles::most_of_thread             ? plain_registers
                                                            : Roles::most_of_thread;

  /// A plane of the tile is so many lines in z for the lanes of a warp, shared by all warps.
  static constexpr int strips = (rows * modes + 1) / 2;
  static constexpr int strips_per_warp = (strips + warps - 1) / warps;

  static constexpr int halo_x = 16 / int(sizeof(Number));

  static constexpr int align(int bytes) { return (bytes + 127) / 128 * 128; }
  static constexpr int row_box = int(sizeof(Number)) * cells_x * modes;
  static constexpr int own_box = row_box * rows;
  static constexpr int side_box = 16 * modes * rows;
  static constexpr int own_bytes = align(own_box);
  /// Planes that the copy engine reads and writes as one box: not where the last ones are fewer; a layer that is written at once.
  static constexpr int read_box = shape.boxes && n % planes_in == 0 ? planes_in : 1;
  static constexpr int write_box = shape.boxes && steps_out == 1 ? n : 1;
  static constexpr int halo_rows = cluster > 1 ? 1 : 2; ///< lower, upper
  static constexpr int halo_box = halo_rows * row_box + 2 * side_box;
  static constexpr int upper_at = cluster > 1 ? 0 : align(row_box);
  static constexpr int left_at = halo_rows * align(row_box);
  static constexpr int right_at = left_at + align(side_box);
  static constexpr int halo_bytes = right_at + align(side_box);

  /// Sums of x and y are written over u.
  static constexpr bool in_place = sizeof(C) == sizeof(Number);
  static constexpr int sum_bytes =
      in_place ? own_bytes : align(int(sizeof(C)) * cells_x * modes * rows);
  static constexpr int sum_offset = own_ring * own_bytes;
  static constexpr int halo_offset = sum_offset + (in_place ? 0 : n * sum_bytes);
  /// Traces of the row of cells in the block beside: [n planes][n lines i][16 lanes] letters.
  static constexpr int letter_bytes = 2 * width * int(sizeof(C));
  static constexpr int mail_bytes = n * lanes_x * letter_bytes; ///< of a plane
  static constexpr int mail_offset = halo_offset + halo_ring * halo_bytes;
  static constexpr int edge_offset = mail_offset + (by_mail ? n * mail_bytes : 0);
  /// Per warp: traces of the cells beside its rows in a plane, [half unless split][left, right][j][V, D].
  static constexpr int edge_numbers = (split ? 4 : 8) * n;
  /// Per warp: the segment that it works on.
  static constexpr int place_bytes = 64;
  static constexpr int place_offset = edge_offset + align(warps * edge_numbers * int(sizeof(C)));
  static constexpr int barrier_offset = place_offset + warps * place_bytes;
  static constexpr int barriers = layers * (steps_in + steps_out) + 1 + n + halo_ring +
      (by_mail ? 2 * n : groups) + (writes_apart ? layers * steps_out : 0);
  static constexpr int worker_offset = barrier_offset + 8 * barriers;
  static constexpr int shared_bytes = worker_offset + 8;

  /// The engine writes a plane with its halo and reads the result; u is read for z, for x and twice for y, the sum of x and y
  /// is written and read, and the result is written. A letter is written once, and both halves of a warp read it.
  static constexpr double shared_bytes_per_dof =
      sizeof(Number) * (7. + double(halo_bytes) / own_box) + sizeof(C) * 2. +
      (by_mail ? 3. * mail_bytes / (rows * modes * cells_x) : 0.);

  static_assert(split || rows % 2 == 0, "half a warp has a row of cells");
  static_assert(cluster == 1 || (cluster == 2 && in_place));
  static_assert(!by_mail || (split && rows == 1 && groups == n && halo_ring == n),
      "a warp has a plane, all of which lies beside the other block");
  static_assert(own_ring >= 2 * n && own_ring <= 3 * n);
  static_assert(own_ring == 2 * n || (writes_apart && in_place),
      "copy_layers() reads planes to where it has written those of two layers before");
  static_assert(halo_ring <= n, "a plane's barrier serves one layer after the other");
  static_assert(!shape.boxes || (own_bytes == own_box && own_ring == 2 * n),
      "planes of a layer lie behind each other");
  static_assert(planes_out % read_box == 0, "planes of a box are replaced together");
  static_assert(rows * n <= 256, "boxes of the copy engine");
  static_assert(shared_bytes <= shared_memory_limit::of_block_on_90);
  static_assert(threads <= 1024);
};
} // namespace tensormg::laplace
