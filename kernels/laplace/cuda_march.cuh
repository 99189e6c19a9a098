// The `cuda` backend in 3D, forms that read b: blocks march through the layers of cells, docs/kernels.md.
//
// A block owns a tile of cells in x-y and visits the planes (mode k of layer c) in the order of memory.
// Of the four service warps, one copies the planes of the tile into a ring in shared memory, one those of
// the cells around it, one b and old, and one sums the lines of the cells around it to their traces ("edges"),
// as far ahead as the planes of the tile are: so the halo is read while it is still in the L2 cache.
// The consumers hold B u of one layer in registers and add, per layer:
//   faces in z    sums over the n planes of the layer in the ring; the traces go from layer to layer in
//                 registers. The layer before is then complete and written.
//   faces in x,y  plane by plane: every line of a plane is summed by one thread ("stage"), traces are
//                 exchanged through shared memory, one barrier per plane, the sums of the next plane
//                 running ahead of the barrier.
// With two types of threads per column, type 0 sums the lines in y, type 1 those in x; each owns the
// modes j = type, type + 2, ...
#pragma once

#include "kernels/core/half.h"
#include "kernels/core/pack.cuh"
#include "kernels/core/pipeline.cuh"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/march_schedule.h"
#include "kernels/laplace/march_step.cuh"
#include "kernels/laplace/march_tile.h"

namespace tensormg::laplace
{
/// Everything a launch needs, in constant memory.
template <typename Tile>
struct MarchParameters
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  CUtensorMap own, halo_y, halo_x;    ///< boxes of src
  CUtensorMap b, old;                 ///< boxes of b and old like `own`
  C v[n], h[n];                       ///< trace weights
  C vd[3][n], gd[3][n], lambda[3][n]; ///< c_d v, c_d g, c_d lambda
  C start;        ///< chebyshev: 1 - (1 + theta) / alpha, the factor of lambda u in the accumulator
  C alpha, theta; ///< chebyshev
  Block block;
  std::array<Side, 6> sides;
  std::array<const C *, 6> ghost;
  Number *dst;
  std::int64_t row, plane; ///< strides of dst: block.row(), block.plane()
  bool has_old;
  MarchSchedule schedule;
  int longest; ///< schedule.longest()
  int tiles_x;
  unsigned *progress; ///< two counters, zero between launches; nullptr: blocks do not wait
};

namespace march
{
  /// One tile and a range of layers, with what follows from the position.
  struct Place
  {
    int x0, y0; ///< first cell
    int z0, z1; ///< layers
    int last_x; ///< last cell of the tile inside the block, counted from x0
    int last_y; ///< the same in y
    bool left_end, right_end, lower_end, upper_end; ///< the tile touches that side of the block
    bool before, after;                             ///< layers z0 - 1 and z1 exist
    bool left_closed, right_closed;                 ///< an end in x that is no wrap
    int left_cell; ///< which cell of the left halo box is the neighbour (of the right one: the first)
  };

  template <typename Tile>
  __device__ bool place(const MarchParameters<Tile> &p, int index, Place &at)
  {
    Segment s;
    if (!p.schedule.segment(blockIdx.x, index, s))
      return false;
    const int nx = p.block.cells[0], ny = p.block.cells[1], nz = p.block.cells[2];
    at.x0 = s.tile % p.tiles_x * Tile::cells_x;
    at.y0 = s.tile / p.tiles_x * Tile::cells_y;
    at.z0 = s.z0;
    at.z1 = s.z1;
    at.last_x = min(Tile::cells_x, nx - at.x0) - 1;
    at.last_y = min(Tile::cells_y, ny - at.y0) - 1;
    at.left_end = at.x0 == 0;
    at.right_end = at.x0 + Tile::cells_x >= nx;
    at.lower_end = at.y0 == 0;
    at.upper_end = at.y0 + Tile::cells_y >= ny;
    at.before = s.z0 > 0;
    at.after = s.z1 < nz;
    at.left_closed = at.left_end && p.sides[0] != Side::wrap;
    at.right_closed = at.right_end && p.sides[1] != Side::wrap;
    const bool wraps = p.sides[0] == Side::wrap && at.left_end;
    at.left_cell = wraps ? (nx - 1) % Tile::halo_x : Tile::halo_x - 1;
    return true;
  }

