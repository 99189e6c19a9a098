// Where a block of a marching kernel is at work.
#pragma once

#include "kernels/device/cluster.cuh"
#include "kernels/laplace/march/parameters.cuh"
#include "kernels/laplace/march/step.cuh"

namespace tensormg::laplace::march
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

/// The layers of all segments of this block in the order of copies: those of the segment, one before and one after
/// it where there are such.
template <typename Tile>
class Layers
{
  const TileParameters<Tile> &p_;
  const int worker_;
  int index_ = 0;

public:
  Place s;
  int c;
  bool more;

  __device__ explicit Layers(const TileParameters<Tile> &p, int worker)
    : p_(p)
    , worker_(worker)
  {
    more = own_place(p_, worker_, 0, s);
    c = s.z0 - s.before;
  }
  __device__ bool is_own() const { return c >= s.z0 && c < s.z1; }
  __device__ void advance()
  {
    if (++c < s.z1 + s.after)
      return;
    more = own_place(p_, worker_, ++index_, s);
    c = s.z0 - s.before;
  }
};

/// What a block keeps in shared memory, whatever its kernel.
template <typename Tile>
struct BlockMemory
{
  using Barrier = pipeline::Barrier;
  unsigned char *base;

  __device__ Barrier *barrier(int index) const
  {
    return reinterpret_cast<Barrier *>(base + Tile::barrier_offset) + index;
  }
  /// Where a warp keeps its segment, so that it takes no registers.
  __device__ Place &place(int warp) const
  {
    static_assert(sizeof(Place) <= Tile::place_bytes);
    return *reinterpret_cast<Place *>(base + Tile::place_offset + warp * Tile::place_bytes);
  }
  /// The number of this block in the schedule, or of its cluster: take_number().
  __device__ int &worker() const { return *reinterpret_cast<int *>(base + Tile::worker_offset); }
};
} // namespace tensormg::laplace::march
