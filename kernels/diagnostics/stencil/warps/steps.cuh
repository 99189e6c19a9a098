// Several steps of a stencil of radius 1 in one pass over memory, by independent warps: no shared memory, no barriers.
//
// A warp owns a strip of 32 lanes times `width` neighbouring columns (3D: on a few lines of y) and marches along the
// slowest direction, as in warps.cuh. The row (plane) that a step has finished goes into the sums of the next step at
// once, one row behind. What a step needs beside the strip the warp computes itself: strips overlap by `depth` columns
// (lines) on either side, which come from the caches, and the lanes there compute what is not written.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/device/copy_async.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/pack.cuh"
#include "kernels/diagnostics/stencil/kinds.h"
#include "kernels/diagnostics/stencil/warps/march.h"
#include "kernels/diagnostics/stencil/warps/steps_tile.h"

namespace tensormg::stencil
{
namespace steps
{
  using March = WarpsMarch;

  template <typename K, int depth, int width>
  inline constexpr StepsTile tile_of = steps_tile(K::dim, K::box, depth, width);

  template <typename Number, typename K, int depth, int width>
  class StepsMarch
  {
    static constexpr StepsTile tile = tile_of<K, depth, width>;
    static_assert(K::radius == 1);
    static constexpr int lanes = StepsTile::lanes, ahead = tile.ahead;
    static constexpr int rim_y = K::radius_y * depth;
    static constexpr int lines = tile.lines_after(0);
    template <int count>
    using Lines = Number[count][width];

    const Weights<Number, K> &weights;
    const March &n;
    const Number
        *from; ///< the first own line in the row (plane) read last, the columns of this lane
    const Number *prefetched; ///< what this lane prefetches next
    Number *to;               ///< as `from`, in the row (plane) that is finished next
    const int lane;
    bool inside, is_result, is_prefetching;
    int lines_before,
        lines_left;  ///< in the grid, of those of this warp: before and from the first own one on
    int first, last; ///< of the rows (planes) read, those in the grid
    Pack<Number, width> input[ahead][lines];
    Number sums[tile.lines_before(depth + 1)][width][K::width]; ///< first those finished next

  public:
    __device__ StepsMarch(const Weights<Number, K> &weights_, const March &n_, std::int64_t x0,
        std::int64_t y0, const Number *from_, Number *to_)
      : weights(weights_)
      , n(n_)
      , lane(static_cast<int>(threadIdx.x) % lanes)
      , sums{}
    {
      const std::int64_t x = x0 - tile.rim_x() + lane * width;
      inside = x >= 0 && x < n.x;
      is_result = inside && lane >= tile.rim_lanes() && lane < lanes - tile.rim_lanes();
      lines_before = static_cast<int>(min(y0, static_cast<std::int64_t>(rim_y)));
      lines_left = static_cast<int>(min(n.y - y0, static_cast<std::int64_t>(tile.lines + rim_y)));
      // Columns outside of the grid are read from inside, and made zero when they are used.
      from = from_ + y0 * n.x + (inside ? x : 0);
      to = to_ + y0 * n.x + x;
      // A lane has a cache line of an own line. The strip does not begin with one.
      constexpr int numbers = 128 / sizeof(Number), pieces = lanes * width / numbers + 1;
      const std::int64_t piece_x = x0 - tile.rim_x() + lane % pieces * numbers;
      is_prefetching = lane / pieces < min(tile.lines, lines_left) && piece_x >= 0 && piece_x < n.x;
      prefetched = from_ + (y0 + lane / pieces) * n.x + piece_x;
    }

    /// Rows (planes) [begin, end) of the result.
    __device__ void run(int begin, int end)
    {
      const int start = begin - depth, reads = end - begin + 2 * depth;
      first = max(0, -start);
      last = min(reads, n.s - start);
      to += begin * n.step;
      prefetched += (start + ahead + tile.prefetched) * n.step;
      // Instead of rows before the first and behind the last, these are read once more.
      const Number *const start_from = from + start * n.step;
#pragma unroll
      for (int a = 0; a < ahead; ++a)
      {
        from = start_from + min(max(a, first), last - 1) * n.step;
        read(input[a]);
      }
      for (int row = 0;; row += ahead)
#pragma unroll
        for (int a = 0; a < ahead; ++a)
        {
          const int current = row + a, next = current + ahead;
          if constexpr (tile.prefetched > 0)
          {
            if (is_prefetching && next + tile.prefetched >= first && next + tile.prefetched < last)
              prefetch_to_l2(prefetched);
            prefetched += n.step;
          }
          add(input[a], current);
          from += next > first && next < last ? n.step : 0;
          read(input[a]);
          // No lane has to wait, but the compiler would mix the rows, as in warps.cuh.
          __syncwarp();
          if (current + 1 == reads)
            return;
        }
    }

