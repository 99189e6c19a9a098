// The `cuda` backend in 2D: independent warps march through the rows of cells, docs/kernels.md.
//
// A warp owns a strip of cells in x, a lane `width` neighbouring cells of it with all their modes. Rows
// of cells come by asynchronous copies into a ring in shared memory; the lanes of a warp meet for them,
// the warps never do. Per row c + 1 a lane
//   faces in y  sums the lines in y of row c + 1, which closes row c; traces stay with the lane;
//   faces in x  then takes row c line by line (mode j): sums the line in x, exchanges traces with the
//               neighbouring lanes by shuffles, adds all faces, writes; the slot of the line is refilled.
// The cells left and right of the strip come through a ring of their own; lane q sums mode j = q of the
// left, lane 16 + q of the right one.
#pragma once

#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/strips_2d/faces.cuh"

namespace tensormg::laplace
{
namespace strip
{
  template <typename Tile, Form form>
  class Strip
  {
    using Number = typename Tile::Number;
    using C = typename Tile::C;
    using V = Pack<C, Tile::width>;
    static constexpr int n = Tile::n, width = Tile::width;
    static constexpr bool line_wise = Tile::inputs > 0 && Tile::input_lines < n;

    const StripParameters<Tile> &p;
    unsigned char *const memory; ///< of this warp
    const C *const table;        ///< of the block: p.diagonal
    const Place<Tile> at;
    const int lane;
    Copies<Tile, form> copies;
    FacesY<Tile> faces_y;
    Number *dst; ///< next line

  public:
    __device__ __forceinline__ Strip(const StripParameters<Tile> &p_, unsigned char *memory_,
        const C *table_, int x0, int segment)
      : p(p_)
      , memory(memory_)
      , table(table_)
      , at(p_, x0, segment)
      , lane(at.lane)
      , copies(p_, memory_, at)
      , faces_y(p_, memory_, at)
      , dst(p_.dst + p_.pitch * n * n * at.y0 + at.x())
    {}

    __device__ __forceinline__ void run()
    {
      copies.start();
      int row = 0, row_before = 0; // where rows r and r - 1 begin in the ring
      if (at.y0 == 0)
      {
        wait_copies<Tile::lines - n>();
        __syncwarp();
        faces_y.close_below(copies.source(row, 0));
      }
      for (int r = at.first; r <= at.y1; ++r)
      {
        wait_copies<Tile::lines - 2 * n>();
        __syncwarp();
        if (r < p.ny)
          faces_y.sum_row([&](int j) { return copies.source(row, j); });
        else
          faces_y.close_above();
        const int c = r - 1;
        if (c >= at.y0)
        {
          sum_edges(row_before);
          finish_row(row_before);
        }
        else if (c >= at.first)
          copies.refill_row(row_before);
        row_before = row;
        row = Tile::next_row(row);
      }
    }

  private:
    __device__ __forceinline__ C *edge_traces(bool right, int j) const
    {
      return reinterpret_cast<C *>(memory + Tile::trace_offset) + ((right ? n : 0) + j) * 2;
    }

    /// Traces of the cells left and right of a row: lane q does mode j = q on the left, 16 + q on the right.
    __device__ __forceinline__ void sum_edges(int row)
    {
      const int j = min(lane % 16, n - 1);
      const Number *line =
          copies.edge(row, j, at.right()) + at.edge_cell(p.nx) % Tile::chunk_numbers;
      LineSums<Pack<C, 1>> sums;
#pragma unroll
      for (int i = 0; i < n; ++i)
        sums.add(i, p.v[i], p.h[i], load_pack<1>(line + i * Tile::chunk_numbers));
      Pack<C, 2> traces;
      traces.at[0] = at.edge_open ? (at.right() ? sums.vl() : sums.vr()).at[0] : C(0);
      traces.at[1] = at.edge_open ? (at.right() ? sums.dl() : sums.dr()).at[0] : C(0);
      if (lane % 16 < n)
        write_pack(edge_traces(at.right(), j), traces);
      __syncwarp();
    }

