// Several steps of a stencil in one pass over memory: temporal blocking by streaming with overlapped tiles.
//
// A block owns a tile of columns (2D: of x; 3D: of x and y) with a rim of radius * depth points on every side, and
// marches along the slowest direction. Each iteration reads one row (2D) or plane (3D) of the input and advances all
// steps by one row: step s works on the row that step s - 1 finished in the iteration before, so one barrier per
// iteration is enough. Rows lie in shared memory for the neighbours, twice by parity; the sums of the 2 radius + 1
// rows that a row contributes to stay in registers. In the manner of AN5D (Matsumura et al., CGO 2020) and EBISU
// (Zhang et al., ICS 2023).
#include <stdexcept>
#include <string>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/stencil/fused_tile.h"
#include "kernels/diagnostics/stencil/kinds.h"

namespace tensormg::stencil
{
namespace
{
  /// The tile at compile time.
  template <typename K>
  struct Columns
  {
    static constexpr FusedTile tile = fused_tile(K::dim);
    static constexpr int threads_x = tile.threads_x, threads_y = tile.threads_y;
    static constexpr int threads = tile.threads(), points = tile.points();
    static constexpr int points_x = tile.points_x;
    static constexpr int x = tile.x(), y = tile.y();
    // Neighbours of the outermost columns: what is read there reaches no result.
    static constexpr int row = x + 2 * K::radius;
    static constexpr int size = row * (y + 2 * K::radius_y);
  };

  /// Rows (planes) that are on their way from memory: an even number, since the parity of an iteration is that of its
  /// place in the loop.
  template <typename K>
  constexpr int ahead = K::dim == 2 ? 4 : 2;

  /// Blocks of a multiprocessor that registers are kept free for: barriers of one block are hidden by another.
  template <typename K, int depth>
  constexpr int resident_blocks = K::radius > 1 || K::dim == 3 ? 1
      : depth == 2                                             ? 3
                                                               : 2;

  /// Sizes of the grid: across the march and along it; rows per block.
  struct March
  {
    std::int64_t x, y;
    int s, rows;
  };

  template <typename Number, typename K, int depth>
  struct FusedMarch
  {
    using B = Columns<K>;
    static constexpr int inner_x = B::x - 2 * K::radius * depth; ///< columns that come out right
    static constexpr int inner_y = B::y - 2 * K::radius_y * depth;
    static_assert(inner_x > 0 && inner_y > 0);
    static constexpr int shared_bytes = 2 * depth * B::size * static_cast<int>(sizeof(Number));

    const Weights<Number, K> &weights;
    March n;
    Number *shared;
    std::int64_t x0, y0; ///< of the tile, rim included
    int first_row;       ///< of the input
    int tx, ty;
    Number own[depth]
              [B::points]; ///< the numbers of this thread in the rows that are in shared memory
    Number sums[depth][B::points][K::width];
    std::int64_t first_offset;
    bool inside[B::points];

    __device__ int column_x(int p) const { return tx + p % B::points_x * B::threads_x; }
    __device__ int column_y(int p) const { return ty + p / B::points_x * B::threads_y; }
    /// What does not change along the march: where the thread's columns are, and whether in the grid.
    __device__ void start()
    {
#pragma unroll
      for (int p = 0; p < B::points; ++p)
      {
        const std::int64_t x = x0 + column_x(p), y = y0 + column_y(p);
        inside[p] = x >= 0 && x < n.x && y >= 0 && y < n.y;
      }
      first_offset = (y0 + ty) * n.x + x0 + tx;
    }
    /// In a row (plane).
    __device__ std::int64_t offset(int p) const
    {
      return first_offset + p % B::points_x * B::threads_x + p / B::points_x * B::threads_y * n.x;
    }
    __device__ Number *row_of(int parity, int step) const
    {
      return shared + (parity * depth + step) * B::size + K::radius_y * B::row + K::radius;
    }

