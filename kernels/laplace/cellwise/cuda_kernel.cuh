// The device kernel of cellwise.h.
//
// A block owns a tile of cells in x-y and marches through a segment of the layers in z; in 2D strips in x, through y. A unit of lanes has
// all modes k and i of one mode j of a row of cells. Per layer:
//   y      In shared memory lie lines in y of the rows of this block. A unit takes lines (k, i), goes up through the rows, and writes what
//          the faces in y add to each mode.
//   z      Lines in z of the next layer are summed: all faces in z are there.
//   x      Lines (k, j) are summed by lanes, which tell each other their traces. The results are complete and written.
// Two more warps copy the layers and the rows of cells beside the tile, sum the lines of the cells beside the rows, and take lines in y.
#pragma once

#include "kernels/laplace/cellwise/inverse.cuh"
#include "kernels/laplace/cellwise/lines_y.cuh"
#include "kernels/laplace/cellwise/service.cuh"

namespace tensormg::laplace
{
namespace cellwise
{
  template <typename Tile, Form form>
  class Units
  {
    using Number = typename Tile::Number;
    using C = typename Tile::C;
    static constexpr int n = Tile::n, width = Tile::width, dim = Tile::dim, march = dim - 1;
    static constexpr int line = Tile::cells_x; ///< from mode to mode in shared memory
    using V = Pack<C, width>;
    using Sums = LineSums<C, width>;
    using Trace = cellwise::Trace<V>;
    using Faces = FaceSums<C, width>;

    const CellwiseParameters<Tile> &p;
    const Work<Tile> work;
    const int unit, lane;
    int x0;             ///< first cell of the row
    int x;              ///< first cell of the lane, or one of the row where it has none
    int row, j;         ///< of the unit
    bool is_partial;    ///< the block ends within the row
    int last_x;         ///< last cell of the row that is in the block, from x0
    int there;          ///< the unit, or the last one that has a row
    bool works, stores; ///< the unit has a row; and the lane cells
    bool warp_works;    ///< lanes talk to each other: some unit of the warp has a row
    std::int64_t first; ///< the lane's first number of the unit in layer 0
    std::int64_t at;    ///< of the numbers of its cells
    int own_at;         ///< in a layer in shared memory
    // Of lines in the direction of the march: traces at the top of this layer, and what its lower faces give to even modes.
    V top_v[n], top_d[n], lower_p[n], lower_q[n];

    /// Numbers of the lane's cells in a layer.
    struct OfLayer
    {
      V c, c_left, c_right;     ///< in x
      V c_march, c_march_above; ///< of the layer and of the next one
      V rest; ///< what u is multiplied by, but for x and the direction of the march

      __device__ __forceinline__ OfLayer(const Units &of, std::int64_t here)
        : c(numbers<width>(of.p.cells.c[0] + here))
        , c_left(numbers<width>(of.p.cells.c[0] + here - 1))
        , c_right(numbers<width>(of.p.cells.c[0] + here + 1))
        , c_march(numbers<width>(of.p.cells.c[march] + here))
        , c_march_above(numbers<width>(of.p.cells.c[march] + here + of.layer_stride()))
        , rest(numbers<width>(of.p.cells.reaction + here))
      {
        const CellwiseParameters<Tile> &p = of.p;
        if constexpr (dim == 3)
          add_product(rest, p.lambda[of.j], numbers<width>(p.cells.c[1] + here));
      }
    };
    /// Those that D has besides.
    struct Jumps
    {
      V x, march_direction, rest;

      __device__ __forceinline__ Jumps(const Units &of, std::int64_t here)
      {
        const CellwiseParameters<Tile> &p = of.p;
        if constexpr (form == Form::chebyshev)
        {
          x = numbers<width>(p.cells.jump[0] + here);
          march_direction = numbers<width>(p.cells.jump[march] + here);
          rest = dim == 3 ? p.v2[of.j] * numbers<width>(p.cells.jump[1] + here) : V(C(0));
        }
      }
      /// D but for direction x, from what u is multiplied by.
      __device__ __forceinline__ V diagonal(
          const CellwiseParameters<Tile> &p, const V &of_k, int k) const
      {
        return with_product(of_k + rest, p.v2[k], march_direction);
      }
    };