    /// Row c. Unrolled, the weights of mode j are operands; rolled, they are loaded.
    __device__ __forceinline__ void finish_row(int row)
    {
      constexpr int pairs = Tile::rolled ? 1 : n;
#pragma unroll pairs
      for (int j = 0; j < n; j += 2)
      {
        finish_line<false>(row, j);
        if (j + 1 < n)
          finish_line<true>(row, j + 1);
      }
    }

    __device__ __forceinline__ void load_diagonal(int j, C (&diagonal)[n]) const
    {
      if constexpr (Tile::rolled)
      {
#pragma unroll
        for (int i = 0; i < n; i += Tile::table_pack)
        {
          const Pack<C, Tile::table_pack> some =
              load_pack<Tile::table_pack>(table + j * Tile::table_line + i);
#pragma unroll
          for (int w = 0; w < Tile::table_pack && i + w < n; ++w)
            diagonal[i + w] = some.at[w];
        }
      }
      else
      {
#pragma unroll
        for (int i = 0; i < n; ++i)
          diagonal[i] = p.diagonal[j][i];
      }
    }

    /// Line j of row c: reads it with b and old, refills their slots, finishes and writes it.
    template <bool odd>
    __device__ __forceinline__ void finish_line(int row, int j)
    {
      if constexpr (line_wise)
      {
        wait_copies<Tile::input_lines - 1>();
        __syncwarp();
      }
      V u[n], b[n], old[n];
#pragma unroll
      for (int i = 0; i < n; ++i)
        u[i] = load_pack<width>(copies.source(row, j) + i * Tile::cells);
      if constexpr (Tile::inputs > 0)
      {
#pragma unroll
        for (int i = 0; i < n; ++i)
          b[i] = load_pack<width>(copies.input(0) + i * Tile::cells);
        if constexpr (form == Form::chebyshev)
#pragma unroll
          for (int i = 0; i < n; ++i)
            old[i] = load_pack<width>(copies.input(1) + i * Tile::cells);
      }
      copies.refill(row, j);
      write_line<odd>(j, u, b, old);
    }

    /// With all faces.
    template <bool odd>
    __device__ __forceinline__ void write_line(
        int j, const V (&u)[n], const V (&b)[n], const V (&old)[n])
    {
      LineSums<V> sums;
#pragma unroll
      for (int i = 0; i < n; ++i)
        sums.add(i, p.v[i], p.h[i], u[i]);
      V even_x, even_gx, odd_x, odd_gx;
      couple(j, sums, even_x, even_gx, odd_x, odd_gx);
      C diagonal[n];
      load_diagonal(j, diagonal);
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        V result;
#pragma unroll
        for (int w = 0; w < width; ++w)
        {
          const C face_y = odd ? faces_y.odd_v[i].at[w] : faces_y.even_v[i].at[w];
          const C face_gy = odd ? faces_y.odd_g[i].at[w] : faces_y.even_g[i].at[w];
          const C face_x = i % 2 == 0 ? even_x.at[w] : odd_x.at[w];
          const C face_gx = i % 2 == 0 ? even_gx.at[w] : odd_gx.at[w];
          const C sign = form == Form::apply ? C(1) : C(-1);
          C value = form == Form::apply ? diagonal[i] * u[i].at[w]
              : form == Form::residual  ? fma(-diagonal[i], u[i].at[w], b[i].at[w])
                                        : b[i].at[w];
          value = fma(sign * p.vx[i], face_x, value);
          value = fma(sign * p.gx[i], face_gx, value);
          value = fma(sign * p.vy[j], face_y, value);
          value = fma(sign * p.gy[j], face_gy, value);
          if constexpr (form == Form::chebyshev)
          {
            value *= diagonal[i];
            value = fma(p.keep, u[i].at[w], value);
            if (p.old != nullptr)
              value = fma(-p.theta, old[i].at[w], value);
          }
          result.at[w] = value;
        }
        if (at.stores)
          store_pack<Number>(dst, result);
        dst += p.pitch;
      }
    }