  template <typename Tile>
  struct Shared
  {
    using Number = typename Tile::Number;
    using Slot = typename Tile::Slot;
    using C = typename Tile::C;
    unsigned char *base;

    __device__ const Number *own(int slot) const
    {
      return reinterpret_cast<const Number *>(base + Tile::own_offset + slot * Tile::own_bytes);
    }
    /// part 0..3: cells below and above in y, left and right in x
    __device__ const Number *halo(int slot, int part) const
    {
      return reinterpret_cast<const Number *>(base + Tile::halo_offset + slot * Tile::halo_bytes +
          (part < 2 ? part * Tile::halo_y_bytes
                    : 2 * Tile::halo_y_bytes + (part - 2) * Tile::halo_x_bytes));
    }
    /// Traces of the cells outside in y: part 0, 1: V, D below; 2, 3: V, D above.
    __device__ Slot *edge_y(int slot, int part) const
    {
      return reinterpret_cast<Slot *>(base + Tile::edge_offset + slot * Tile::edge_bytes) +
          part * Tile::tops;
    }
    /// The same in x: part 0, 1: V, D to the left; 2, 3: to the right.
    __device__ C *edge_x(int slot, int part) const
    {
      return reinterpret_cast<C *>(
                 base + Tile::edge_offset + slot * Tile::edge_bytes + Tile::edge_y_bytes) +
          part * Tile::lines;
    }
    /// part 0: b, 1: old
    __device__ const Number *input(int slot, int part) const
    {
      return reinterpret_cast<const Number *>(
          base + Tile::input_offset + slot * Tile::input_bytes + part * Tile::own_bytes);
    }
    /// V and D below and V and D above every column, arrays of Tile::columns_y slots each; then, per line
    /// in x, the two combinations for even and the two for odd modes, of Tile::columns slots.
    __device__ Slot *exchange(int buffer) const
    {
      return reinterpret_cast<Slot *>(base + Tile::exchange_offset + buffer * Tile::exchange_bytes);
    }
    /// There is room for one more row of cells after `below` and before `above`, so that all write.
    __device__ Slot *below(int buffer) const { return exchange(buffer); }
    __device__ Slot *above(int buffer) const
    {
      return exchange(buffer) + 2 * Tile::columns_y + Tile::tops;
    }
    __device__ Slot *lines(int buffer) const { return exchange(buffer) + 4 * Tile::columns_y; }

    __device__ pipeline::Barrier *barrier(int index) const
    {
      return reinterpret_cast<pipeline::Barrier *>(base + Tile::barrier_offset) + index;
    }
    // Each ring has a barrier per slot that says full and one that says empty.
    static constexpr int halo_barriers = 2 * Tile::ring;
    static constexpr int edge_barriers = halo_barriers + 2 * Tile::halo_ring;
    static constexpr int input_barriers = edge_barriers + 2 * Tile::edge_ring;
    static constexpr int exchange_barriers = input_barriers + 2 * Tile::input_ring;
    using Barrier = pipeline::Barrier;
    __device__ Barrier *own_full(int slot) const { return barrier(2 * slot); }
    __device__ Barrier *own_empty(int slot) const { return barrier(2 * slot + 1); }
    __device__ Barrier *halo_full(int slot) const { return barrier(halo_barriers + 2 * slot); }
    __device__ Barrier *halo_empty(int slot) const { return barrier(halo_barriers + 2 * slot + 1); }
    __device__ Barrier *edge_full(int slot) const { return barrier(edge_barriers + 2 * slot); }
    __device__ Barrier *edge_empty(int slot) const { return barrier(edge_barriers + 2 * slot + 1); }
    __device__ Barrier *input_full(int slot) const { return barrier(input_barriers + 2 * slot); }
    __device__ Barrier *input_empty(int slot) const
    {
      return barrier(input_barriers + 2 * slot + 1);
    }
    __device__ Barrier *exchanged(int buffer) const { return barrier(exchange_barriers + buffer); }
  };