    /// Row `row` of the input; in place of rows and columns outside of the grid or behind `end`, some inside. An ordinary
    /// load without condition: others the compiler moves away from where they are asked for, and waits for them to move
    /// what they bring.
    __device__ void read(const Number *from, int row, int end, Number (&values)[B::points]) const
    {
      const int last = (end < n.s ? end : n.s) - 1;
      const Number *const place = from + (row < 0 ? 0 : row < last ? row : last) * (n.x * n.y);
#pragma unroll
      for (int p = 0; p < B::points; ++p)
        values[p] = place[inside[p] ? offset(p) : 0];
    }

    /// Adds what a row of step `step` gives to the rows around it; returns the finished one.
    __device__ Number advance(int step, int p, const Number *rows)
    {
      const Number *const place = rows + column_y(p) * B::row + column_x(p);
      Number(&sum)[K::width] = sums[step][p];
#pragma unroll
      for (int dy = -K::radius_y; dy <= K::radius_y; ++dy)
#pragma unroll
        for (int dx = -K::radius; dx <= K::radius; ++dx)
        {
          if (!K::has_tap(dx, dy, 0) && !K::has_tap(dx, dy, 1))
            continue;
          const Number value = dx == 0 && dy == 0 ? own[step][p] : place[dy * B::row + dx];
#pragma unroll
          for (int ds = -K::radius; ds <= K::radius; ++ds)
            if (K::has_tap(dx, dy, ds))
              sum[K::radius - ds] += weights.at[K::weight_index(dx, dy, ds)] * value;
        }
      const Number finished = sum[0];
#pragma unroll
      for (int k = 0; k + 1 < K::width; ++k)
        sum[k] = sum[k + 1];
      sum[K::width - 1] = 0;
      return finished;
    }

    /// One iteration: `input` is row `row` of the input.
    __device__ void iterate(
        int parity, int row, const Number (&input)[B::points], int begin, int end, Number *to)
    {
      Number *const first = row_of(parity, 0);
      const bool is_input = row >= 0 && row < n.s;
#pragma unroll
      for (int p = 0; p < B::points; ++p)
      {
        own[0][p] = is_input && inside[p] ? input[p] : Number(0);
        first[column_y(p) * B::row + column_x(p)] = own[0][p];
      }
      __syncthreads();
      // From the last step to the first: each needs what the one before left in the last iteration.
#pragma unroll
      for (int step = depth - 1; step >= 0; --step)
      {
        const int finished_row = row - step - (step + 1) * K::radius;
        const bool is_row = finished_row >= 0 && finished_row < n.s;
        const bool is_stored = finished_row >= begin && finished_row < end;
        const Number *const rows = row_of(parity, step);
        Number *const place = to + finished_row * (n.x * n.y);
#pragma unroll
        for (int p = 0; p < B::points; ++p)
        {
          const Number sum = advance(step, p, rows);
          if (step + 1 < depth)
          {
            const Number value = is_row && inside[p] ? sum : Number(0);
            own[step + 1 < depth ? step + 1 : 0][p] = value;
            row_of(parity ^ 1, step + 1)[column_y(p) * B::row + column_x(p)] = value;
          }
          else if (is_stored && inside[p] && is_result(p))
            __stcs(place + offset(p), sum);
        }
      }
    }

    /// Not in the rim.
    __device__ bool is_result(int p) const
    {
      constexpr int rim_x = K::radius * depth, rim_y = K::radius_y * depth;
      return column_x(p) >= rim_x && column_x(p) < rim_x + inner_x && column_y(p) >= rim_y &&
          column_y(p) < rim_y + inner_y;
    }
  };