  public:
    __device__ __forceinline__ explicit Units(const CellwiseParameters<Tile> &p_)
      : p(p_)
      , work(p_)
      , unit(int(threadIdx.x) / Tile::lanes)
      , lane(int(threadIdx.x) % Tile::lanes)
    {
      const int pitch = int(p.block.pitch), of_row = dim == 3 ? n : 1;
      works = unit < work.rows * of_row;
      there = min(unit, work.rows * of_row - 1);
      warp_works = __any_sync(~0u, works);
      row = there / of_row;
      j = there % of_row;
      x0 = work.x_of_unit(there);
      x = min(x0 + lane * width, pitch - width);
      last_x = min(int(p.block.cells[0]) - x0, Tile::cells_x) - 1;
      is_partial = last_x + 1 < Tile::cells_x;
      stores = works && x0 + lane * width < pitch;
      first = work.first_of_unit(p, there) - x0 + x;
      at = x + (dim == 3 ? (work.y0 + row) * p.cells.row : 0);
      own_at = there * Tile::unit_numbers + lane * width;
    }

    __device__ __forceinline__ void run(const Service<Tile, form> &service, bool is_unit)
    {
      if (!is_unit)
        service.start();
      else if (warp_works)
        start();
      __syncthreads();
#pragma unroll 1
      for (int c = work.begin; c < work.end; ++c)
      {
        if (!is_unit)
          service.bring_layer(c);
        else if constexpr (dim == 3)
          LinesY<Tile>(p, work, lane).sum(c, unit, Tile::all_units);
        const OfLayer of(*this, at + c * layer_stride()); // asked for before anybody waits
        __syncthreads();
        if (!is_unit)
          service.bring_around(c);
        else if (warp_works)
          finish(c, of);
        __syncthreads();
      }
    }

  private:
    __device__ __forceinline__ std::int64_t layer_stride() const { return p.cells.stride(march); }
    __device__ __forceinline__ Trace ghost_of_march(int side, int i) const
    {
      return dim == 3
          ? ghost(p, side, p.block.rows_per_plane(), (work.y0 + row) * n + j, i, x0 + lane * width)
          : ghost(p, side, p.block.planes(), 0, i, x0 + lane * width);
    }

    /// f(mode, its parity, which the compiler knows).
    template <typename F>
    __device__ __forceinline__ static void for_modes(const F &f)
    {
      if constexpr (n <= 5)
#pragma unroll
        for (int k = 0; k < n; ++k)
          f(k, k % 2);
      else
#pragma unroll 1
        for (int k = 0; k < n; k += 2)
        {
          f(k, 0);
          if (k + 1 < n)
            f(k + 1, 1);
        }
    }

    /// Sums of the lines in the direction of the march, of modes that stand `stride` apart from `of` on.
    template <bool in_shared>
    __device__ __forceinline__ void sum_layer(
        const Number *of, std::int64_t stride, std::int64_t from_i_to_i, Sums (&result)[n]) const
    {
      for_modes([&](int k, int parity) {
        const Number *const line_k = of + (in_shared ? k * int(stride) : k * stride);
#pragma unroll
        for (int i = 0; i < n; ++i)
          result[i].add(parity, p.v[k], p.h[k],
              load_pack<width>(line_k + (in_shared ? i * line : i * from_i_to_i)));
      });
    }
    __device__ __forceinline__ void sum_global(int c, Sums (&result)[n]) const
    {
      sum_layer<false>(p.src + first + c * n * work.plane(p), work.plane(p), p.block.pitch, result);
    }

