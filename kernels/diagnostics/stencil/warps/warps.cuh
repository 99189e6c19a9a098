// One step of a stencil by independent warps: no shared memory, no barriers.
//
// A warp owns a strip of 32 lanes times `width` neighbouring columns (3D: on a few lines of y) and marches along the
// slowest direction. The next rows (planes) are on their way into registers; neighbours in x come by shuffles, those
// beside the strip are held by the outermost lanes. In 3D the lines of the neighbouring warps are read once more: these
// are warps of the same block, so they come from L1. The sums of the 2 radius + 1 rows that a row contributes to stay
// in registers.
//
// The march is cut into slabs, these into parts. Slabs that touch go in opposite directions: where two of them begin they
// read the same rows at the same time, and so do two others where they end. Parts of a slab follow each other: one begins
// with the rows that another has just read. So what is read twice comes from the L2 cache.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/pack.cuh"
#include "kernels/diagnostics/stencil/kinds.h"
#include "kernels/diagnostics/stencil/warps/march.h"
#include "kernels/diagnostics/stencil/warps/tile.h"

namespace tensormg::stencil
{
namespace warps
{
  using March = WarpsMarch;

  template <typename K, int width>
  inline constexpr WarpsTile tile_of = warps_tile(K::dim, K::radius, K::box, width);

  /// A warp on its way, towards larger (sign = 1) or smaller s (-1).
  template <typename Number, typename K, int width, int sign>
  class WarpMarch
  {
    static constexpr WarpsTile tile = tile_of<K, width>;
    static constexpr int own = tile.lines, lines = own + 2 * K::radius_y;
    static constexpr int ahead = tile.ahead;
    static constexpr int halo = halo_width(K::radius, width);

    /// What a lane has of one row (plane).
    struct Slice
    {
      Pack<Number, width> at[lines];
      Pack<Number, halo> beside[lines];
    };

    const Weights<Number, K> &weights;
    const March &n;
    const Number *from; ///< the first own line in the slice read last, the columns of this lane
    Number *to;         ///< the same in the slice that is finished next
    const int lane;
    int halo_offset; ///< from there to the first column that this lane holds beside the strip
    bool inside, halo_inside; ///< whether these columns are in the grid
    bool line_before;         ///< whether there is a line before those of this warp
    int lines_left;           ///< from the first own one on
    Slice slices[ahead];
    Number sums[own][width][K::width]; ///< first those that are finished next

  public:
    __device__ WarpMarch(const Weights<Number, K> &weights_, const March &n_, std::int64_t x0,
        std::int64_t y0, const Number *from_, Number *to_)
      : weights(weights_)
      , n(n_)
      , lane(static_cast<int>(threadIdx.x) % WarpsTile::lanes)
      , sums{}
    {
      const std::int64_t x = x0 + lane * width;
      const std::int64_t halo_x = x0 + halo_column(lane, K::radius, width);
      inside = x < n.x;
      halo_inside = halo_x >= 0 && halo_x < n.x;
      // What lies outside of the grid is read from inside, and is made zero when it is used: a load under a condition
      // would be followed by moves under that condition, which wait for it.
      const std::int64_t safe_x = inside ? x : n.x - width;
      halo_offset = static_cast<int>((halo_x < 0 ? 0 : halo_inside ? halo_x : n.x - halo) - safe_x);
      line_before = y0 > 0;
      lines_left = static_cast<int>(n.y - y0);
      from = from_ + y0 * n.x + safe_x;
      to = to_ + y0 * n.x + x;
    }

    /// Rows (planes) [begin, end) of the result.
    __device__ void run(int begin, int end)
    {
      const int start = sign > 0 ? begin - K::radius : end - 1 + K::radius;
      const int reads = end - begin + 2 * K::radius;
      // Of these, the ones in the grid.
      const int before = sign > 0 ? -start : start - (n.s - 1);
      const int after = sign > 0 ? start + reads - n.s : reads - 1 - start;
      const int first = before > 0 ? before : 0, last = reads - (after > 0 ? after : 0);
      to += (start + sign * K::radius) * n.step;
      // Instead of rows before the first and behind the last, these are read once more.
      const Number *const start_from = from + start * n.step;
#pragma unroll
      for (int a = 0; a < ahead; ++a)
      {
        from = start_from + sign * min(max(a, first), last - 1) * n.step;
        read(slices[a]);
      }
      for (int row = 0;; row += ahead)
#pragma unroll
        for (int a = 0; a < ahead; ++a)
        {
          const int current = row + a, next = current + ahead;
          add(slices[a], current >= first && current < last);
          finish(current >= 2 * K::radius);
          from += next > first && next < last ? sign * n.step : 0;
          read(slices[a]);
          // No lane has to wait, but the compiler would mix the rows: loads stay before this, and the next sums behind
          // the way out. Otherwise the loads of several rows come together, and late.
          __syncwarp();
          if (current + 1 == reads)
            return;
        }
    }

