// The Laplace operator for every degree and number type, in 2D and 3D, from compute capability 8.0 on: products along
// lines, on tensor cores (2D and 3D) or on CUDA cores (3D).
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
// have neighbouring tiles (launch.cuh). `Product` is mma.sync, WMMA, or a line per lane (cuda.cuh), which
// goes through the two traces of each neighbour.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/device/copy_async.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/laplace/lines/parameters.cuh"
#include "kernels/laplace/lines/tile.h"
#include "kernels/laplace/lines/weights.cuh"

namespace tensormg::laplace::lines
{
__device__ __forceinline__ double negative(double x) { return -x; }
__device__ __forceinline__ float negative(float x) { return -x; }
__device__ __forceinline__ Half negative(Half x)
{
  x.bits ^= 0x8000u;
  return x;
}

/// A number of a vector as it lies in shared memory.
template <typename Shared, typename Number>
__device__ __forceinline__ Shared read_as(const Number *at)
{
  if constexpr (std::is_same_v<Shared, Number>)
    return *at;
  else
    return load_pack<1>(at).at[0];
}

/// What a warp works on at a time: neighbouring cells with some of their lines, jobs of Product::halves strips.
struct Unit
{
  int row;    ///< of cells, in the tile
  int cell;   ///< the first one
  int faster; ///< first line: its modes in the other directions
  int slower;
};

template <typename Tile>
class Lines
{
  using Number = typename Tile::Number;
  using Shared = typename Tile::Shared;
  using C = typename Tile::C;
  using Product = typename Tile::Product;
  using Parameters = LinesParameters<Number, Tile::n>;
  static constexpr int n = Tile::n, dim = Tile::dim;
  static constexpr LinesLayout layout = Tile::layout;
  static constexpr LinesLayout::Strides of_u = layout.u(), of_sums = layout.sums();
  static constexpr LinesUnits units = Tile::units(Product::halves);

  const Parameters &p;
  Shared *const u; ///< the row of cells below the tile
  C *const sums;
  C *const diagonal; ///< [k][j][i]: D; chebyshev: alpha / D
  Product product;
  int x0, y0, cz;
  int rows; ///< of cells of the tile that exist
  int end;  ///< cells of a row that exist

public:
  __device__ __forceinline__ Lines(const Parameters &p_, unsigned char *shared)
    : p(p_)
    , u(reinterpret_cast<Shared *>(shared))
    , sums(reinterpret_cast<C *>(shared + layout.sums_at()))
    , diagonal(reinterpret_cast<C *>(shared + layout.diagonal_at()))
    , product(shared + layout.scratch_at())
  {
    const LinesGrid::Place at = p.grid.place(int(blockIdx.x));
    cz = at.z;
    x0 = at.x * layout.cells();
    y0 = at.y * layout.rows;
    rows = min(layout.rows, p.ny - y0);
    end = max(0, min(layout.cells(), p.nx - x0)); // the last tiles may have padding alone
  }

  __device__ __forceinline__ void run()
  {
    copy_tile();
    commit_copies();
    fill_cells_beside<false>();
    fill_diagonal();
    if constexpr (dim == 3 && !layout.in_place())
      layers_beside<true>();
    wait_copies<0>();
    __syncthreads();
    fill_rows_beside();
    fill_cells_beside<true>();
    __syncthreads();
    along_y<dim == 2 || layout.in_place()>();
    __syncthreads();
    if constexpr (dim == 3 && layout.in_place())
    {
      layers_beside<false>();
      __syncthreads();
    }
    if (has_ghosts())
    {
      add_ghosts();
      __syncthreads();
    }
    if (p.form == Form::apply)
      along_x<Form::apply>();
    else if (p.form == Form::residual)
      along_x<Form::residual>();
    else
      along_x<Form::chebyshev>();
  }

private:
  /// In front of mode (i, j, k) of a row of cells of u; row 0 lies below the tile.
  __device__ __forceinline__ static int at_u(int row, int k, int j, int i)
  {
    return row * of_u.row + k * of_u.z + j * of_u.y + i * of_u.x;
  }
  /// The same in global memory, of cell 0 of the block; row 0 is the tile's first one.
  __device__ __forceinline__ std::int64_t in_block(int row, int k, int j, int i) const
  {
    return (std::int64_t(cz) * layout.nz() + k) * p.plane +
        (std::int64_t(y0 + row) * n + j) * p.row + i * p.pitch;
  }
  /// Mode m of what lies behind a closed side, from that of the cell before it: its reflection.
  __device__ __forceinline__ Shared reflected(int side, int m, Shared value) const
  {
    return reflection_changes_sign(p.sides[side], m) ? negative(value) : value;
  }

