// Sums over lines of cells, for the marching kernel.
#pragma once

#include <utility>

#include "kernels/laplace/cuda_march.cuh"

namespace tensormg::laplace::march
{
template <typename Tile>
using PackOf = Pack<typename Tile::C, Tile::width>;

/// A loop whose index is a constant in the body.
template <int begin, int end, typename Body>
__device__ __forceinline__ void unrolled(const Body &body)
{
  [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline))
  {
    (body(std::integral_constant<int, begin + k>{}), ...);
  }
  (std::make_integer_sequence<int, end - begin>{});
}

/// The tables of the parameters, read where they are used. Without `now`, a number that changes between
/// uses, the compiler loads all tables once and keeps them in registers, which are then missing.
template <typename Tile>
struct Tables
{
  using C = typename Tile::C;
  const MarchParameters<Tile> &p;
  int now;

  template <int at>
  __device__ __forceinline__ C entry(const C *table) const
  {
    return pipeline::read_parameter<at *int(sizeof(C))>(table, now);
  }
  template <int m>
  __device__ __forceinline__ C v() const
  {
    return entry<m>(p.v);
  }
  template <int m>
  __device__ __forceinline__ C h() const
  {
    return entry<m>(p.h);
  }
  template <int d, int m>
  __device__ __forceinline__ C vd() const
  {
    return entry<m>(p.vd[d]);
  }
  template <int d, int m>
  __device__ __forceinline__ C gd() const
  {
    return entry<m>(p.gd[d]);
  }
  template <int d, int m>
  __device__ __forceinline__ C lambda() const
  {
    return entry<m>(p.lambda[d]);
  }
};

/// Sums over a line: value and half derivative, even and odd modes apart (CellBasis).
template <typename Tile, int width = Tile::width>
struct LineSums
{
  using V = Pack<typename Tile::C, width>;
  V ev, ed, ov, od;

  template <int mode>
  __device__ __forceinline__ void add(const Tables<Tile> &t, const V &u)
  {
    V &value = mode % 2 == 0 ? ev : ov;
    V &derivative = mode % 2 == 0 ? ed : od;
    if constexpr (mode < 2)
    {
      value = t.template v<mode>() * u;
      derivative = t.template h<mode>() * u;
    }
    else
    {
      add_product(value, t.template v<mode>(), u);
      add_product(derivative, t.template h<mode>(), u);
    }
  }

  __device__ __forceinline__ V vl() const { return ev - ov; }
  __device__ __forceinline__ V vr() const { return ev + ov; }
  __device__ __forceinline__ V dl() const { return od - ed; }
  __device__ __forceinline__ V dr() const { return od + ed; }
};

/// Traces at the near end of a line outside the tile: the right end if it lies below or to the left.
template <typename Tile, int width, int stride>
__device__ __forceinline__ void sum_outside(const Tables<Tile> &tables,
    const typename Tile::Number *from, bool right_end, Pack<typename Tile::C, width> &value,
    Pack<typename Tile::C, width> &derivative)
{
  LineSums<Tile, width> sums;
  unrolled<0, Tile::n>([&](auto m) __attribute__((always_inline)) {
    sums.template add<m>(tables, load_pack<width>(from + m * stride));
  });
#pragma unroll
  for (int w = 0; w < width; ++w)
  {
    value.at[w] = right_end ? sums.ev.at[w] + sums.ov.at[w] : sums.ev.at[w] - sums.ov.at[w];
    derivative.at[w] = right_end ? sums.od.at[w] + sums.ed.at[w] : sums.od.at[w] - sums.ed.at[w];
  }
}

/// A service warp: sums the lines of the cells around the tile, `helpers` warps sharing the tasks.
template <typename Tile, int helpers>
__device__ __forceinline__ void sum_edges(
    const MarchParameters<Tile> &p, const Shared<Tile> &shared, int helper)
{
  using C = typename Tile::C;
  constexpr int n = Tile::n, width = Tile::width, row = Tile::cells_x;
  constexpr int tasks_y = 2 * Tile::tops, tasks_x = 2 * Tile::lines;
  pipeline::RingPosition<Tile::halo_ring> halo;
  pipeline::RingPosition<Tile::edge_ring> edge;
  const int lane = threadIdx.x % 32;
  Place s;
  for (int index = 0; place(p, index, s); ++index)
    for (int plane = s.z0 * n; plane < s.z1 * n; ++plane)
    {
      pipeline::wait(shared.edge_empty(edge.slot), edge.parity ^ 1u);
      pipeline::wait(shared.halo_full(halo.slot), halo.parity);
      const Tables<Tile> tables{p, halo.slot};
      for (int task = helper * 32 + lane; task < tasks_y; task += 32 * helpers)
      {
        const bool upper = task >= Tile::tops;
        const int column = upper ? task - Tile::tops : task;
        Pack<C, width> value, derivative;
        sum_outside<Tile, width, row * n>(tables,
            shared.halo(halo.slot, upper) + column / Tile::packs * row +
                column % Tile::packs * width,
            !upper, value, derivative);
        write_pack(shared.edge_y(edge.slot, 2 * upper)[column].number, value);
        write_pack(shared.edge_y(edge.slot, 2 * upper + 1)[column].number, derivative);
      }
      for (int task = helper * 32 + lane; task < tasks_x; task += 32 * helpers)
      {
        const bool right = task >= Tile::lines;
        const int line = right ? task - Tile::lines : task;
        Pack<C, 1> value, derivative;
        sum_outside<Tile, 1, Tile::halo_x>(tables,
            shared.halo(halo.slot, 2 + right) + line * n * Tile::halo_x + (right ? 0 : s.left_cell),
            !right, value, derivative);
        shared.edge_x(edge.slot, 2 * right)[line] = value.at[0];
        shared.edge_x(edge.slot, 2 * right + 1)[line] = derivative.at[0];
      }
      pipeline::arrive(shared.edge_full(edge.slot));
      pipeline::arrive_to_overwrite(shared.halo_empty(halo.slot));
      halo.advance();
      edge.advance();
    }
}
} // namespace tensormg::laplace::march
