// The Laplace operator on tensor cores for every degree and number type, in 2D and 3D: products along lines.
//
// Cells are the rows of the matrices, modes of a line their columns. A line of n modes takes from its two
// neighbours
//   sum_m L(i, m) u_m,  m = 0..2n-1:  modes of the lower, then of the upper neighbour,
// L of rank 2 per side (CellBasis) but multiplied out: traces are not rounded on the way, only L is, and no
// sums go through shared memory. The diagonal is exact. A block has a tile of cells of one layer:
//
//   cp.async   the tile and the rows of cells below and above -> shared memory      closed sides: reflections there
//   z, y, x    16 cells of a line and its neighbours -> product -> sums in shared memory -> with D u, b, old: dst
//
// The layers below and above come from global memory, i.e. from the L2 cache: blocks whose numbers are close
// have neighbouring tiles (lines_launch.cuh). `Product` is mma.sync or WMMA.
#pragma once

#include "kernels/core/copy_async.cuh"
#include "kernels/core/pack.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/laplace/lines_parameters.cuh"
#include "kernels/laplace/lines_tile.h"

namespace tensormg::laplace::lines
{
__device__ __forceinline__ double negative(double x) { return -x; }
__device__ __forceinline__ float negative(float x) { return -x; }
__device__ __forceinline__ Half negative(Half x)
{
  x.bits ^= 0x8000u;
  return x;
}

/// Eight cells and one line of each.
struct Strip
{
  int row;            ///< of cells, in the tile
  int cell;           ///< the first one
  int faster, slower; ///< the line: modes in the other directions
  bool exists;
};

template <typename Tile>
class Lines
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  using Product = typename Tile::Product;
  using Parameters = LinesParameters<Number, Tile::n>;
  static constexpr int n = Tile::n, dim = Tile::dim;
  static constexpr LinesLayout layout = Tile::layout;
  static constexpr LinesLayout::Strides of_u = layout.u(), of_sums = layout.sums();
  static constexpr int halves = Product::halves; ///< strips of a product

  const Parameters &p;
  Number *const u; ///< the row of cells below the tile
  C *const sums;
  C *const diagonal; ///< [k][j][i]: D; chebyshev: alpha / D
  Product product;
  int x0, y0, cz;
  int rows; ///< of cells of the tile that exist
  int end;  ///< cells of a row that exist

public:
  __device__ __forceinline__ Lines(const Parameters &p_, unsigned char *shared)
    : p(p_)
    , u(reinterpret_cast<Number *>(shared))
    , sums(reinterpret_cast<C *>(shared + layout.sums_at()))
    , diagonal(reinterpret_cast<C *>(shared + layout.diagonal_at()))
    , product(shared + layout.scratch_at())
  {
    // Along z first, in chunks of layers.
    const int of_chunk = p.chunk * p.tiles_x * p.tiles_y, block = int(blockIdx.x);
    const int chunk = block / of_chunk, rest = block % of_chunk;
    const int layers = min(p.chunk, p.nz - chunk * p.chunk), tile = rest / layers;
    cz = chunk * p.chunk + rest % layers;
    x0 = tile % p.tiles_x * layout.cells();
    y0 = tile / p.tiles_x * layout.rows;
    rows = min(layout.rows, p.ny - y0);
    end = min(layout.cells(), p.nx - x0);
  }

