// Kernels and launch of the transfer on a device, for the files cuda_*.cu with one number type each.
#pragma once

#include <stdexcept>
#include <utility>

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/transfer/cuda.h"
#include "kernels/transfer/cuda_parameters.cuh"
#include "kernels/transfer/cuda_partial.cuh"
#include "kernels/transfer/cuda_tile.h"

namespace tensormg::transfer
{
/// Where a thread works.
template <typename Tile>
struct Place
{
  int lane = threadIdx.x % Tile::lanes;
  int group = threadIdx.x / Tile::lanes % Tile::groups; ///< fine plane of the coarse cell in 3D
  int part =
      threadIdx.x / (Tile::lanes * Tile::groups); ///< restriction: modes part, part + parts, ...
  int cx = blockIdx.x * Tile::lanes + lane;
  int cy = Tile::dim == 3 ? blockIdx.y : blockIdx.y * Tile::groups + group;
  int cz = blockIdx.z;
};

template <typename C>
__device__ inline C with_sign_of(int mode, C value)
{
  return mode % 2 == 0 ? value : -value;
}

/// The children's values of one mode a as sum and difference: the sum goes to the even modes of the parent,
/// the difference to the odd ones, since weights of the upper child are (-1)^(a+i) times those of the lower.
template <typename C>
struct ChildSums
{
  C sum, difference;
  __device__ ChildSums(int a, C lower, C upper)
    : sum(lower + with_sign_of(a, upper))
    , difference(lower - with_sign_of(a, upper))
  {}
  __device__ C for_mode(int i) const { return i % 2 == 0 ? sum : difference; }
};

/// Modes in x that a part of a plane has.
template <typename Tile, int part>
inline constexpr int columns = (Tile::n - part + Tile::parts - 1) / Tile::parts;

/// plane[b][m]: modes (b in y, part + m * parts in x) of the coarse cell from its 2 x 2 fine cells in one
/// fine plane.
template <typename Tile, int part, typename C = typename Tile::C>
__device__ void collect_plane(const TransferParameters<Tile> &p, const typename Tile::Number *fine,
    C (&plane)[Tile::n][columns<Tile, part>])
{
  constexpr int n = Tile::n, n_columns = columns<Tile, part>;
#pragma unroll(Tile::plane_in_registers ? n : 1)
  for (int j = 0; j < n; ++j)
  {
    C row[2][n_columns] = {};
#pragma unroll
    for (int s = 0; s < 2; ++s)
    {
      const typename Tile::Number *line = fine + (s * n + j) * p.fine_row();
      Pack<C, 2> pair[n];
#pragma unroll
      for (int a = 0; a < n; ++a)
        pair[a] = load_pack<2>(line + a * p.fine_pitch);
#pragma unroll
      for (int a = 0; a < n; ++a)
      {
        const ChildSums<C> child(a, pair[a].at[0], pair[a].at[1]);
#pragma unroll
        for (int m = 0; m < n_columns; ++m)
        {
          const int i = part + m * Tile::parts;
          row[s][m] = fma(p.weight[a][i], child.for_mode(i), row[s][m]);
        }
      }
    }
#pragma unroll
    for (int m = 0; m < n_columns; ++m)
    {
      const ChildSums<C> child(j, row[0][m], row[1][m]);
#pragma unroll
      for (int b = 0; b < n; ++b)
        plane[b][m] = fma(p.weight[j][b], child.for_mode(b), plane[b][m]);
    }
  }
}

/// Collects a part of a plane and gives it to take(b, i, value).
template <typename Tile, int part, typename Take>
__device__ void restrict_part(
    const TransferParameters<Tile> &p, const Place<Tile> &at, const Take &take)
{
  constexpr int n = Tile::n, n_columns = columns<Tile, part>;
  typename Tile::C plane[n][n_columns] = {};
  if (at.cx < p.cells_x && at.cy < p.cells_y)
  {
    const std::int64_t fine_plane = Tile::dim == 3 ? at.cz * 2 * n + at.group : 0;
    collect_plane<Tile, part>(
        p, p.src + fine_plane * p.fine_plane + at.cy * 2 * n * p.fine_row() + 2 * at.cx, plane);
  }
#pragma unroll
  for (int b = 0; b < n; ++b)
#pragma unroll
    for (int m = 0; m < n_columns; ++m)
      take(b, part + m * Tile::parts, plane[b][m]);
}

template <typename Tile>
__global__ void __launch_bounds__(
    Tile::restrict_threads, Tile::blocks_for(Tile::restrict_threads, Tile::restrict_registers))
    restrict_kernel(const __grid_constant__ TransferParameters<Tile> p)
{
  using C = typename Tile::C;
  using Number = typename Tile::Number;
  constexpr int n = Tile::n;
  const Place<Tile> at;
  Number *coarse = p.dst + std::int64_t(at.cz) * Tile::nz * p.coarse_plane +
      std::int64_t(at.cy) * n * p.coarse_row() + at.cx;
  C *shared = reinterpret_cast<C *>(dynamic_shared()) + at.lane;
  const auto take = [&](int b, int i, C value) {
    if constexpr (Tile::dim == 3)
      shared[at.group * Tile::plane_stride + (b * n + i) * Tile::lanes] = value;
    else if (at.cx < p.coarse_pitch && at.cy < p.cells_y)
      store_pack(coarse + b * p.coarse_row() + i * p.coarse_pitch, Pack<C, 1>(p.factor * value));
  };
  // The same part for all threads of a warp, or of half a warp.
  if (Tile::parts == 1 || at.part == 0)
    restrict_part<Tile, 0>(p, at, take);
  else
    restrict_part<Tile, Tile::parts - 1>(p, at, take);
  if constexpr (Tile::dim == 3)
  {
    __syncthreads();
    if (at.cx >= p.coarse_pitch)
      return;
#pragma unroll 1
    for (int line = at.part * Tile::groups + at.group; line < Tile::lines;
         line += Tile::parts * Tile::groups)
    {
      C result[n] = {};
#pragma unroll
      for (int k = 0; k < n; ++k)
      {
        const C *lower = shared + k * Tile::plane_stride + line * Tile::lanes;
        const ChildSums<C> child(k, lower[0], lower[n * Tile::plane_stride]);
#pragma unroll
        for (int c = 0; c < n; ++c)
          result[c] = fma(p.weight[k][c], child.for_mode(c), result[c]);
      }
      Number *to =
          coarse + std::int64_t(line) * p.coarse_pitch; // rows of n lines follow each other
#pragma unroll
      for (int c = 0; c < n; ++c)
        store_pack(to + c * p.coarse_plane, Pack<C, 1>(p.factor * result[c]));
    }
  }
}

/// The values of both children for mode a from the parent's modes u_i, given by u(i).
template <typename Tile, typename C, typename Values>
__device__ inline Pack<C, 2> expand(const TransferParameters<Tile> &p, int a, const Values &u)
{
  C even = 0, odd = 0;
#pragma unroll
  for (int i = 0; i < Tile::n; i += 2)
    even = fma(p.weight[a][i], u(i), even);
#pragma unroll
  for (int i = 1; i < Tile::n; i += 2)
    odd = fma(p.weight[a][i], u(i), odd);
  Pack<C, 2> children;
  children.at[0] = even + odd;
  children.at[1] = with_sign_of(a, even - odd);
  return children;
}

/// Writes 2 x 2 fine cells in one fine plane from plane(b, i), the modes of the coarse cell there.
template <typename Tile, typename C = typename Tile::C, typename Plane>
__device__ void expand_plane(
    const TransferParameters<Tile> &p, const Plane &plane, typename Tile::Number *fine, bool inside)
{
  using Number = typename Tile::Number;
  constexpr int n = Tile::n;
  // With the plane in registers all is known at compile time; otherwise the code stays short and the
  // compiler must not hold the plane.
#pragma unroll(Tile::plane_in_registers ? n : 1)
  for (int j = 0; j < n; ++j)
  {
    Number *lines[2] = {fine + j * p.fine_row(), fine + (n + j) * p.fine_row()};
    Pack<C, 2> before[2][n];
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int a = 0; a < n; ++a)
        before[s][a] = p.add ? load_pack<2>(lines[s] + a * p.fine_pitch) : Pack<C, 2>(C(0));
    Pack<C, 2> rows[n]; // of both children in y
#pragma unroll
    for (int i = 0; i < n; ++i)
      rows[i] = expand<Tile, C>(p, j, [&](int b) { return plane(b, i); });
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int a = 0; a < n; ++a)
      {
        const Pack<C, 2> value = expand<Tile, C>(p, a, [&](int i) { return rows[i].at[s]; });
        Number *const to = lines[s] + a * p.fine_pitch;
        // Beyond the cells there is padding only.
        Pack<C, 2> sum = inside ? before[s][a] + value : Pack<C, 2>(C(0));
        if (p.dst_rest == nullptr)
        {
          store_pack(to, sum);
          continue;
        }
        Number *const rest = p.dst_rest + (to - p.dst);
        if (p.add_rest && inside)
          sum = sum + load_pack<2>(rest);
        store_pack(to, sum);
        store_pack(rest, sum - load_pack<2>(to));
      }
  }
}

