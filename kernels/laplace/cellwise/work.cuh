// What the blocks of the device kernel of cellwise.h work on: see cuda_kernel.cuh.
#pragma once

#include <array>

#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/cellwise/cellwise.h"
#include "kernels/laplace/cellwise/lines.cuh"
#include "kernels/laplace/cellwise/tile.h"

namespace tensormg::laplace
{
template <typename Tile>
struct CellwiseParameters
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  C v[n], h[n], lambda[n], v2[n]; ///< v2: v_i^2
  C half_penalty, theta, alpha;
  Block block;
  std::array<Side, 6> sides;
  std::array<const C *, 6> ghost;
  CellNumbers<C> cells;
  const Number *src, *b, *old;
  Number *dst;
  int layers;                 ///< of a segment
  int first_layer, end_layer; ///< of what is computed
};

namespace cellwise
{
  /// What a block works on.
  template <typename Tile>
  struct Work
  {
    using Number = typename Tile::Number;
    using C = typename Tile::C;
    static constexpr int n = Tile::n, dim = Tile::dim, march = dim - 1;

    int x0, y0;     ///< first cells of the tile
    int rows;       ///< of cells that are in the block; 2D: strips
    int begin, end; ///< layers
    int last;       ///< layer that is needed

    __device__ __forceinline__ explicit Work(const CellwiseParameters<Tile> &p)
    {
      const Block &block = p.block;
      const int cells = int(block.cells[march]);
      x0 = int(blockIdx.x) * (dim == 3 ? 1 : Tile::rows) * Tile::cells_x;
      y0 = dim == 3 ? int(blockIdx.y) * Tile::rows : 0;
      const int strips = (int(block.pitch) - x0 + Tile::cells_x - 1) / Tile::cells_x;
      rows = min(dim == 3 ? int(block.cells[1]) - y0 : strips, Tile::rows);
      begin = p.first_layer + int(blockIdx.z) * p.layers;
      end = min(begin + p.layers, p.end_layer);
      last = min(end, cells - 1);
    }
    /// From mode to mode in the direction of the march.
    __device__ __forceinline__ static std::int64_t plane(const CellwiseParameters<Tile> &p)
    {
      return dim == 3 ? p.block.plane() : p.block.row();
    }
    /// Mode 0 of a unit's row in layer 0, at the first cell of the tile or strip.
    __device__ __forceinline__ std::int64_t first_of_unit(
        const CellwiseParameters<Tile> &p, int unit) const
    {
      return dim == 3 ? (std::int64_t(y0) * n + unit) * p.block.row() + x0
                      : x0 + unit * Tile::cells_x;
    }
    __device__ __forceinline__ int x_of_unit(int unit) const
    {
      return dim == 3 ? x0 : x0 + unit * Tile::cells_x;
    }
    /// Of the numbers of the cell there, in layer c.
    __device__ __forceinline__ std::int64_t number_of_unit(
        const CellwiseParameters<Tile> &p, int unit, int c) const
    {
      return x_of_unit(unit) +
          (dim == 3 ? (y0 + unit / n) * p.cells.row + c * p.cells.plane : c * p.cells.row);
    }
    // Shared memory.
    __device__ __forceinline__ static Number *layer(int c)
    {
      return reinterpret_cast<Number *>(dynamic_shared()) + c % 2 * Tile::layer_numbers;
    }
    __device__ __forceinline__ static C *sums()
    {
      return reinterpret_cast<C *>(dynamic_shared() + Tile::sums_offset);
    }
    __device__ __forceinline__ static Number *halo(bool upper)
    {
      return reinterpret_cast<Number *>(dynamic_shared() + Tile::halo_offset) +
          (upper ? n * Tile::unit_numbers : 0);
    }
    __device__ __forceinline__ static C *edges(int c, int unit)
    {
      return reinterpret_cast<C *>(dynamic_shared() + Tile::edges_offset) +
          c % 2 * Tile::layer_edges + unit * Tile::unit_edges;
    }
  };

  /// Behind a closed side, from the own trace there, at the number of the cells behind.
  template <int width, typename Tile, typename C = typename Tile::C>
  __device__ __forceinline__ Trace<Pack<C, width>> behind(const CellwiseParameters<Tile> &p,
      int side, std::int64_t number, const Trace<Pack<C, width>> &own)
  {
    Pack<C, width> kappa(C(0));
    if (p.sides[side] == Side::neumann)
      kappa = numbers<width>(p.cells.jump[side / 2] + number);
    return reflected(value_reflection<C>(p.sides[side]), side % 2 == 1, kappa, own);
  }

  /// Traces at cells from x on; padding is ignored.
  template <typename Tile, typename C = typename Tile::C>
  __device__ __forceinline__ Trace<Pack<C, Tile::width>> ghost(const CellwiseParameters<Tile> &p,
      int side, std::int64_t lines, std::int64_t of_line, int i, int x)
  {
    const C *const from = p.ghost[side] + of_line * p.block.row() + i * p.block.pitch + x;
    Trace<Pack<C, Tile::width>> result;
#pragma unroll
    for (int w = 0; w < Tile::width; ++w)
    {
      const bool there = x + w < p.block.cells[0];
      result.v.at[w] = there ? from[w] : C(0);
      result.d.at[w] = there ? from[lines * p.block.row() + w] : C(0);
    }
    return result;
  }
} // namespace cellwise
} // namespace tensormg::laplace
