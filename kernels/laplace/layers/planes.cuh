// Faces in x and y of a plane in the layer kernel on CUDA cores: see layers.cuh.
#pragma once

#include <type_traits>

#include "kernels/laplace/layers/layers.cuh"

namespace tensormg::laplace::layers
{
using march::Faces, march::LineSums;

/// What a lane does in plane k of a layer, [rows][n modes j][n modes i][cells_x]:
///   sum_ij = (c_x lambda_i + c_y lambda_j + c_z lambda_k) u_ij + faces in x (v_i, g_i) + faces in y (v_j, g_j),
/// CellBasis. The members are for Cells, which adds the faces in z.
template <typename Tile>
class PlaneWork : public march::RowWork<Tile>
{
public:
  using Lines = march::RowWork<Tile>;
  using Lines::cell, Lines::half, Lines::lane, Lines::p, Lines::s, Lines::warp;
  using Lines::load, Lines::ghost, Lines::couple;
  using Lines::n, Lines::width, Lines::mode_x, Lines::mode_y, Lines::row_y;
  using typename Lines::C;
  using typename Lines::Number;
  using typename Lines::Trace;
  using typename Lines::V;

  const Shared<Tile> &shared;
  const int group;

  __device__ __forceinline__ PlaneWork(
      const RowParameters<Tile> &p_, const Shared<Tile> &shared_, int warp_)
    : Lines(p_, warp_, shared_.place(warp_))
    , shared(shared_)
    , group(warp_ / Tile::group_warps)
  {}

  /// Faces of the modes j of one parity.
  struct HalfFaces
  {
    V v, g;
  };
  using FacesY = std::conditional_t<Tile::split, HalfFaces, Faces<V>>;

  /// Row of cells of half a warp.
  __device__ __forceinline__ int row_of(int which) const
  {
    const int member = warp % Tile::group_warps;
    return Tile::split ? member : 2 * member + which;
  }

  /// A plane in shared memory and its sums, the slot of the cells around it, and its number in the block.
  struct Plane
  {
    const Number *own;
    C *sum;
    int slot, index;
  };

  /// Where a lane finds the cells on one side in y. Behind a closed side it sums its own line: the reflection there is
  /// that with the other sign of the even modes (Dirichlet) or of the odd ones. A ghost is added afterwards.
  struct Beside
  {
    const Number *row;
    C even, odd;
    bool ghost;
  };
  __device__ __forceinline__ Beside beside_y(bool upper, const Plane &plane) const
  {
    const int cy = row_of(half);
    const Number *const own = plane.own + cy * row_y + cell;
    const bool in_tile = upper ? cy + 1 < Tile::rows : cy > 0;
    Beside result{shared.halo(plane.slot, upper ? Tile::upper_at : 0) + cell, C(1), C(1), false};
    if (in_tile)
      result.row = upper ? own + row_y : own - row_y;
    const bool end = cy == (upper ? s.last_y : 0) && (upper ? s.upper_end : s.lower_end);
    if (end)
    {
      const int side = upper ? 3 : 2;
      const Side kind = p.sides[side];
      result.row = own;
      result.ghost = kind == Side::ghost;
      result.even = result.ghost ? C(0) : value_reflection<C>(kind);
      result.odd = -result.even;
    }
    return result;
  }