  template <typename Number, typename K, int depth>
  __global__ void __launch_bounds__(Columns<K>::threads, resident_blocks<K, depth>) fused_kernel(
      const __grid_constant__ Weights<Number, K> weights, March n, const Number *from, Number *to)
  {
    using M = FusedMarch<Number, K, depth>;
    using B = Columns<K>;
    constexpr int rim = K::radius * depth, rim_y = K::radius_y * depth;
    const int thread = static_cast<int>(threadIdx.x);
    const int begin = static_cast<int>(blockIdx.z) * n.rows;
    const int end = begin + n.rows < n.s ? begin + n.rows : n.s;
    M march{weights, n, reinterpret_cast<Number *>(dynamic_shared()),
        static_cast<std::int64_t>(blockIdx.x) * M::inner_x - rim,
        static_cast<std::int64_t>(blockIdx.y) * M::inner_y - rim_y, begin - rim,
        thread % B::threads_x, thread / B::threads_x, {}, {}, {}, {}};

    march.start();
    Number input[ahead<K>][B::points];
#pragma unroll
    for (int a = 0; a < ahead<K>; ++a)
      march.read(from, begin - rim + a, end + rim, input[a]);
    // The last step is depth - 1 iterations and all rims behind the input.
    const int last = end + rim + depth - 1;
    for (int row = begin - rim; row < last; row += ahead<K>)
#pragma unroll
      for (int a = 0; a < ahead<K>; ++a)
      {
        march.iterate(a % 2, row + a, input[a], begin, end, to);
        march.read(from, row + a + ahead<K>, end + rim, input[a]);
      }
  }

  template <typename Number, typename K, int depth>
  void launch_fused(
      const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
  {
    using M = FusedMarch<Number, K, depth>;
    const auto weights = make_weights<Number, K>(stencil);
    const auto [nx, ny, nz] = grid.points;
    const FusedBlocks blocks = fused_blocks(K::dim, K::radius, grid.points, depth);
    const std::int64_t rows = K::dim == 3 ? nz : ny;
    if (rows > 1 << 30)
      throw std::invalid_argument("a march over " + std::to_string(rows) + " rows");
    const March n{nx, K::dim == 3 ? ny : 1, static_cast<int>(rows), static_cast<int>(blocks.rows)};
    allow_shared_bytes(
        reinterpret_cast<const void *>(fused_kernel<Number, K, depth>), M::shared_bytes);
    launch("launching the fused stencil", fused_kernel<Number, K, depth>,
        dim3(static_cast<unsigned>(blocks.x), static_cast<unsigned>(blocks.y),
            static_cast<unsigned>(blocks.s)),
        dim3(Columns<K>::threads), M::shared_bytes, stream, weights, n, from, to);
  }

  template <typename Number, typename K>
  void launch_depth(const Stencil &stencil, const Grid &grid, int depth, const Number *from,
      Number *to, Stream stream)
  {
    if (depth == 2)
      return launch_fused<Number, K, 2>(stencil, grid, from, to, stream);
    if constexpr (largest_fused_depth(K::dim, K::radius) >= 4)
      return launch_fused<Number, K, 4>(stencil, grid, from, to, stream);
  }
} // namespace

template <typename Number>
void cuda_fused(const Stencil &stencil, const Grid &grid, int depth, const Number *from, Number *to,
    Stream stream)
{
  if (depth > largest_fused_depth(stencil.dim, stencil.radius) || (depth != 2 && depth != 4))
    throw std::invalid_argument(
        std::to_string(depth) + " steps in one pass; there are 2 and in 2D with radius 1 also 4");
  if (grid.size() == 0)
    return;
  const auto launch = [&]<typename K>() {
    launch_depth<Number, K>(stencil, grid, depth, from, to, stream);
  };
  if (!for_kind(stencil, launch))
    throw std::invalid_argument("a stencil of radius " + std::to_string(stencil.radius) +
        "; fused steps are there for radius 1, and in 2D for radius 3");
}

template void cuda_fused(const Stencil &, const Grid &, int, const double *, double *, Stream);
template void cuda_fused(const Stencil &, const Grid &, int, const float *, float *, Stream);
} // namespace tensormg::stencil