  private:
    /// A line, counted from the first own one.
    __device__ bool is_inside(int line) const
    {
      return K::dim == 2 || (line >= -lines_before && line < lines_left);
    }

    /// Ordinary loads without condition, for the reasons told in warps.cuh.
    __device__ void read(Pack<Number, width> (&row)[lines]) const
    {
#pragma unroll
      for (int l = 0; l < lines; ++l)
      {
        const int line = l - rim_y;
        row[l] = load_pack<width>(from + (is_inside(line) ? line * static_cast<int>(n.x) : 0));
      }
    }

    __device__ void add(const Pack<Number, width> (&row)[lines], int current)
    {
      Lines<lines> values;
      const bool is_row = current >= first && current < last;
#pragma unroll
      for (int l = 0; l < lines; ++l)
      {
        const bool is_point = is_row && inside && is_inside(l - rim_y);
#pragma unroll
        for (int c = 0; c < width; ++c)
          values[l][c] = is_point ? row[l].at[c] : Number(0);
      }
      advance<1>(values, current - 1);
    }

    /// Step `step` takes a row (plane) and finishes `row`, the one before.
    template <int step>
    __device__ void advance(const Lines<tile.lines_after(step - 1)> &before, int row)
    {
      constexpr int count = tile.lines_after(step), first_sum = tile.lines_before(step);
#pragma unroll
      for (int l = 0; l < tile.lines_after(step - 1); ++l)
        add_line<step>(before[l], l - K::radius_y);
      constexpr bool is_last = step == depth;
      const bool is_row = is_last ? row >= depth : row >= first && row < last;
      Lines<count> finished;
#pragma unroll
      for (int l = 0; l < count; ++l)
      {
        const int line = l - K::radius_y * (depth - step);
        const bool is_point = is_row && is_inside(line) && (is_last ? is_result : inside);
        Pack<Number, width> result;
#pragma unroll
        for (int c = 0; c < width; ++c)
        {
          Number(&sum)[K::width] = sums[first_sum + l][c];
          result.at[c] = sum[0];
          sum[0] = sum[1];
          sum[1] = sum[2];
          sum[2] = 0;
          finished[l][c] = is_point ? result.at[c] : Number(0);
        }
        if (is_last && is_point)
          store_pack<Number>(to + line * n.x, result);
      }
      if constexpr (!is_last)
        advance<step + 1>(finished, row - 1);
      else if (is_row)
        to += n.step;
    }

    /// A line goes into the sums of itself, number `own` of the step, and its neighbours.
    template <int step>
    __device__ void add_line(const Number (&line)[width], int own)
    {
      constexpr int count = tile.lines_after(step), first_sum = tile.lines_before(step);
      Number values[width + 2];
#pragma unroll
      for (int c = 0; c < width; ++c)
        values[1 + c] = line[c];
      const bool has_neighbours = K::box || (own >= 0 && own < count);
      if (has_neighbours)
      {
        values[0] = __shfl_sync(~0u, line[width - 1], (lane + lanes - 1) & (lanes - 1));
        values[width + 1] = __shfl_sync(~0u, line[0], (lane + 1) & (lanes - 1));
      }
#pragma unroll
      for (int l = 0; l < count; ++l)
        if (own - l >= -K::radius_y && own - l <= K::radius_y)
#pragma unroll
          for (int ds = -1; ds <= 1; ++ds)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx)
              if (K::has_tap(dx, own - l, ds))
#pragma unroll
                for (int c = 0; c < width; ++c)
                  sums[first_sum + l][c][1 - ds] +=
                      weights.at[K::weight_index(dx, own - l, ds)] * values[1 + c + dx];
    }
  };

  template <typename Number, typename K, int depth, int width>
  __global__ void __launch_bounds__(
      (tile_of<K, depth, width>.threads()), (tile_of<K, depth, width>.blocks))
      steps_kernel(const __grid_constant__ Weights<Number, K> weights,
          const __grid_constant__ March n, const Number *from, Number *to)
  {
    constexpr StepsTile tile = tile_of<K, depth, width>;
    const int warp = static_cast<int>(threadIdx.x) / StepsTile::lanes;
    const int part = static_cast<int>(blockIdx.z);
    const std::int64_t x0 = static_cast<std::int64_t>(blockIdx.x) * tile.block_columns() +
        (K::dim == 3 ? 0 : warp * tile.columns());
    const std::int64_t y0 = K::dim == 3
        ? static_cast<std::int64_t>(blockIdx.y) * tile.block_lines() + warp * tile.lines
        : 0;
    if (x0 >= n.x || y0 >= n.y)
      return; // the whole warp
    StepsMarch<Number, K, depth, width>(weights, n, x0, y0, from, to)
        .run(n.begin(part), n.begin(part + 1));
  }

