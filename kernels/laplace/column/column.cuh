// The `cuda` backend in 3D, low degrees: a lane owns a column of cells, docs/kernels.md.
//
// A block owns a tile of cells in x-y and visits the planes (mode k of layer c) in the order of memory. One
// thread copies them into a ring in shared memory, with the cells around the tile. Every warp works on a row
// of cells and never meets the others: what it needs of the rows below and above it sums itself.
// A lane holds B u of its cells in one layer, all n^3 modes, and adds per layer:
//   faces in z    sums over the n planes of the layer; the traces go from layer to layer in registers. The
//                 layer before is then complete and written.
//   faces in x    sums along its lines; traces of neighbouring lanes by shuffles, those beside the row from
//                 sums that each lane forms for one line per layer.
//   faces in y    sums along the lines of the rows below and above.
// The fused forms add b and old plane by plane: residual and Chebyshev step are a sum like B u whose weights
// have the other sign, times a factor per mode in the end.
#pragma once

#include "kernels/laplace/column/tile.h"
#include "kernels/laplace/march/plane_rings.cuh"

namespace tensormg::laplace
{
/// Everything a launch of the column kernel needs. Traces are in units of v_0 and h_0, column::ScaledSums; `diagonal` is what u
/// is multiplied by, also in the Chebyshev step.
template <typename Tile>
struct LaneParameters : ModeParameters<Tile>
{
  using C = typename Tile::C;
  static constexpr int n = Tile::n;

  C near[3][n][n];   ///< what the modes of the cell above add to the modes, [d][to][from]
  C of_old[n][n][n]; ///< chebyshev: what old is multiplied by
  C inverse;         ///< 1 / (v_0 h_1 - v_1 h_0)
  C unit_v, unit_h;  ///< what the traces of ghosts are multiplied by
};

namespace column
{
  template <typename Tile>
  struct Shared : march::PlaneRings<Tile>
  {
    using typename march::PlaneRings<Tile>::Number;
    using C = typename Tile::C;
    using march::PlaneRings<Tile>::base;

    /// Traces beside the row of a warp, [left, right][k][j][V, D].
    __device__ C *edges(int warp) const
    {
      return reinterpret_cast<C *>(base + Tile::edge_offset) + warp * Tile::edge_numbers;
    }
    /// Where the lanes of a warp keep traces, if the tile wants that.
    __device__ C *parking(int warp) const
    {
      return reinterpret_cast<C *>(base + Tile::park_offset) + warp * Tile::park_numbers;
    }
    /// Results of a warp: [k][i][32 lanes][width] of one mode j.
    __device__ Number *staged(int warp, int slot) const
    {
      return reinterpret_cast<Number *>(
          base + Tile::staged_offset + (Tile::staged * warp + slot) * Tile::staged_bytes);
    }
  };
} // namespace column
} // namespace tensormg::laplace
