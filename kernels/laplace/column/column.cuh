// The `cuda` backend in 3D, low degrees: a lane owns a column of cells, docs/kernels.md.
//
// A block owns a tile of cells in x-y and visits the planes (mode k of layer c) in the order of memory. One
// thread copies them into a ring in shared memory, with the cells around the tile. Every warp works on a row
// of cells and never meets the others: what it needs of the rows below and above it sums itself.
// A lane holds B u of its cells in one layer, all n^3 modes, and adds per layer:
//   faces in z    sums over the n planes of the layer; the traces go from layer to layer in registers. The
//                 layer before is then complete and written.
//   faces in x    sums along its lines; traces of neighbouring lanes by shuffles, those beside the row from
//                 sums that each lane forms for one line per layer.
//   faces in y    sums along the lines of the rows below and above.
// The fused forms add b and old plane by plane: residual and Chebyshev step are a sum like B u whose weights
// have the other sign, times a factor per mode in the end.
#pragma once

#include "kernels/device/cluster.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/device/pipeline.cuh"
#include "kernels/laplace/column/tile.h"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/march/march_schedule.h"
#include "kernels/laplace/march/march_step.cuh"

namespace tensormg::laplace
{
/// What a launch of every kernel with such tiles needs, in constant memory.
template <typename Tile>
struct TileParameters
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  CUtensorMap own, side, b, old; ///< boxes of src (the tile, the cells beside it), of b and old
  CUtensorMap result;            ///< boxes of dst, whose padding is written too
  C v[n], h[n];                  ///< trace weights
  C vd[3][n], gd[3][n];          ///< c_d v, c_d g; negative in the fused forms
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

/// The same of kernels with the rings of this one.
template <typename Tile>
struct ColumnParameters : TileParameters<Tile>
{
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  C diagonal[n][n][n]; ///< [k][j][i]: D; negative in the residual
  C factor[n][n][n];   ///< chebyshev: alpha / D
  C keep, drop;        ///< chebyshev: D (keep u - drop old) is added to the sum
};

/// Everything a launch of the column kernel needs. Traces are in units of v_0 and h_0, column::ScaledSums; `diagonal` is what u
/// is multiplied by, also in the Chebyshev step.
template <typename Tile>
struct LaneParameters : ColumnParameters<Tile>
{
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  C near[3][n][n];   ///< what the modes of the cell above add to the modes, [d][to][from]
  C of_old[n][n][n]; ///< chebyshev: what old is multiplied by
  C inverse;         ///< 1 / (v_0 h_1 - v_1 h_0)
  C unit_v, unit_h;  ///< what the traces of ghosts are multiplied by
};

namespace column
{
  /// One tile and a range of layers, with what follows from the position.
  struct Place
  {
    int x0, y0;                     ///< first cell
    int z0, z1;                     ///< layers
    int last_x;                     ///< last cell of the tile inside the block, counted from x0
    int last_y;                     ///< the same in y
    bool lower_end, upper_end;      ///< the tile touches that side of the block in y
    bool before, after;             ///< layers z0 - 1 and z1 exist
    bool left_closed, right_closed; ///< an end in x that is no wrap
    bool partial;                   ///< the tile ends before its last lane's last cell
    int left, right;                ///< first cells of the boxes beside the tile
    int left_cell; ///< which cell of the left box is the neighbour (of the right one: the first)
  };

  /// The index-th of a worker; false if it has no more.
  template <typename Tile>
  __device__ bool place(const TileParameters<Tile> &p, int worker, int index, Place &at)
  {
    Segment s;
    if (!p.schedule.segment(worker, index, s))
      return false;
    const int nx = p.block.cells[0], ny = p.block.cells[1], nz = p.block.cells[2];
    at.x0 = s.tile % p.tiles_x * Tile::cells_x;
    at.y0 = s.tile / p.tiles_x * Tile::cells_y;
    at.z0 = s.z0;
    at.z1 = s.z1;
    at.last_x = min(Tile::cells_x, nx - at.x0) - 1;
    at.last_y = min(Tile::cells_y, ny - at.y0) - 1;
    const bool left_end = at.x0 == 0, right_end = at.x0 + Tile::cells_x >= nx;
    const bool wrap = p.sides[0] == Side::wrap;
    at.lower_end = at.y0 == 0;
    at.upper_end = at.y0 + Tile::cells_y >= ny;
    at.before = s.z0 > 0;
    at.after = s.z1 < nz;
    at.left_closed = left_end && !wrap;
    at.right_closed = right_end && !wrap;
    at.partial = at.last_x + 1 < Tile::cells_x;
    // Boxes start at multiples of 16 bytes, as the copy engine wants.
    at.left_cell = left_end && wrap ? (nx - 1) % Tile::halo_x : Tile::halo_x - 1;
    at.left = left_end && wrap ? nx - 1 - at.left_cell : at.x0 - Tile::halo_x;
    at.right = right_end && wrap ? 0 : at.x0 + Tile::cells_x;
    return true;
  }
  template <typename Tile>
  __device__ bool place(const TileParameters<Tile> &p, int index, Place &at)
  {
    return place(p, blockIdx.x, index, at);
  }