  /// What the faces in y give to the lines i of this lane's cells.
  __device__ __forceinline__ void sum_y(Faces<V> (&faces)[n], const Plane &plane) const
  {
    const Beside lower = beside_y(false, plane), upper = beside_y(true, plane);
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      LineSums<V> of_lower, of_upper;
#pragma unroll
      for (int j = 0; j < n; ++j)
      {
        of_lower.add(j, p.v[j], p.h[j], load(lower.row + j * mode_y + i * mode_x));
        of_upper.add(j, p.v[j], p.h[j], load(upper.row + j * mode_y + i * mode_x));
      }
      const auto combine = [](C a, const V &x, C b, const V &y) {
        V result = a * x;
        add_product(result, b, y);
        return result;
      };
      const Trace m{combine(lower.even, of_lower.ev, lower.odd, of_lower.ov),
          combine(lower.even, of_lower.ed, lower.odd, of_lower.od)};
      const Trace a{combine(upper.even, of_upper.ev, -upper.odd, of_upper.ov),
          combine(-upper.even, of_upper.ed, upper.odd, of_upper.od)};
      faces[i] = Faces<V>(m, a);
    }
    if (__any_sync(~0u, lower.ghost))
      add_ghosts(faces, 2, lower.ghost, plane.index);
    if (__any_sync(~0u, upper.ghost))
      add_ghosts(faces, 3, upper.ghost, plane.index);
  }