  // fill.cuh
  template <int direction>
  __device__ __forceinline__ C of_ghost(bool upper, int m, std::int64_t at) const;
  __device__ __forceinline__ C of_ghosts(int row, int i, int j, int k, int x) const;
  __device__ __forceinline__ bool has_ghosts() const;
  __device__ __forceinline__ void add_ghosts();
  __device__ __forceinline__ void copy_tile();
  __device__ __forceinline__ void fill_diagonal();
  __device__ __forceinline__ void fill_rows_beside();
  template <bool copied>
  __device__ __forceinline__ void fill_cells_beside();

  /// Position of mode 0 of a unit's first line.
  template <int direction>
  __device__ __forceinline__ static int in_u(const Unit &unit)
  {
    constexpr int faster = of_u.faster(direction), slower = of_u.slower(direction);
    return unit.row * of_u.row + unit.faster * faster + unit.slower * slower + unit.cell;
  }
  template <int direction>
  __device__ __forceinline__ static int in_sums(const Unit &unit)
  {
    constexpr int faster = of_sums.faster(direction), slower = of_sums.slower(direction);
    return unit.row * of_sums.row + unit.faster * faster + unit.slower * slower + unit.cell;
  }

  /// All units. source(unit)(line, cell, m) is what is multiplied, target(unit)(line, cell, mode, sum, extra) takes a
  /// result with what its fetch(line, cell, mode) gave; lines and cells are counted from the unit's first ones.
  template <int direction, typename Source, typename Target>
  __device__ __forceinline__ void each_line(Source source, Target target)
  {
    constexpr int wide = units.groups; // strips side by side, the others are further lines
    constexpr int step = Product::halves / wide;
    constexpr int jobs = (units.lines + step - 1) / step;
    // What is multiplied is asked for before the products in front of it: further ahead where it comes from L2.
    constexpr int under_way = std::min(jobs, Product::under_way(direction == 2));
    const Weights<Number, n, direction> weights(p, cz);
    product.prepare(weights);
    for (int at = int(threadIdx.x) / 32; at < rows * units.of_row(); at += Tile::warps)
    {
      Unit unit;
      unit.cell = at % units.columns * (8 * wide);
      unit.faster = at / units.columns % units.chunks * units.lines;
      unit.slower = at / (units.columns * units.chunks) % layout.nz();
      unit.row = at / units.of_row();
      if (x0 + unit.cell >= p.pitch)
        continue;
      const auto from = source(unit);
      const auto to = target(unit);
      using To = std::remove_const_t<decltype(to)>;
      typename Product::Operands operands[under_way];
      const auto load = [&](int job) {
        product.load(operands[job % under_way], [&](int half, int cell, int m) {
          const int line = job * step + half / wide;
          return from(line < units.lines ? line : job * step, half % wide * 8 + cell, m);
        });
      };
      // What a result is added to, of the next job before this one is done.
      typename Product::template Extras<typename To::Extra> extras{}, next{};
      const auto fetch = [&](auto &into, int job) {
        product.fetch(into, [&](int half, int cell, int mode) {
          return job * step + half / wide < units.lines
              ? to.fetch(job * step + half / wide, half % wide * 8 + cell, mode)
              : typename To::Extra{};
        });
      };
#pragma unroll
      for (int job = 0; job < under_way - 1; ++job)
        load(job);
      fetch(extras, 0);
#pragma unroll Product::unrolled
      for (int job = 0; job < jobs; ++job)
      {
        if (job + 1 < jobs)
          fetch(next, job + 1);
        if (job + under_way <= jobs)
          load(job + under_way - 1);
        product.run(weights, operands[job % under_way], extras,
            [&](int half, int cell, int mode, C sum, const typename To::Extra &extra) {
              if (job * step + half / wide < units.lines)
                to(job * step + half / wide, half % wide * 8 + cell, mode, sum, extra);
            });
        extras = next;
      }
    }
  }

  template <int direction, bool first>
  struct ToSums
  {
    C *sums;
    C scale;

    struct Extra
    {
      C before;
    };
    __device__ __forceinline__ C &at(int line, int cell, int mode) const
    {
      constexpr int stride = of_sums.of(direction), faster = of_sums.faster(direction);
      return sums[line * faster + cell + mode * stride];
    }
    __device__ __forceinline__ Extra fetch(int line, int cell, int mode) const
    {
      return {first ? C(0) : at(line, cell, mode)};
    }
    __device__ __forceinline__ void operator()(
        int line, int cell, int mode, C sum, const Extra &extra) const
    {
      at(line, cell, mode) = first ? scale * sum : fma(scale, sum, extra.before);
    }
  };
  template <int direction, bool first>
  __device__ __forceinline__ ToSums<direction, first> to_sums(const Unit &unit) const
  {
    return {sums + in_sums<direction>(unit), p.scale[direction]};
  }