  /// The index-th segment of this block. The blocks of a cluster have rows of the same one.
  template <typename Tile>
  __device__ bool own_place(const TileParameters<Tile> &p, int worker, int index, Place &at)
  {
    if (!place(p, worker, index, at))
      return false;
    if constexpr (Tile::cluster > 1)
    {
      const int ny = p.block.cells[1];
      at.y0 += cluster::rank<Tile::cluster>() * Tile::rows;
      at.last_y = min(Tile::rows, ny - at.y0) - 1;
      at.lower_end = at.y0 == 0;
      at.upper_end = at.y0 + Tile::rows >= ny;
    }
    return true;
  }

  /// The number of this block in the schedule, or of its cluster, by take_worker(): first one thread of a cluster takes it, then, behind
  /// cluster::synchronize(), the other block reads it (take_number(), share_number(); all threads of all blocks call both).
  template <typename Tile, typename Parameters>
  __device__ __forceinline__ void take_number(const Parameters &p, int &number)
  {
    if (threadIdx.x == 0 && cluster::rank<Tile::cluster>() == 0)
    {
      const int workers = gridDim.x / Tile::cluster;
      number = take_worker(p.progress, p.l2_halves, blockIdx.x / Tile::cluster, workers);
      if constexpr (Tile::halves_of_rows)
        number = worker_with_half_of_rows(number, workers, p.tiles_x);
    }
  }
  template <typename Tile>
  __device__ __forceinline__ void share_number(int &number)
  {
    if constexpr (Tile::cluster > 1)
    {
      if (threadIdx.x == 0 && cluster::rank<Tile::cluster>() > 0)
        number = *cluster::there<Tile::cluster>(&number, 0);
      __syncthreads();
    }
  }

  template <typename Tile>
  struct Shared
  {
    using Number = typename Tile::Number;
    using C = typename Tile::C;
    using Barrier = pipeline::Barrier;
    unsigned char *base;

    __device__ Number *own(int slot) const
    {
      return reinterpret_cast<Number *>(base + slot * Tile::slot_bytes);
    }
    __device__ Number *side(int slot, bool right) const
    {
      return reinterpret_cast<Number *>(
          base + slot * Tile::slot_bytes + (right ? Tile::right_at : Tile::left_at));
    }
    /// part 0: b, 1: old
    __device__ Number *input(int slot, int part) const
    {
      return reinterpret_cast<Number *>(
          base + Tile::input_offset + (Tile::inputs * slot + part) * Tile::input_bytes);
    }
    __device__ unsigned char *result(int slot) const
    {
      return base + Tile::result_offset + slot * Tile::input_bytes;
    }
    /// Traces beside the row of a warp, [left, right][k][j][V, D].
    __device__ C *edges(int warp) const
    {
      return reinterpret_cast<C *>(base + Tile::edge_offset) + warp * Tile::edge_numbers;
    }
    /// Where the lanes of a warp keep traces, if the tile wants that.
    __device__ C *parking(int warp) const
    {
      return reinterpret_cast<C *>(base + Tile::park_offset) + warp * Tile::park_numbers;
    }
    __device__ Barrier *barrier(int index) const
    {
      return reinterpret_cast<Barrier *>(base + Tile::barrier_offset) + index;
    }
    /// Results of a warp: [k][i][32 lanes][width] of one mode j.
    __device__ Number *staged(int warp, int slot) const
    {
      return reinterpret_cast<Number *>(
          base + Tile::staged_offset + (Tile::staged * warp + slot) * Tile::staged_bytes);
    }
    // Each slot has a barrier that says full and one that says empty.
    __device__ Barrier *own_full(int slot) const { return barrier(2 * slot); }
    __device__ Barrier *own_empty(int slot) const { return barrier(2 * slot + 1); }
    __device__ Barrier *input_full(int slot) const { return barrier(2 * (Tile::ring + slot)); }
    __device__ Barrier *input_empty(int slot) const { return barrier(2 * (Tile::ring + slot) + 1); }
    static constexpr int results = 2 * (Tile::ring + Tile::input_ring);
    __device__ Barrier *result_full(int slot) const { return barrier(results + 2 * slot); }
    __device__ Barrier *result_empty(int slot) const { return barrier(results + 2 * slot + 1); }
  };