    /// Traces of the first layer, and its lower faces.
    __device__ __forceinline__ void start()
    {
      const int c = work.begin, side = 2 * march;
      Sums own[n], before[n];
      sum_global(c, own);
      if (c > 0)
        sum_global(c - 1, before);
      const C *const of_march = p.cells.c[march] + at + c * layer_stride();
      const V c_here = numbers<width>(of_march),
              c_below = numbers<width>(of_march - layer_stride());
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        const Trace lower = own[i].lower(), upper = own[i].upper();
        Trace below;
        if (c > 0)
          below = before[i].upper();
        else if (p.sides[side] == Side::ghost)
          below = ghost_of_march(side, i);
        else
          below = behind<width>(p, side, at - layer_stride(), lower);
        set_lower(i, upper, face_below(p.half_penalty, {c_here, c_below}, lower, below));
      }
    }
    __device__ __forceinline__ void set_lower(int i, const Trace &top, const Face<V> &face)
    {
      top_v[i] = top.v;
      top_d[i] = top.d;
      lower_p[i] = face.p;
      lower_q[i] = face.q;
    }
    /// The faces in x of a line, which has these own traces.
    __device__ __forceinline__ Faces faces_x(
        const OfLayer &of, const C *edges, int k, const Sums &own_sums) const
    {
      const Trace lower = own_sums.lower(), upper = own_sums.upper();
      const C lower_v = __shfl_up_sync(~0u, upper.v.at[width - 1], 1, Tile::lanes);
      const C lower_d = __shfl_up_sync(~0u, upper.d.at[width - 1], 1, Tile::lanes);
      const C upper_v = __shfl_down_sync(~0u, lower.v.at[0], 1, Tile::lanes);
      const C upper_d = __shfl_down_sync(~0u, lower.d.at[0], 1, Tile::lanes);
      Trace below, above;
#pragma unroll
      for (int w = 0; w < width; ++w)
      {
        below.v.at[w] = w > 0 ? upper.v.at[w > 0 ? w - 1 : 0] : lower_v;
        below.d.at[w] = w > 0 ? upper.d.at[w > 0 ? w - 1 : 0] : lower_d;
        above.v.at[w] = w + 1 < width ? lower.v.at[w + 1 < width ? w + 1 : w] : upper_v;
        above.d.at[w] = w + 1 < width ? lower.d.at[w + 1 < width ? w + 1 : w] : upper_d;
      }
      // The left or the right one, as far as a lane needs one.
      const Pack<C, 2> edge = load_pack<2>(edges + 2 * k + (lane == 0 ? 0 : 2 * n));
      if (lane == 0)
      {
        below.v.at[0] = edge.at[0];
        below.d.at[0] = edge.at[1];
      }
      if (!is_partial)
      {
        if (lane == Tile::lanes - 1)
        {
          above.v.at[width - 1] = edge.at[0];
          above.d.at[width - 1] = edge.at[1];
        }
      }
      else
        end_row(below, above, load_pack<2>(edges + 2 * (n + k)));
      return Faces(face_below(p.half_penalty, {of.c, of.c_left}, lower, below),
          face_above(p.half_penalty, {of.c, of.c_right}, upper, above));
    }
    /// A row that ends within the tile: behind it lies what the edge says, and padding, which sees nothing.
    __device__ __forceinline__ void end_row(
        Trace &below, Trace &above, const Pack<C, 2> &right) const
    {
#pragma unroll
      for (int w = 0; w < width; ++w)
      {
        const int cell = lane * width + w;
        if (cell > last_x)
          below.v.at[w] = below.d.at[w] = C(0);
        if (cell >= last_x)
        {
          above.v.at[w] = cell == last_x ? right.at[0] : C(0);
          above.d.at[w] = cell == last_x ? right.at[1] : C(0);
        }
      }
    }

    /// The faces of layer c in the direction of the march, and its results.
    __device__ __forceinline__ void finish(int c, const OfLayer &of)
    {
      const int side = 2 * march + 1;
      const bool is_last = c == work.last;
      const std::int64_t here = at + c * layer_stride();
      Sums next[n];
      if (!is_last)
        sum_layer<true>(work.layer(c + 1) + own_at, n * line, 0, next);
      V face_p[2][n], face_q[2][n];
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        const Trace top{top_v[i], top_d[i]};
        Trace above;
        if (!is_last)
          above = next[i].lower();
        else if (p.sides[side] == Side::ghost)
          above = ghost_of_march(side, i);
        else
          above = behind<width>(p, side, here + layer_stride(), top);
        const Faces faces({lower_p[i], lower_q[i]},
            face_above(p.half_penalty, {of.c_march, of.c_march_above}, top, above));
#pragma unroll
        for (int parity = 0; parity < 2; ++parity)
        {
          face_p[parity][i] = faces.p[parity];
          face_q[parity][i] = faces.q[parity];
        }
        set_lower(i, next[i].upper(),
            face_below(p.half_penalty, {of.c_march_above, of.c_march}, above, top));
      }
      write_results(c, of, face_p, face_q);
    }