  /// Copies the tile's own planes (and those of the layers before and after the segment).
  template <typename Tile>
  __device__ void produce_own(const MarchParameters<Tile> &p, const Shared<Tile> &shared)
  {
    pipeline::RingPosition<Tile::ring> at;
    InStep step(p.progress, p.longest);
    Place s;
    for (int index = 0; place(p, index, s); ++index)
      for (int c = s.z0 - s.before; c < s.z1 + s.after; ++c)
      {
        if (c >= s.z0 && c < s.z1)
          step.begin_step();
        for (int k = 0; k < Tile::n; ++k)
        {
          pipeline::wait(shared.own_empty(at.slot), at.parity ^ 1u);
          pipeline::arrive_expect(shared.own_full(at.slot), Tile::own_box);
          pipeline::load_box(const_cast<typename Tile::Number *>(shared.own(at.slot)), &p.own,
              shared.own_full(at.slot), s.x0, 0, s.y0 * Tile::n, c * Tile::n + k);
          at.advance();
        }
      }
    step.end();
  }

  template <typename Tile>
  __device__ void produce_halo(const MarchParameters<Tile> &p, const Shared<Tile> &shared)
  {
    using Number = typename Tile::Number;
    pipeline::RingPosition<Tile::halo_ring> at;
    const int nx = p.block.cells[0];
    const bool wrap = p.sides[0] == Side::wrap;
    Place s;
    for (int index = 0; place(p, index, s); ++index)
    {
      // Boxes start at multiples of 16 bytes, as the copy engine wants; see Place::left_cell.
      const int left = wrap && s.left_end ? nx - 1 - s.left_cell : s.x0 - Tile::halo_x;
      const int right = wrap && s.right_end ? 0 : s.x0 + Tile::cells_x;
      for (int plane = s.z0 * Tile::n; plane < s.z1 * Tile::n; ++plane)
      {
        pipeline::Barrier *full = shared.halo_full(at.slot);
        pipeline::wait(shared.halo_empty(at.slot), at.parity ^ 1u);
        pipeline::arrive_expect(full, 2 * Tile::halo_y_box + 2 * Tile::halo_x_box);
        const auto to = [&](int part) { return const_cast<Number *>(shared.halo(at.slot, part)); };
        const int y = s.y0 * Tile::n;
        pipeline::load_box(to(0), &p.halo_y, full, s.x0, 0, y - Tile::n, plane);
        pipeline::load_box(to(1), &p.halo_y, full, s.x0, 0, y + Tile::cells_y * Tile::n, plane);
        pipeline::load_box(to(2), &p.halo_x, full, left, 0, y, plane);
        pipeline::load_box(to(3), &p.halo_x, full, right, 0, y, plane);
        at.advance();
      }
    }
  }

  /// Copies b and old, in the order in which layers are finished.
  template <typename Tile>
  __device__ void produce_input(const MarchParameters<Tile> &p, const Shared<Tile> &shared)
  {
    using Number = typename Tile::Number;
    pipeline::RingPosition<Tile::input_ring> at;
    Place s;
    for (int index = 0; place(p, index, s); ++index)
      for (int plane = s.z0 * Tile::n; plane < s.z1 * Tile::n; ++plane)
      {
        pipeline::Barrier *full = shared.input_full(at.slot);
        pipeline::wait(shared.input_empty(at.slot), at.parity ^ 1u);
        pipeline::arrive_expect(full, (p.has_old ? 2 : 1) * Tile::own_box);
        const auto to = [&](int part) { return const_cast<Number *>(shared.input(at.slot, part)); };
        pipeline::load_box(to(0), &p.b, full, s.x0, 0, s.y0 * Tile::n, plane);
        if (p.has_old)
          pipeline::load_box(to(1), &p.old, full, s.x0, 0, s.y0 * Tile::n, plane);
        at.advance();
      }
  }
} // namespace march
} // namespace tensormg::laplace
