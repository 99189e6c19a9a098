// The warps that bring what the device kernel of cellwise.h works on: see cuda_kernel.cuh.
#pragma once

#include "kernels/device/copy_async.cuh"
#include "kernels/laplace/cellwise/lines_y.cuh"
#include "kernels/laplace/cellwise/work.cuh"

namespace tensormg::laplace::cellwise
{
template <typename Tile, Form form>
class Service
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  static constexpr int n = Tile::n, width = Tile::width, dim = Tile::dim;
  static constexpr int threads = Tile::service_threads;
  using V = Pack<C, width>;

  const CellwiseParameters<Tile> &p;
  const Work<Tile> work;
  const int thread;

public:
  __device__ __forceinline__ explicit Service(const CellwiseParameters<Tile> &p_)
    : p(p_)
    , work(p_)
    , thread(int(threadIdx.x) - Tile::unit_threads)
  {}

  // What happens before the first layer; before the faces in y of layer c are there, and after.
  __device__ __forceinline__ void start() const
  {
    copy(work.begin);
    around(work.begin);
    wait_copies<0>();
  }
  __device__ __forceinline__ void bring_layer(int c) const
  {
    copy(c + 1);
    if constexpr (dim == 3)
      LinesY<Tile>(p, work, thread % Tile::lanes)
          .sum(c, Tile::units + thread / Tile::lanes, Tile::all_units);
    wait_copies<0>();
  }
  __device__ __forceinline__ void bring_around(int c) const
  {
    if (c + 1 < work.end)
    {
      around(c + 1);
      announce_inputs(c + 1);
    }
    wait_copies<0>();
  }

private:
  static constexpr int in_copy = 16 / int(sizeof(Number)), copies_of_line = Tile::cells_x / in_copy;
  static constexpr int lines_at_once = threads / copies_of_line;
  __device__ __forceinline__ int units() const { return dim == 3 ? work.rows * n : work.rows; }

  /// f(position in a layer in shared memory, position in a vector) of each 16 bytes of layer c; rows end at the pitch.
  template <typename F>
  __device__ __forceinline__ void for_copies(int c, const F &f) const
  {
    const int cell = thread % copies_of_line * in_copy;
    const std::int64_t to_next = dim == 3 ? p.block.row() : Tile::cells_x;
    const std::int64_t first = c * n * work.plane(p) + work.first_of_unit(p, 0) +
        min(cell, int(p.block.pitch) - work.x0 - in_copy);
#pragma unroll 1
    for (int of_unit = thread / copies_of_line; of_unit < n * n; of_unit += lines_at_once)
    {
      std::int64_t from = first + of_unit / n * work.plane(p) + of_unit % n * p.block.pitch;
      int to = of_unit * Tile::cells_x + cell;
#pragma unroll 4
      for (int unit = 0; unit < units(); ++unit, from += to_next, to += Tile::unit_numbers)
        f(to, dim == 2 ? min(from, last_copy(c, of_unit)) : from);
    }
  }
  /// In 2D the last strip may end behind the pitch: the last 16 bytes of a row.
  __device__ __forceinline__ std::int64_t last_copy(int c, int of_unit) const
  {
    return (c * n + of_unit / n) * work.plane(p) + (of_unit % n + 1) * p.block.pitch - in_copy;
  }

  __device__ __forceinline__ void copy(int c) const
  {
    if (c <= work.last)
    {
      const SharedAddress to = shared_address(work.layer(c));
      for_copies(c, [&](int at, std::int64_t from) {
        copy_async(to + at * int(sizeof(Number)), p.src + from);
      });
    }
    commit_copies();
  }

  /// b and old of layer c on their way to L2.
  __device__ __forceinline__ void announce_inputs(int c) const
  {
    if constexpr (form != Form::apply)
      for_copies(c, [&](int at, std::int64_t from) {
        if (at * int(sizeof(Number)) % 128 != 0)
          return;
        prefetch_to_l2(p.b + from);
        if (form == Form::chebyshev && p.old != nullptr)
          prefetch_to_l2(p.old + from);
      });
  }

  __device__ __forceinline__ void around(int c) const
  {
    if constexpr (dim == 3)
      copy_halo(c);
    sum_edges(c);
  }

  /// The rows below and above the tile, as far as there are such.
  __device__ __forceinline__ void copy_halo(int c) const
  {
    const SharedAddress to = shared_address(work.halo(false));
    const bool lower = work.y0 > 0, upper = work.y0 + work.rows < p.block.cells[1];
    const int cell = thread % copies_of_line * in_copy;
    const std::int64_t first = c * n * work.plane(p) + (work.y0 - 1) * n * p.block.row() + work.x0 +
        min(cell, int(p.block.pitch) - work.x0 - in_copy);
    const std::int64_t to_upper = (work.rows + 1) * n * p.block.row();
#pragma unroll 1
    for (int of_unit = thread / copies_of_line; of_unit < n * n; of_unit += lines_at_once)
    {
      std::int64_t from = first + of_unit / n * work.plane(p) + of_unit % n * p.block.pitch;
      int at = of_unit * Tile::cells_x + cell;
#pragma unroll
      for (int j = 0; j < n; ++j, from += p.block.row(), at += Tile::unit_numbers)
      {
        if (lower)
          copy_async(to + at * int(sizeof(Number)), p.src + from);
        if (upper)
          copy_async(
              to + (at + n * Tile::unit_numbers) * int(sizeof(Number)), p.src + from + to_upper);
      }
    }
    commit_copies();
  }

  /// Traces of what lies on the left and on the right of the rows.
  __device__ __forceinline__ void sum_edges(int c) const
  {
    const int cells_x = int(p.block.cells[0]);
    for (int at = thread; at < units() * 2 * n; at += threads)
    {
      const int unit = at / (2 * n), k = at % n, side = at / n % 2;
      const int first = work.x_of_unit(unit), next = min(first + Tile::cells_x, cells_x);
      int cell = side == 1 ? next : first - 1;
      const bool closed = is_closed(p.sides[side]) && (side == 1 ? cell == cells_x : cell < 0);
      const int outside = cell;
      if (closed)
        cell += side == 1 ? -1 : 1;
      else
        cell = cell < 0 ? cells_x - 1 : cell == cells_x ? 0 : cell;
      const Number *from =
          p.src + (c * n + k) * work.plane(p) + work.first_of_unit(p, unit) - first + cell;
      LineSums<C, 1> of;
#pragma unroll
      for (int i = 0; i < n; ++i, from += p.block.pitch)
        of.add(i % 2, p.v[i], p.h[i], load_pack<1>(from));
      Trace<Pack<C, 1>> trace = side == (closed ? 1 : 0) ? of.upper() : of.lower();
      if (closed)
        trace =
            cellwise::behind<1>(p, side, work.number_of_unit(p, unit, c) - first + outside, trace);
      C *const to = work.edges(c, unit) + 2 * (side * n + k);
      to[0] = trace.v.at[0];
      to[1] = trace.d.at[0];
    }
  }
};
} // namespace tensormg::laplace::cellwise