  template <int direction>
  struct InShared
  {
    const Shared *lower; ///< of the neighbours' modes 0

    __device__ __forceinline__ Shared operator()(int line, int cell, int m) const
    {
      constexpr int stride = of_u.of(direction), faster = of_u.faster(direction);
      constexpr int upper = direction == 0 ? 2 : 2 * of_u.row;
      return lower[(m < n ? m * stride : upper + (m - n) * stride) + line * faster + cell];
    }
  };

  template <bool first>
  __device__ __forceinline__ void along_y()
  {
    each_line<1>([&](const Unit &unit) { return InShared<1>{u + in_u<1>(unit)}; },
        [&](const Unit &unit) { return to_sums<1, first>(unit); });
  }

  struct InLayers
  {
    const Number *own;
    std::int64_t lower, upper; ///< from there to the neighbours' modes 0
    std::int64_t plane, faster;
    int cells; ///< beyond which there is nothing

    __device__ __forceinline__ Shared operator()(int line, int cell, int m) const
    {
      if (cell >= cells)
        cell %= 8;
      return read_as<Shared>(
          own + (m < n ? lower + m * plane : upper + (m - n) * plane) + line * faster + cell);
    }
  };

  template <bool first>
  __device__ __forceinline__ void layers_beside()
  {
    const std::int64_t lower = cz > 0 ? -n * p.plane : 0;
    const std::int64_t upper = cz + 1 < p.nz ? n * p.plane : 0;
    each_line<2>(
        [&](const Unit &unit) {
          return InLayers{p.src + in_block(unit.row, 0, unit.slower, unit.faster) + x0 + unit.cell,
              lower, upper, p.plane, p.pitch, int(p.pitch) - x0 - unit.cell};
        },
        [&](const Unit &unit) { return to_sums<2, first>(unit); });
  }

  template <Form form>
  __device__ __forceinline__ void along_x()
  {
    each_line<0>([&](const Unit &unit) { return InShared<0>{u + of_u.row + in_u<0>(unit) - 1}; },
        [&](const Unit &unit) {
          return Finish<form>{*this, unit, u + of_u.row + in_u<0>(unit), sums + in_sums<0>(unit),
              in_block(unit.row, unit.slower, unit.faster, 0) + x0 + unit.cell};
        });
  }

  /// The way out of lines in x.
  template <Form form>
  struct Finish
  {
    const Lines &lines;
    const Unit &unit;
    const Shared *u;
    const C *sums;
    std::int64_t at; ///< of the first number

    struct Extra
    {
      C b, old; ///< as far as the form has them
    };
    __device__ __forceinline__ int x(int cell) const { return lines.x0 + unit.cell + cell; }
    __device__ __forceinline__ std::int64_t place(int line, int cell, int mode) const
    {
      return at + line * lines.p.row + mode * lines.p.pitch + cell;
    }
    __device__ __forceinline__ Extra fetch(int line, int cell, int mode) const
    {
      Extra extra{};
      if (form != Form::apply && x(cell) < lines.p.pitch)
      {
        extra.b = load_pack<1>(lines.p.b + place(line, cell, mode)).at[0];
        if (form == Form::chebyshev && lines.p.old != nullptr)
          extra.old = load_pack<1>(lines.p.old + place(line, cell, mode)).at[0];
      }
      return extra;
    }

    __device__ __forceinline__ void operator()(
        int line, int cell, int mode, C sum, const Extra &extra) const
    {
      const Parameters &p = lines.p;
      const int j = unit.faster + line, k = unit.slower;
      if (x(cell) >= p.pitch)
        return;
      constexpr int faster_u = of_u.faster(0), faster_sums = of_sums.faster(0);
      const C faces = fma(p.scale[0], sum, sums[line * faster_sums + mode * of_sums.x + cell]);
      const C own = load_pack<1>(u + line * faster_u + mode * of_u.x + cell).at[0];
      const C d = lines.diagonal[(k * n + j) * n + mode];
      const C result = form == Form::apply ? fma(d, own, faces)
          : form == Form::residual
          ? fma(-d, own, extra.b) - faces
          : fma(-p.theta, extra.old, fma(d, extra.b - faces, p.keep * own));
      // Padding stays zero.
      store_pack<Number>(
          p.dst + place(line, cell, mode), Pack<C, 1>(x(cell) < p.nx ? result : C(0)));
    }
  };
};

} // namespace tensormg::laplace::lines