  __device__ __forceinline__ void run()
  {
    copy_tile();
    commit_copies();
    fill_diagonal();
    if constexpr (dim == 3 && !layout.in_place())
      layers_beside<true>();
    wait_copies<0>();
    __syncthreads();
    fill_rows_beside();
    fill_cells_beside();
    __syncthreads();
    along_y<dim == 2 || layout.in_place()>();
    __syncthreads();
    if constexpr (dim == 3 && layout.in_place())
    {
      layers_beside<false>();
      __syncthreads();
    }
    along_x();
  }

private:
  /// In front of mode (i, j, k) of a row of cells of u; row 0 lies below the tile.
  __device__ __forceinline__ static int at_u(int row, int k, int j, int i)
  {
    return row * of_u.row + k * of_u.z + j * of_u.y + i * of_u.x;
  }
  /// The same cell 0 of the block in global memory.
  __device__ __forceinline__ std::int64_t in_block(int row, int k, int j, int i) const
  {
    return (std::int64_t(cz) * layout.nz() + k) * p.plane +
        (std::int64_t(y0 + row) * n + j) * p.row + i * p.pitch;
  }
  __device__ __forceinline__ bool closed(int side) const
  {
    return p.sides[side] == Side::dirichlet || p.sides[side] == Side::neumann;
  }
  /// Mode m of what lies behind a closed side, from that of the cell before it: its reflection.
  __device__ __forceinline__ Number reflected(int side, int m, Number value) const
  {
    return (m % 2 == 1) != (p.sides[side] == Side::dirichlet) ? negative(value) : value;
  }
  /// What the ghost at a side in y (direction 1) or z adds to mode m of a line, from the traces at `at`.
  template <int direction>
  __device__ __forceinline__ C of_ghost(bool upper, int m, std::int64_t at) const
  {
    const C *const trace = p.ghost[2 * direction + upper] + at;
    const C v = p.ghost_g[direction - 1][m] * trace[0];
    const C d =
        p.ghost_v[direction - 1][m] * trace[(direction == 1 ? p.planes : p.rows_per_plane) * p.row];
    return upper ? v - d : m % 2 == 0 ? v + d : -(v + d);
  }
  /// Of all ghosts, to a mode i of a line in x.
  __device__ __forceinline__ C of_ghosts(const Strip &s, int i, int x) const
  {
    const int j = s.faster, k = s.slower, y = y0 + s.row;
    const std::int64_t in_row = i * p.pitch + x;
    const std::int64_t in_y = (std::int64_t(cz) * layout.nz() + k) * p.row + in_row;
    C sum = 0;
    if (p.ghost[2] != nullptr && y == 0)
      sum += of_ghost<1>(false, j, in_y);
    if (p.ghost[3] != nullptr && y + 1 == p.ny)
      sum += of_ghost<1>(true, j, in_y);
    if constexpr (dim == 3)
    {
      const std::int64_t in_z = (std::int64_t(y) * n + j) * p.row + in_row;
      if (p.ghost[4] != nullptr && cz == 0)
        sum += of_ghost<2>(false, k, in_z);
      if (p.ghost[5] != nullptr && cz + 1 == p.nz)
        sum += of_ghost<2>(true, k, in_z);
    }
    return sum;
  }

  __device__ __forceinline__ void copy_tile()
  {
    constexpr int numbers = 16 / int(sizeof(Number)), chunks = layout.cells() / numbers;
    static_assert(Tile::threads % chunks == 0);
    const int x = int(threadIdx.x) % chunks * numbers;
    if (x0 + x >= p.pitch)
      return;
    const int first = y0 == 0 ? 1 : 0, last = y0 + rows == p.ny ? rows : rows + 1;
    constexpr int lines = n * layout.lines();
    for (int line = int(threadIdx.x) / chunks + first * lines; line < (last + 1) * lines;
         line += Tile::threads / chunks)
    {
      const int row = line / lines, k = line / (n * n) % layout.nz(), j = line / n % n,
                i = line % n;
      copy_async(u + at_u(row, k, j, i) + x, p.src + in_block(row - 1, k, j, i) + x0 + x);
    }
  }

  __device__ __forceinline__ void fill_diagonal()
  {
    for (int at = threadIdx.x; at < n * layout.lines(); at += Tile::threads)
    {
      C d = p.lambda[0][at % n] + p.lambda[1][at / n % n];
      if constexpr (dim == 3)
        d += p.lambda[2][at / (n * n)];
      diagonal[at] = p.form == Form::chebyshev ? p.alpha / d : d;
    }
  }