    /// Results of layer c.
    __device__ __forceinline__ void write_results(
        int c, const OfLayer &of, const V (&face_p)[2][n], const V (&face_q)[2][n]) const
    {
      const Jumps jumps(*this, at + c * layer_stride());
      std::int64_t to = first + c * n * work.plane(p);
      const Number *const u = work.layer(c) + own_at;
      const C *const sums = work.sums() + own_at;
      const C *const edges = work.edges(c, there);
      for_modes([&](int k, int parity) {
        Inputs inputs;
        inputs.read(p, to);
        V value[n];
        Sums line_x;
#pragma unroll
        for (int i = 0; i < n; ++i)
        {
          value[i] = load_pack<width>(u + (k * n + i) * line);
          line_x.add(i % 2, p.v[i], p.h[i], value[i]);
        }
        const Faces of_x = faces_x(of, edges, k, line_x);
        const V of_k = with_product(of.rest, p.lambda[k], of.c_march);
        const V of_d = form == Form::chebyshev ? jumps.diagonal(p, of_k, k) : of_k;
        Number *result = p.dst + to;
#pragma unroll
        for (int i = 0; i < n; ++i, result += p.block.pitch)
        {
          V sum = product(with_product(of_k, p.lambda[i], of.c), value[i]);
          if constexpr (dim == 3)
            sum = sum + load_pack<width>(sums + (k * n + i) * line);
          of_x.add_to(sum, i % 2, p.v[i], p.h[i]);
          add_product(sum, p.v[k], face_p[parity][i]);
          add_product(sum, p.h[k], face_q[parity][i]);
          sum = inputs.finished(p, of, jumps, of_d, i, value[i], sum);
          if (stores)
            store_pack(result, sum);
        }
        to += work.plane(p);
      });
    }

    /// b and old of a line in x.
    struct Inputs
    {
      V b[form == Form::apply ? 1 : n], old[form == Form::chebyshev ? n : 1];

      __device__ __forceinline__ void read(const CellwiseParameters<Tile> &p, std::int64_t from)
      {
        if constexpr (form != Form::apply)
#pragma unroll
          for (int i = 0; i < n; ++i)
            b[i] = load_pack_once<width>(p.b + from + i * p.block.pitch);
        if constexpr (form == Form::chebyshev)
#pragma unroll
          for (int i = 0; i < n; ++i)
            old[i] = p.old != nullptr ? load_pack_once<width>(p.old + from + i * p.block.pitch)
                                      : V(C(0));
      }
      /// What is written where B u is `sum`; of_d: D but for direction x.
      __device__ __forceinline__ V finished(const CellwiseParameters<Tile> &p, const OfLayer &of,
          const Jumps &jumps, const V &of_d, int i, const V &u, const V &sum) const
      {
        if constexpr (form == Form::apply)
          return sum;
        else
        {
          V result = b[i] - sum;
          if constexpr (form == Form::chebyshev)
          {
            const V d = with_product(with_product(of_d, p.lambda[i], of.c), p.v2[i], jumps.x);
#pragma unroll
            for (int w = 0; w < width; ++w)
              result.at[w] = fma(p.theta, u.at[w] - old[i].at[w],
                  fma(p.alpha * inverse(d.at[w]), result.at[w], u.at[w]));
          }
          return result;
        }
      }
    };
  };
} // namespace cellwise

template <typename Tile, Form form>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks)
    cellwise_kernel(const __grid_constant__ CellwiseParameters<Tile> p)
{
  const cellwise::Service<Tile, form> service(p);
  cellwise::Units<Tile, form>(p).run(service, int(threadIdx.x) < Tile::unit_threads);
}
} // namespace tensormg::laplace
