// Faces in y in the device kernel of cellwise.h: see cuda_kernel.cuh.
#pragma once

#include "kernels/laplace/cellwise/work.cuh"

namespace tensormg::laplace::cellwise
{
/// Lines in y of a lane in a tile, from bottom to top.
template <typename Tile>
class LinesY
{
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  static constexpr int n = Tile::n, width = Tile::width;
  static constexpr int line = Tile::cells_x; ///< from mode to mode in shared memory
  using V = Pack<C, width>;
  using Sums = LineSums<C, width>;
  using Trace = cellwise::Trace<V>;

  const CellwiseParameters<Tile> &p;
  const Work<Tile> &work;
  const int cell;        ///< of the lane in the tile
  const std::int64_t at; ///< of the numbers of its first cell in layer 0

public:
  __device__ __forceinline__ LinesY(
      const CellwiseParameters<Tile> &p_, const Work<Tile> &work_, int lane)
    : p(p_)
    , work(work_)
    , cell(lane * width)
    , at(min(work.x0 + cell, int(p.block.pitch) - width) + work.y0 * p.cells.row)
  {}

  /// The lines of layer c for which unit `first` of `units` is responsible.
  __device__ __forceinline__ void sum(int c, int first, int units) const
  {
#pragma unroll 1
    for (int of_line = first; of_line < n * n; of_line += units)
      sum_line(c, of_line);
  }

private:
  /// Line of modes k, i: what its faces give to the modes j of each row.
  __device__ __forceinline__ void sum_line(int c, int of_line) const
  {
    const Number *u = work.layer(c) + of_line * line + cell;
    C *to = work.sums() + of_line * line + cell;
    const C *of_y = p.cells.c[1] + at + c * p.cells.plane;
    V c_lower = numbers<width>(of_y - p.cells.row), c_here = numbers<width>(of_y);
    Sums here = sum_inside(u);
    Trace lower = work.y0 > 0
        ? sum_inside(work.halo(false) + of_line * line + cell).upper()
        : outside(c, of_line, 2, of_y - p.cells.row - p.cells.c[1], here.lower());
#pragma unroll(Tile::rows <= 4 ? Tile::rows : 1)
    for (int r = 0; r < Tile::rows; ++r)
    {
      if (r >= work.rows)
        break;
      of_y += p.cells.row;
      u += n * Tile::unit_numbers;
      const V c_upper = numbers<width>(of_y);
      Sums next;
      Trace upper;
      if (r + 1 < work.rows)
      {
        next = sum_inside(u);
        upper = next.lower();
      }
      else if (work.y0 + r + 1 < p.block.cells[1])
        upper = sum_inside(work.halo(true) + of_line * line + cell).lower();
      else
        upper = outside(c, of_line, 3, of_y - p.cells.c[1], here.upper());
      const FaceSums<C, width> faces(
          face_below(p.half_penalty, {c_here, c_lower}, here.lower(), lower),
          face_above(p.half_penalty, {c_here, c_upper}, here.upper(), upper));
#pragma unroll
      for (int m = 0; m < n; ++m, to += Tile::unit_numbers)
      {
        V sum(C(0));
        faces.add_to(sum, m % 2, p.v[m], p.h[m]);
        write_pack(to, sum);
      }
      lower = here.upper();
      here = next;
      c_lower = c_here;
      c_here = c_upper;
    }
  }
  __device__ __forceinline__ Sums sum_inside(const Number *of) const
  {
    Sums result;
#pragma unroll
    for (int m = 0; m < n; ++m)
      result.add(m % 2, p.v[m], p.h[m], load_pack<width>(of + m * Tile::unit_numbers));
    return result;
  }
  /// Behind a side of the block, at the number of the cells there.
  __device__ __forceinline__ Trace outside(
      int c, int of_line, int side, std::int64_t number, const Trace &inside) const
  {
    return p.sides[side] == Side::ghost
        ? ghost(p, side, p.block.planes(), c * n + of_line / n, of_line % n, work.x0 + cell)
        : behind<width>(p, side, number, inside);
  }
};
} // namespace tensormg::laplace::cellwise