  /// The rows of cells below and above the tile at the ends of the block: reflections, or nothing where ghosts are
  /// added in the end.
  __device__ __forceinline__ void fill_rows_beside()
  {
    for (int upper = 0; upper < 2; ++upper)
    {
      const int side = 2 + upper;
      if (upper ? y0 + rows < p.ny : y0 > 0)
        continue;
      const int to = upper ? rows + 1 : 0, from = upper ? rows : 1;
      constexpr int cells = layout.cells();
      for (int at = threadIdx.x; at < n * layout.lines() * cells; at += Tile::threads)
      {
        const int cell = at % cells, i = at / cells % n, j = at / (cells * n) % n,
                  k = at / (cells * n * n);
        if (cell >= end)
          continue;
        u[at_u(to, k, j, i) + cell] =
            closed(side) ? reflected(side, j, u[at_u(from, k, j, i) + cell]) : Number{};
      }
    }
  }

  /// The cells left and right of the tile, or of the end of the block in it.
  __device__ __forceinline__ void fill_cells_beside()
  {
    for (int at = threadIdx.x; at < rows * n * layout.lines(); at += Tile::threads)
    {
      const int i = at % n, j = at / n % n, k = at / (n * n) % layout.nz(),
                row = at / (n * layout.lines());
      Number *const line = u + at_u(row + 1, k, j, i);
      const Number *const from = p.src + in_block(row, k, j, i);
      line[-1] = x0 > 0 ? from[x0 - 1] : closed(0) ? reflected(0, i, line[0]) : from[p.nx - 1];
      line[end] = x0 + end < p.nx ? from[x0 + end]
          : closed(1)             ? reflected(1, i, line[end - 1])
                                  : from[0];
    }
  }

  __device__ __forceinline__ Strip strip(int at) const
  {
    constexpr int per_row = layout.strips();
    Strip s;
    s.exists = at < rows * per_row;
    at = min(at, rows * per_row - 1);
    s.row = at / per_row;
    s.cell = at % layout.groups * 8;
    s.faster = at / layout.groups % n;
    s.slower = at / (layout.groups * n) % layout.nz();
    return s;
  }
  /// Position of a strip's mode 0.
  template <int direction>
  __device__ __forceinline__ static int in_u(const Strip &s)
  {
    constexpr int faster = of_u.faster(direction), slower = of_u.slower(direction);
    return s.row * of_u.row + s.faster * faster + s.slower * slower + s.cell;
  }
  template <int direction>
  __device__ __forceinline__ static int in_sums(const Strip &s)
  {
    constexpr int faster = of_sums.faster(direction), slower = of_sums.slower(direction);
    return s.row * of_sums.row + s.faster * faster + s.slower * slower + s.cell;
  }

  template <int direction>
  __device__ __forceinline__ void prepare()
  {
    product.prepare([&](int m, int i) {
      if (m >= 2 * n || i >= n)
        return C(0);
      const bool upper = m >= n;
      const C weight = p.neighbour[direction][i][upper ? m - n : m];
      return (upper ? m - n : i) % 2 == 1 ? -weight : weight;
    });
  }

  /// All strips: `from(strip)` gives what a strip's entries (cell, m) are loaded by.
  template <int direction, typename From, typename Consume>
  __device__ __forceinline__ void each_strip(From from, Consume consume)
  {
    prepare<direction>();
    const int jobs = (rows * layout.strips() + halves - 1) / halves;
    for (int job = int(threadIdx.x) / 32; job < jobs; job += Tile::warps)
    {
      Strip s[halves];
      decltype(from(s[0])) base[halves];
#pragma unroll
      for (int half = 0; half < halves; ++half)
      {
        s[half] = strip(halves * job + half);
        base[half] = from(s[half]);
      }
      product.run([&](int half, int cell, int m) { return base[half](cell, m); },
          [&](int half, int cell, int mode, C sum) {
            if (s[half].exists)
              consume(s[half], cell, mode, sum);
          });
    }
  }

  template <int direction, bool first>
  __device__ __forceinline__ void to_sums(const Strip &s, int cell, int mode, C sum) const
  {
    constexpr int stride = of_sums.of(direction);
    C *const to = sums + in_sums<direction>(s) + mode * stride + cell;
    *to = first ? p.scale[direction] * sum : *to + p.scale[direction] * sum;
  }

  struct InShared
  {
    const Number *lower;
    int stride, upper; ///< from mode to mode; from the lower neighbour to the upper one

    __device__ __forceinline__ Number operator()(int cell, int m) const
    {
      return lower[cell + (m < n ? m * stride : upper + (m - n) * stride)];
    }
  };