  template <typename Tile>
  __device__ void initialise(const Shared<Tile> &shared)
  {
    for (int slot = 0; slot < Tile::ring; ++slot)
    {
      pipeline::init(shared.own_full(slot), 1);
      pipeline::init(shared.own_empty(slot), pipeline::warp_arrivals * Tile::warps);
    }
    for (int slot = 0; slot < Tile::input_ring; ++slot)
    {
      pipeline::init(shared.input_full(slot), 1);
      pipeline::init(shared.input_empty(slot), pipeline::warp_arrivals * Tile::warps);
    }
    for (int slot = 0; slot < Tile::result_ring; ++slot)
    {
      pipeline::init(shared.result_full(slot), pipeline::warp_arrivals * Tile::warps);
      pipeline::init(shared.result_empty(slot), 1);
    }
    pipeline::fence_init();
  }

  /// Copies the planes of the tile (and those of the layers before and after the segment).
  template <typename Tile>
  __device__ void produce(const ColumnParameters<Tile> &p, const Shared<Tile> &shared)
  {
    pipeline::RingPosition<Tile::ring> at;
    // Two steps per layer: within a whole one L2 loses rows of cells before the block beside wants them.
    InStep step(p.progress, 2 * p.longest);
    Place s;
    for (int index = 0; place(p, index, s); ++index)
      for (int c = s.z0 - s.before; c < s.z1 + s.after; ++c)
      {
        for (int k = 0; k < Tile::n; ++k)
        {
          if (c >= s.z0 && c < s.z1 && (k == 0 || k == Tile::n / 2))
            step.begin_step();
          const int y = s.y0 * Tile::n, plane = c * Tile::n + k;
          pipeline::Barrier *full = shared.own_full(at.slot);
          pipeline::wait(shared.own_empty(at.slot), at.parity ^ 1u);
          pipeline::arrive_expect(full, Tile::own_box + 2 * Tile::side_box);
          pipeline::load_box_kept(shared.own(at.slot), &p.own, full, s.x0, 0, y - Tile::n, plane);
          pipeline::load_box_kept(shared.side(at.slot, false), &p.side, full, s.left, 0, y, plane);
          pipeline::load_box_kept(shared.side(at.slot, true), &p.side, full, s.right, 0, y, plane);
          at.advance();
        }
      }
    step.end();
  }

  /// Copies b and old in the order in which they are added. `Shared`: of this kernel, or of one with the same ring.
  template <auto load_box = &pipeline::load_box, typename Tile, template <typename> typename Shared>
  __device__ void produce_input(const ColumnParameters<Tile> &p, const Shared<Tile> &shared)
  {
    pipeline::RingPosition<Tile::input_ring> at;
    Place s;
    for (int index = 0; place(p, index, s); ++index)
      for (int plane = s.z0 * Tile::n; plane < s.z1 * Tile::n; ++plane)
      {
        const int y = s.y0 * Tile::n;
        pipeline::Barrier *full = shared.input_full(at.slot);
        pipeline::wait(shared.input_empty(at.slot), at.parity ^ 1u);
        pipeline::arrive_expect(full, (p.has_old ? 2 : 1) * Tile::input_box);
        load_box(shared.input(at.slot, 0), &p.b, full, s.x0, 0, y, plane);
        if (p.has_old)
          load_box(shared.input(at.slot, 1), &p.old, full, s.x0, 0, y, plane);
        at.advance();
      }
  }

  /// Copies results to memory, planes of the whole tile.
  template <typename P, typename Tile>
  __device__ void store_results(const P &p, const Shared<Tile> &shared)
  {
    pipeline::RingPosition<Tile::result_ring> at;
    Place s;
    for (int index = 0; place(p, index, s); ++index)
      for (int plane = s.z0 * Tile::n; plane < s.z1 * Tile::n; ++plane)
      {
        pipeline::wait(shared.result_full(at.slot), at.parity);
        pipeline::store_box(&p.result, shared.result(at.slot), s.x0, 0, s.y0 * Tile::n, plane);
        pipeline::wait_stores_read();
        pipeline::arrive(shared.result_empty(at.slot));
        at.advance();
      }
  }
} // namespace column
} // namespace tensormg::laplace