    /// What the faces in x give to line j: factors of v and g for even and odd modes i.
    __device__ __forceinline__ void couple(
        int j, const LineSums<V> &sums, V &even_v_, V &even_g_, V &odd_v_, V &odd_g_) const
    {
      const V vl = sums.vl(), dl = sums.dl(), vr = sums.vr(), dr = sums.dr();
      C lower_v = __shfl_up_sync(~0u, vr.at[width - 1], 1);
      C lower_d = __shfl_up_sync(~0u, dr.at[width - 1], 1);
      C upper_v = __shfl_down_sync(~0u, vl.at[0], 1);
      C upper_d = __shfl_down_sync(~0u, dl.at[0], 1);
      const Pack<C, 2> edge = load_pack<2>(edge_traces(at.right(), j));
      // Behind a closed side lies the own line with other signs.
      const C edge_v = fma(at.close_x, at.right() ? vr.at[width - 1] : vl.at[0], edge.at[0]);
      const C edge_d = fma(-at.close_x, at.right() ? dr.at[width - 1] : dl.at[0], edge.at[1]);
      if (lane == 0)
      {
        lower_v = edge_v;
        lower_d = edge_d;
      }
      if (lane == 31)
      {
        upper_v = edge_v;
        upper_d = edge_d;
      }
      V vm, dm, vp, dp;
#pragma unroll
      for (int w = 0; w < width; ++w)
      {
        vm.at[w] = w == 0 ? lower_v : vr.at[w == 0 ? 0 : w - 1];
        dm.at[w] = w == 0 ? lower_d : dr.at[w == 0 ? 0 : w - 1];
        vp.at[w] = w == width - 1 ? upper_v : vl.at[w == width - 1 ? w : w + 1];
        dp.at[w] = w == width - 1 ? upper_d : dl.at[w == width - 1 ? w : w + 1];
      }
      if (at.partial)
        close_partial(j, vr, dr, vm, dm, vp, dp);
      even_v_ = dm - dp;
      even_g_ = vp + vm;
      odd_g_ = vp - vm;
#pragma unroll
      for (int w = 0; w < width; ++w)
        odd_v_.at[w] = -dm.at[w] - dp.at[w];
    }

    /// The last cell of the block lies inside of the strip: what is behind it.
    __device__ __forceinline__ void close_partial(
        int j, const V &vr, const V &dr, V &vm, V &dm, V &vp, V &dp) const
    {
      const Pack<C, 2> edge = load_pack<2>(edge_traces(true, j));
      const C close_right = p.sides[1] == Side::wrap ? C(0) : value_reflection<C>(p.sides[1]);
#pragma unroll
      for (int w = 0; w < width; ++w)
      {
        // Padding is zero in src; without traces from its neighbour it stays zero in dst.
        const C closed_v = fma(close_right, vr.at[w], edge.at[0]);
        const C closed_d = fma(-close_right, dr.at[w], edge.at[1]);
        vp.at[w] = w < at.last ? vp.at[w] : w == at.last ? closed_v : C(0);
        dp.at[w] = w < at.last ? dp.at[w] : w == at.last ? closed_d : C(0);
        vm.at[w] = w <= at.last ? vm.at[w] : C(0);
        dm.at[w] = w <= at.last ? dm.at[w] : C(0);
      }
    }
  };

  template <typename Tile, Form form>
  __global__ __launch_bounds__(Tile::threads, Tile::blocks) void strip_kernel(
      const __grid_constant__ StripParameters<Tile> p)
  {
    unsigned char *memory = dynamic_shared();
    const int warp = threadIdx.x / 32;
    // Strips are dealt out to warps, not to blocks, so that none is idle where the last block of a row would be. By a shuffle the
    // compiler knows the number to be the same for all lanes, and holds what follows from it in uniform registers.
    const int number = int(blockIdx.x) * Tile::warps + __shfl_sync(~0u, warp, 0);
    typename Tile::C *table = reinterpret_cast<typename Tile::C *>(memory + Tile::table_offset);
    if constexpr (Tile::rolled)
    {
      for (int at = threadIdx.x; at < Tile::n * Tile::n; at += Tile::threads)
        table[at / Tile::n * Tile::table_line + at % Tile::n] =
            p.diagonal[at / Tile::n][at % Tile::n];
      __syncthreads();
    }
    if (number < p.strips * p.segments)
      Strip<Tile, form>(p, memory + warp * Tile::warp_bytes, table, number % p.strips * Tile::cells,
          number / p.strips)
          .run();
  }
} // namespace strip
} // namespace tensormg::laplace