/// The same from read(b, i), which may be a costly access.
template <typename Tile, typename C = typename Tile::C, typename Read>
__device__ void expand_cell(
    const TransferParameters<Tile> &p, const Read &read, typename Tile::Number *fine, bool inside)
{
  constexpr int n = Tile::n;
  if constexpr (Tile::plane_in_registers)
  {
    C plane[n][n];
#pragma unroll
    for (int b = 0; b < n; ++b)
#pragma unroll
      for (int i = 0; i < n; ++i)
        plane[b][i] = read(b, i);
    expand_plane<Tile>(
        p, [&](int b, int i) { return plane[b][i]; }, fine, inside);
  }
  else
    expand_plane<Tile>(p, read, fine, inside);
}

/// What is prolongated from a place in p.src.
template <typename Tile>
__device__ typename Tile::C coarse_number(
    const TransferParameters<Tile> &p, const typename Tile::Number *from)
{
  const typename Tile::C number = load_pack<1>(from).at[0];
  return p.src_rest == nullptr ? number : number + load_pack<1>(p.src_rest + (from - p.src)).at[0];
}

template <typename Tile>
__global__ void __launch_bounds__(Tile::prolongate_threads,
    Tile::blocks_for(Tile::prolongate_threads, Tile::prolongate_registers))
    prolongate_kernel(const __grid_constant__ TransferParameters<Tile> p)
{
  using C = typename Tile::C;
  using Number = typename Tile::Number;
  constexpr int n = Tile::n;
  const Place<Tile> at;
  const bool inside = at.cx < p.cells_x;
  const bool writes = 2 * at.cx < p.fine_pitch && at.cy < p.cells_y;
  const Number *coarse = p.src + std::int64_t(at.cz) * Tile::nz * p.coarse_plane +
      std::int64_t(at.cy) * n * p.coarse_row() + at.cx;
  const std::int64_t fine_plane = Tile::dim == 3 ? at.cz * 2 * n + at.group : 0;
  Number *fine = p.dst + fine_plane * p.fine_plane + at.cy * 2 * n * p.fine_row() + 2 * at.cx;
  if constexpr (Tile::dim == 2)
  {
    if (!writes)
      return;
    expand_cell<Tile>(
        p,
        [&](int b, int i) {
          const Number *from = coarse + b * p.coarse_row() + i * p.coarse_pitch;
          return inside ? p.factor * coarse_number(p, from) : C(0);
        },
        fine, inside);
  }
  else
  {
    C *shared = reinterpret_cast<C *>(dynamic_shared()) + at.lane;
    if (inside)
#pragma unroll 1
      for (int line = at.group; line < Tile::lines; line += Tile::groups)
      {
        const Number *from = coarse + std::int64_t(line) * p.coarse_pitch;
        C u[n];
#pragma unroll
        for (int c = 0; c < n; ++c)
          u[c] = p.factor * coarse_number(p, from + c * p.coarse_plane);
        C *to = shared + line * Tile::lanes;
#pragma unroll
        for (int k = 0; k < n; ++k)
        {
          const Pack<C, 2> children = expand<Tile, C>(p, k, [&](int c) { return u[c]; });
          to[k * Tile::plane_stride] = children.at[0];
          to[(n + k) * Tile::plane_stride] = children.at[1];
        }
      }
    __syncthreads();
    if (!writes)
      return;
    const C *of_plane = shared + at.group * Tile::plane_stride;
    expand_cell<Tile>(
        p, [&](int b, int i) { return of_plane[(b * n + i) * Tile::lanes]; }, fine, inside);
  }
}