  template <bool first>
  __device__ __forceinline__ void along_y()
  {
    each_strip<1>(
        [&](const Strip &s) {
          return InShared{u + in_u<1>(s), of_u.y, 2 * of_u.row};
        },
        [&](const Strip &s, int cell, int mode, C sum) { to_sums<1, first>(s, cell, mode, sum); });
  }

  struct InLayers
  {
    const Number *own;
    std::int64_t plane, lower, upper;

    __device__ __forceinline__ Number operator()(int cell, int m) const
    {
      return own[cell + (m < n ? lower + m * plane : upper + (m - n) * plane)];
    }
  };
  /// At the ends of the block: reflections, and nothing where ghosts are added in the end.
  struct AtEnds
  {
    const Lines *lines;
    const Number *own;

    __device__ __forceinline__ Number operator()(int cell, int m) const
    {
      const bool upper = m >= n;
      const int mode = upper ? m - n : m, side = 4 + upper;
      const auto &p = lines->p;
      const Number *const from = own + cell + mode * p.plane;
      if (upper ? lines->cz + 1 < p.nz : lines->cz > 0)
        return from[upper ? n * p.plane : -n * p.plane];
      if (lines->closed(side))
        return lines->reflected(side, mode, *from);
      return Number{};
    }
  };

  template <bool first>
  __device__ __forceinline__ void layers_beside()
  {
    // Groups of 8 cells beyond the padding have no numbers: those of the last one.
    const auto start = [&](const Strip &s) {
      return std::int64_t(y0 + s.row) * n * p.row + s.slower * p.row + s.faster * p.pitch +
          min(std::int64_t(x0 + s.cell), p.pitch - 8);
    };
    const auto consume = [&](const Strip &s, int cell, int mode, C sum) {
      to_sums<2, first>(s, cell, mode, sum);
    };
    const Number *const layer = p.src + std::int64_t(cz) * n * p.plane;
    if (cz > 0 && cz + 1 < p.nz)
      each_strip<2>(
          [&](const Strip &s) {
            return InLayers{layer + start(s), p.plane, -n * p.plane, n * p.plane};
          },
          consume);
    else
      each_strip<2>([&](const Strip &s) { return AtEnds{this, layer + start(s)}; }, consume);
  }

  __device__ __forceinline__ void along_x()
  {
    each_strip<0>(
        [&](const Strip &s) {
          return InShared{u + of_u.row + in_u<0>(s) - 1, of_u.x, 2};
        },
        [&](const Strip &s, int cell, int mode, C sum) { finish(s, cell, mode, sum); });
  }

  __device__ __forceinline__ void finish(const Strip &s, int cell, int mode, C sum) const
  {
    if (x0 + s.cell >= p.pitch)
      return;
    const int x = x0 + s.cell + cell;
    const std::int64_t at = in_block(s.row, s.slower, s.faster, mode) + x;
    const C faces =
        sums[in_sums<0>(s) + mode * of_sums.x + cell] + p.scale[0] * sum + of_ghosts(s, mode, x);
    const C own = load_pack<1>(u + of_u.row + in_u<0>(s) + mode * of_u.x + cell).at[0];
    const C d = diagonal[(s.slower * n + s.faster) * n + mode];
    C result;
    if (p.form == Form::apply)
      result = fma(d, own, faces);
    else
    {
      const C b = load_pack<1>(p.b + at).at[0];
      if (p.form == Form::residual)
        result = fma(-d, own, b) - faces;
      else
      {
        result = fma(d, b - faces, p.keep * own);
        if (p.old != nullptr)
          result = fma(-p.theta, load_pack<1>(p.old + at).at[0], result);
      }
    }
    // Padding stays zero.
    store_pack<Number>(p.dst + at, Pack<C, 1>(x < p.nx ? result : C(0)));
  }
};

template <typename Tile>
__global__ __launch_bounds__(Tile::threads, Tile::blocks) void lines_kernel(
    const __grid_constant__ LinesParameters<typename Tile::Number, Tile::n> p)
{
  Lines<Tile>(p, dynamic_shared()).run();
}
} // namespace tensormg::laplace::lines