  private:
    static constexpr bool is_own(int line)
    {
      return line >= K::radius_y && line < own + K::radius_y;
    }

    __device__ bool is_inside(int line) const
    {
      return line < K::radius_y ? line_before : line - K::radius_y < lines_left;
    }

    /// Ordinary loads: as far as the compiler knows, they must stay behind the store before. Read-only ones it moves to
    /// before the last use of the numbers that they replace, and then it waits for them to copy them.
    __device__ void read(Slice &slice) const
    {
#pragma unroll
      for (int line = 0; line < lines; ++line)
      {
        const int offset = is_inside(line) ? (line - K::radius_y) * static_cast<int>(n.x) : 0;
        slice.at[line] = load_pack<width>(from + offset);
        if (K::box || is_own(line))
          slice.beside[line] = load_pack<halo>(from + offset + halo_offset);
      }
    }

    /// Adds what a slice gives to those around it. Without branches: loads and stores would move behind them.
    __device__ void add(const Slice &slice, bool is_row)
    {
#pragma unroll
      for (int line = 0; line < lines; ++line)
      {
        const bool is_line = is_row && (K::dim == 2 || is_inside(line));
        const bool is_own_inside = is_line && inside, is_halo_inside = is_line && halo_inside;
        Number values[width + 2 * K::radius];
#pragma unroll
        for (int c = 0; c < width; ++c)
          values[c + K::radius] = is_own_inside ? slice.at[line].at[c] : Number(0);
        if (K::box || is_own(line))
        {
          Pack<Number, halo> beside;
#pragma unroll
          for (int c = 0; c < halo; ++c)
            beside.at[c] = is_halo_inside ? slice.beside[line].at[c] : Number(0);
          fetch(values, beside);
        }
#pragma unroll
        for (int target = 0; target < own; ++target)
          add_line(values, line - K::radius_y - target, sums[target]);
      }
    }

    /// The neighbours in x of a lane's columns.
    __device__ void fetch(
        Number (&values)[width + 2 * K::radius], const Pack<Number, halo> &beside) const
    {
#pragma unroll
      for (int at = -K::radius; at < width + K::radius; ++at)
      {
        if (at >= 0 && at < width)
          continue;
        const Neighbour from_lane = neighbour(at, K::radius, width);
        const Number value = from_lane.is_from_halo(lane) ? beside.at[from_lane.halo_component]
                                                          : values[K::radius + from_lane.component];
        values[K::radius + at] =
            __shfl_sync(~0u, value, (lane + from_lane.lanes) & (WarpsTile::lanes - 1));
      }
    }

    /// A line goes into the sums of one that is `dy` before it.
    __device__ void add_line(
        const Number (&values)[width + 2 * K::radius], int dy, Number (&line_sums)[width][K::width])
    {
      if (dy < -K::radius_y || dy > K::radius_y)
        return;
#pragma unroll
      for (int ds = -K::radius; ds <= K::radius; ++ds)
#pragma unroll
        for (int dx = -K::radius; dx <= K::radius; ++dx)
          if (K::has_tap(dx, dy, ds))
#pragma unroll
            for (int c = 0; c < width; ++c)
              line_sums[c][K::radius - sign * ds] +=
                  weights.at[K::weight_index(dx, dy, ds)] * values[K::radius + c + dx];
    }

    /// Writes the slice that is complete now, unless it belongs to the part before.
    __device__ void finish(bool is_stored)
    {
#pragma unroll
      for (int line = 0; line < own; ++line)
      {
        Pack<Number, width> result;
#pragma unroll
        for (int c = 0; c < width; ++c)
        {
          Number(&sum)[K::width] = sums[line][c];
          result.at[c] = sum[0];
#pragma unroll
          for (int k = 0; k + 1 < K::width; ++k)
            sum[k] = sum[k + 1];
          sum[K::width - 1] = 0;
        }
        if (is_stored && inside && is_inside(line + K::radius_y))
          store_pack<Number>(to + line * n.x, result);
      }
      if (is_stored)
        to += sign * n.step;
    }
  };