/// Blocks that cover the coarse cells and `pitch` cells in x.
template <typename Tile>
dim3 transfer_grid(const Block &coarse, std::int64_t pitch)
{
  const std::int64_t rows = Tile::dim == 3 ? 1 : Tile::groups;
  return {static_cast<unsigned>((pitch + Tile::lanes - 1) / Tile::lanes),
      static_cast<unsigned>((coarse.cells[1] + rows - 1) / rows),
      static_cast<unsigned>(coarse.cells[2])};
}

template <typename Tile>
void launch_transfer(const char *name, void (*kernel)(TransferParameters<Tile>), dim3 grid,
    int threads, const TransferParameters<Tile> &p, Stream stream)
{
  // Once per kernel and device: more shared memory than a kernel has without asking.
  resident_blocks(reinterpret_cast<const void *>(kernel), threads, Tile::shared_bytes);
  launch(name, kernel, grid, threads, Tile::shared_bytes, stream, p);
}

/// Calls f.template operator()<dim, n>() for a dimension and a number of modes known at run time.
template <typename F>
void for_tile(const Block &block, const F &f)
{
  const auto with_dim = [&]<int dim>(std::integral_constant<int, dim>) {
    return [&]<int... p>(std::integer_sequence<int, p...>)
    {
      return ((block.n == p + 2 ? (f.template operator()<dim, p + 2>(), true) : false) || ...);
    }
    (std::make_integer_sequence<int, max_degree>());
  };
  if (!(block.dim == 2 ? with_dim(std::integral_constant<int, 2>())
                       : with_dim(std::integral_constant<int, 3>())))
    throw std::invalid_argument("transfer: degree is not in 1..8");
}