  /// The same where half a warp sums one side; the other half has the other one. It keeps what its modes
  /// j = half, half + 2, ... need.
  __device__ __forceinline__ void sum_y(HalfFaces (&faces)[n], const Plane &plane) const
  {
    const bool upper = half == 1;
    const Beside beside = beside_y(upper, plane);
    const C odd_v = upper ? -beside.odd : beside.odd, even_d = upper ? -beside.even : beside.even;
    Trace traces[n];
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      const Number *const from = beside.row + i * mode_x;
      LineSums<V> sums;
#pragma unroll
      for (int j = 0; j < n; ++j)
        sums.add(j, p.v[j], p.h[j], load(from + j * mode_y));
      traces[i] = {beside.even * sums.ev, even_d * sums.ed};
      add_product(traces[i].v, odd_v, sums.ov);
      add_product(traces[i].d, beside.odd, sums.od);
    }
    if (__any_sync(~0u, beside.ghost))
#pragma unroll
      for (int i = 0; i < n; ++i)
        if (beside.ghost)
          traces[i] = ghost(upper ? 3 : 2, p.block.planes(), plane.index, i);
    const C sign = upper ? C(-1) : C(1);
#pragma unroll
    for (int i = 0; i < n; ++i)
#pragma unroll
      for (int w = 0; w < width; ++w)
      {
        const C v = __shfl_xor_sync(~0u, traces[i].v.at[w], 16);
        const C d = __shfl_xor_sync(~0u, traces[i].d.at[w], 16);
        faces[i].v.at[w] = fma(sign, traces[i].d.at[w], -d);
        faces[i].g.at[w] = fma(sign, v, traces[i].v.at[w]);
      }
  }

  __device__ __forceinline__ void add_ghosts(
      Faces<V> (&faces)[n], int side, bool here, int plane) const
  {
    const Trace none{V(C(0)), V(C(0))};
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      const Trace trace = here ? ghost(side, p.block.planes(), plane, i) : none;
      const Faces<V> more = side == 2 ? Faces<V>(trace, none) : Faces<V>(none, trace);
#pragma unroll
      for (int parity = 0; parity < 2; ++parity)
      {
        faces[i].v[parity] = faces[i].v[parity] + more.v[parity];
        faces[i].g[parity] = faces[i].g[parity] + more.g[parity];
      }
    }
  }

  static constexpr int edge_lines = (Tile::split ? 2 : 4) * n;

  /// Traces beside the rows of this warp: each lane sums one line.
  __device__ __forceinline__ void sum_edges(const Plane &plane) const
  {
    __syncwarp(); // all lanes have read those of the plane before
#pragma unroll
    for (int first = 0; first < edge_lines; first += 32)
    {
      const int line = first + lane;
      if (line < edge_lines)
        sum_edge(plane, row_of(line / (2 * n)), line / n % 2 == 1, line % n, line);
    }
    __syncwarp();
  }

  /// Traces beside row cy, of line j, go to place `line`.
  __device__ __forceinline__ void sum_edge(
      const Plane &plane, int cy, bool right, int j, int line) const
  {
    const bool closed = right ? s.right_closed : s.left_closed;
    const Number *from = closed ? plane.own + cy * row_y + j * mode_y + (right ? s.last_x : 0)
                                : shared.halo(plane.slot, right ? Tile::right_at : Tile::left_at) +
            (cy * n + j) * n * Tile::halo_x + (right ? 0 : s.left_cell);
    write_pack(shared.edges(warp) + 2 * line, march::sum_beside<Tile>(p, from, right, closed));
  }

  /// Line by line in x, so that sums may replace u. of_z = c_z lambda_k.
  __device__ __forceinline__ void write_rows(
      const Faces<V> (&faces_y)[n], const Plane &plane, C of_z) const
  {
    const int first = row_of(half) * row_y + cell;
    const Number *const own = plane.own + first;
    C *const to = plane.sum + first;
    const C *const edges = shared.edges(warp) + half * (4 * n);
#pragma unroll
    for (int j = 0; j < n; ++j)
    {
      const C of_yz = of_z + p.lambda[1][j];
      V u[n];
      LineSums<V> sums;
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        u[i] = load(own + j * mode_y + i * mode_x);
        sums.add(i, p.v[i], p.h[i], u[i]);
      }
      const Faces<V> faces = couple(load_pack<2>(edges + 2 * j),
          load_pack<2>(edges + 2 * n + 2 * j), sums.lower(), sums.upper());
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        V sum = of_yz * u[i];
        add_product(sum, p.lambda[0][i], u[i]);
        add_product(sum, p.vd[0][i], faces.v[i % 2]);
        add_product(sum, p.gd[0][i], faces.g[i % 2]);
        add_product(sum, p.vd[1][j], faces_y[i].v[j % 2]);
        add_product(sum, p.gd[1][j], faces_y[i].g[j % 2]);
        write_pack(to + j * mode_y + i * mode_x, sum);
      }
    }
  }

  /// The same for the modes j = half, half + 2, ...
  __device__ __forceinline__ void write_rows(
      const HalfFaces (&faces_y)[n], const Plane &plane, C of_z) const
  {
#pragma unroll
    for (int even = 0; even < n; even += 2)
    {
      // With an odd number of modes the second half has one less; there it works in vain on its first one, which nobody else
      // writes meanwhile.
      constexpr int most = n - 1;
      const int odd = even < most ? even + 1 : 1;
      const bool mine = even < most || half == 0;
      const auto of_half = [&](const C(&table)[n]) { return half == 0 ? table[even] : table[odd]; };
      const C of_yz = of_z + of_half(p.lambda[1]), vd = of_half(p.vd[1]), gd = of_half(p.gd[1]);
      write_line(half == 0 ? even : odd, mine, of_yz, vd, gd, faces_y, plane);
    }
  }

  /// Line j of them, if it is this half's: `vd` and `gd` are the factors of its faces in y, of_yz = c_z lambda_k + c_y lambda_j.
  __device__ __forceinline__ void write_line(int j, bool mine, C of_yz, C vd, C gd,
      const HalfFaces (&faces_y)[n], const Plane &plane) const
  {
    const int first = row_of(half) * row_y + cell;
    const Number *const own = plane.own + first;
    C *const to = plane.sum + first;
    const C *const edges = shared.edges(warp);
    V u[n];
    LineSums<V> sums;
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      u[i] = load(own + j * mode_y + i * mode_x);
      sums.add(i, p.v[i], p.h[i], u[i]);
    }
    const Faces<V> faces = couple(load_pack<2>(edges + 2 * j), load_pack<2>(edges + 2 * n + 2 * j),
        sums.lower(), sums.upper());
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      V sum = of_yz * u[i];
      add_product(sum, p.lambda[0][i], u[i]);
      add_product(sum, p.vd[0][i], faces.v[i % 2]);
      add_product(sum, p.gd[0][i], faces.g[i % 2]);
      add_product(sum, vd, faces_y[i].v);
      add_product(sum, gd, faces_y[i].g);
      if (mine)
        write_pack(to + j * mode_y + i * mode_x, sum);
    }
  }
};
} // namespace tensormg::laplace::layers