  template <typename Number, typename K, int width>
  __global__ void __launch_bounds__((tile_of<K, width>.threads()), (tile_of<K, width>.blocks))
      warps_kernel(const __grid_constant__ Weights<Number, K> weights,
          const __grid_constant__ March n, const __grid_constant__ WarpsOrder order,
          const Number *from, Number *to)
  {
    constexpr WarpsTile tile = tile_of<K, width>;
    const int warp = static_cast<int>(threadIdx.x) / WarpsTile::lanes;
    const WarpsOrder::Place at = order.place(blockIdx.x, blockIdx.y, blockIdx.z);
    const std::int64_t tile_x = at.tile_x, tile_y = at.tile_y;
    const std::int64_t x0 = (K::dim == 3 ? tile_x : tile_x * tile.warps + warp) * tile.columns();
    const std::int64_t y0 = K::dim == 3 ? (tile_y * tile.warps + warp) * tile.lines : 0;
    if (x0 >= n.x || y0 >= n.y)
      return; // the whole warp
    const int begin = n.begin(at.part), end = n.begin(at.part + 1);
    if (at.is_forward)
      WarpMarch<Number, K, width, 1>(weights, n, x0, y0, from, to).run(begin, end);
    else
      WarpMarch<Number, K, width, -1>(weights, n, x0, y0, from, to).run(begin, end);
  }

  struct Plan
  {
    WarpsCut cut;
    WarpsOrder order;
  };

  template <typename Number, typename K, int width>
  Plan plan_of(const Grid &grid)
  {
    constexpr WarpsTile tile = tile_of<K, width>;
    const int resident = resident_blocks(
        reinterpret_cast<const void *>(&warps_kernel<Number, K, width>), tile.threads(), 0);
    Plan plan;
    plan.cut = cut_grid(K::dim, grid.points, tile.columns() * (K::dim == 3 ? 1 : tile.warps),
        tile.lines * tile.warps, 1 << 29,
        [&](std::int64_t rows, std::int64_t tiles_x, std::int64_t tiles_y) {
          plan.order = warps_order(K::dim, K::radius, rows, tiles_x, tiles_y, resident);
          return plan.order.slabs * plan.order.steps;
        });
    return plan;
  }

  /// Columns of a lane where accesses of 16 bytes are possible.
  template <typename Number>
  inline constexpr int wide = 16 / sizeof(Number);

  /// f.template operator()<K, width>() for the kind of the stencil and what the rows allow.
  template <typename Number, typename Function>
  void for_instance(const Stencil &stencil, const Grid &grid, bool is_aligned, Function f)
  {
    const auto choose_width = [&]<typename K>() {
      if (is_aligned && grid.points[0] % wide<Number> == 0)
        f.template operator()<K, wide<Number>>();
      else
        f.template operator()<K, 1>();
    };
    if (!for_kind(stencil, choose_width))
      throw std::invalid_argument("a stencil of radius " + std::to_string(stencil.radius) +
          "; independent warps are there for radius 1, and in 2D for radius 3");
  }

  template <typename Number, typename K, int width>
  void launch_warps(
      const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
  {
    const auto [cut, order] = plan_of<Number, K, width>(grid);
    launch("launching the stencil by independent warps", warps_kernel<Number, K, width>,
        dim3(static_cast<unsigned>(order.tiles_x * order.group * order.slabs),
            static_cast<unsigned>(order.steps),
            static_cast<unsigned>((cut.tiles_y + order.group - 1) / order.group)),
        dim3((tile_of<K, width>.threads())), 0, stream, make_weights<Number, K>(stencil), cut.march,
        order, from, to);
  }

  template <typename Number, typename K, int width>
  double updates(const Grid &grid)
  {
    constexpr WarpsTile tile = tile_of<K, width>;
    const auto padded = [](std::int64_t n, int unit) { return (n + unit - 1) / unit * unit; };
    const March n = plan_of<Number, K, width>(grid).cut.march;
    return static_cast<double>(padded(n.x, tile.columns())) *
        static_cast<double>(padded(n.y, tile.lines)) * (n.s + 2. * K::radius * n.parts);
  }
} // namespace warps

template <typename Number>
double warps_updates(const Stencil &stencil, const Grid &grid)
{
  double updates = 0.;
  if (grid.size() > 0)
    warps::for_instance<Number>(stencil, grid, true,
        [&]<typename K, int width>() { updates = warps::updates<Number, K, width>(grid); });
  return updates;
}

template <typename Number>
void cuda_warps(
    const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
{
  if (grid.size() == 0)
    return;
  const bool is_aligned =
      (reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % 16 == 0;
  warps::for_instance<Number>(stencil, grid, is_aligned, [&]<typename K, int width>() {
    warps::launch_warps<Number, K, width>(stencil, grid, from, to, stream);
  });
}
} // namespace tensormg::stencil