template <typename Number>
void prolongate_cuda(const Prolongate<Number> &a, Stream stream, Compute<Number> *between)
{
  if (n_halved(a.fine, a.coarse) < a.fine.dim)
    return prolongate_partially(a, stream, between);
  for_tile(a.fine, [&]<int dim, int n>() {
    using Tile = TransferTile<Number, dim, n>;
    TransferParameters<Tile> p = transfer_parameters<Tile>(a.fine, a.coarse, *a.basis, a.factor);
    p.add = a.add;
    p.add_rest = a.add_rest;
    p.src = a.src;
    p.src_rest = a.src_rest;
    p.dst = a.dst;
    p.dst_rest = a.dst_rest;
    launch_transfer("launching the prolongation", &prolongate_kernel<Tile>,
        transfer_grid<Tile>(a.coarse, a.fine.pitch / 2), Tile::prolongate_threads, p, stream);
  });
}

template <typename Number>
void restrict_cuda(const Restrict<Number> &a, Stream stream, Compute<Number> *between)
{
  if (n_halved(a.fine, a.coarse) < a.fine.dim)
    return restrict_partially(a, stream, between);
  for_tile(a.fine, [&]<int dim, int n>() {
    using Tile = TransferTile<Number, dim, n>;
    TransferParameters<Tile> p =
        transfer_parameters<Tile>(a.fine, a.coarse, *a.basis, a.factor / (dim == 3 ? 8. : 4.));
    p.src = a.src;
    p.dst = a.dst;
    launch_transfer("launching the restriction", &restrict_kernel<Tile>,
        transfer_grid<Tile>(a.coarse, a.coarse.pitch), Tile::restrict_threads, p, stream);
  });
}
} // namespace tensormg::transfer