  template <typename Number, typename K, int depth, int width>
  WarpsCut cut_of(const Grid &grid)
  {
    constexpr StepsTile tile = tile_of<K, depth, width>;
    const int resident = resident_blocks(
        reinterpret_cast<const void *>(&steps_kernel<Number, K, depth, width>), tile.threads(), 0);
    return cut_grid(K::dim, grid.points, tile.block_columns(), tile.block_lines(), 1 << 28,
        [&](std::int64_t rows, std::int64_t tiles_x, std::int64_t tiles_y) {
          return steps_parts(K::dim, depth, rows, tiles_x * tiles_y, resident);
        });
  }

  /// f.template operator()<K, depth, width>() for the kind of the stencil, the steps and what the rows allow.
  template <typename Number, typename Function>
  void for_instance(
      const Stencil &stencil, const Grid &grid, int depth, bool is_aligned, Function f)
  {
    constexpr int wide = 16 / sizeof(Number);
    bool is_known = false;
    const auto choose = [&]<typename K, int steps>() {
      is_known = true;
      if (is_aligned && grid.points[0] % wide == 0)
        f.template operator()<K, steps, wide>();
      else
        f.template operator()<K, steps, 1>();
    };
    const auto choose_depth = [&]<typename K>() {
      if constexpr (K::radius == 1)
      {
        const auto choose_one_of = [&]<int... offsets>(std::integer_sequence<int, offsets...>)
        {
          ((depth == 2 + offsets ? choose.template operator()<K, 2 + offsets>() : void()), ...);
        };
        choose_one_of(std::make_integer_sequence<int, largest_steps_depth(K::dim, 1) - 1>());
      }
    };
    if (!for_kind(stencil, choose_depth) || !is_known)
      throw std::invalid_argument(std::to_string(depth) + " steps of a stencil in " +
          std::to_string(stencil.dim) + "D of radius " + std::to_string(stencil.radius) +
          "; independent warps do 2 steps of radius 1, and in 2D up to " +
          std::to_string(largest_steps_depth(2, 1)));
  }

  template <typename Number, typename K, int depth, int width>
  void launch_steps(
      const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
  {
    const WarpsCut cut = cut_of<Number, K, depth, width>(grid);
    launch("launching steps of the stencil by independent warps",
        steps_kernel<Number, K, depth, width>,
        dim3(static_cast<unsigned>(cut.tiles_x), static_cast<unsigned>(cut.tiles_y),
            static_cast<unsigned>(cut.march.parts)),
        dim3((tile_of<K, depth, width>.threads())), 0, stream, make_weights<Number, K>(stencil),
        cut.march, from, to);
  }

  template <typename Number, typename K, int depth, int width>
  double updates(const Grid &grid)
  {
    constexpr StepsTile tile = tile_of<K, depth, width>;
    const auto strips = [](std::int64_t n, int unit) {
      return static_cast<double>((n + unit - 1) / unit);
    };
    const March n = cut_of<Number, K, depth, width>(grid).march;
    return strips(n.x, tile.columns()) * StepsTile::lanes * width * strips(n.y, tile.lines) *
        tile.lines_before(depth + 1) * (n.s + 2. * depth * n.parts);
  }
} // namespace steps

template <typename Number>
double warps_steps_updates(const Stencil &stencil, const Grid &grid, int depth)
{
  double updates = 0.;
  if (grid.size() > 0)
    steps::for_instance<Number>(
        stencil, grid, depth, true, [&]<typename K, int steps, int width>() {
          updates = steps::updates<Number, K, steps, width>(grid);
        });
  return updates;
}

template <typename Number>
void cuda_warps_steps(const Stencil &stencil, const Grid &grid, int depth, const Number *from,
    Number *to, Stream stream)
{
  const bool is_aligned =
      (reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % 16 == 0;
  steps::for_instance<Number>(
      stencil, grid, depth, is_aligned, [&]<typename K, int steps, int width>() {
        if (grid.size() > 0)
          steps::launch_steps<Number, K, steps, width>(stencil, grid, from, to, stream);
      });
}
} // namespace tensormg::stencil
