// What the `cpu` backend multiplies traces and modes by: the same numbers for all cells, or numbers of each cell.
//
// A coefficient has, for the kernels of this folder,
//   coupling(trace weights, d, cy, cz, x0): what couples lines in direction d of the row of cells (cy, cz), from cell x0 on;
//   Diagonal, in CpuWeights: what modes of a cell are multiplied by.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/core/simd.h"
#include "kernels/laplace/cellwise/cellwise.h"

namespace tensormg::laplace
{
/// The four numbers that couple a line to its neighbours: those with v and with g (or h), for even and for odd modes.
template <typename C, int W>
using CpuPairs = std::array<simd::Vec<C, W>, 4>;

/// Arguments::factor for all cells.
template <typename Number>
struct OneCoefficient
{
  static constexpr bool per_cell = false;
  using C = Compute<Number>;

  /// (V, D) of the neighbours: m the right traces of the left one, p the left traces of the right one.
  template <int n>
  struct Coupling
  {
    template <int W>
    TENSORMG_INLINE static CpuPairs<C, W> with_own(std::int64_t /*cell*/, simd::Vec<C, W> /*vl*/,
        simd::Vec<C, W> /*vr*/, simd::Vec<C, W> vm, simd::Vec<C, W> dm, simd::Vec<C, W> vp,
        simd::Vec<C, W> dp)
    {
      return {dm - dp, vp + vm, -(dm + dp), vp - vm};
    }
    /// own: the line of the cell, whose modes are `stride` apart.
    template <int W>
    TENSORMG_INLINE static CpuPairs<C, W> of_line(std::int64_t /*cell*/, const Number * /*own*/,
        std::int64_t /*stride*/, simd::Vec<C, W> vm, simd::Vec<C, W> dm, simd::Vec<C, W> vp,
        simd::Vec<C, W> dp)
    {
      return {dm - dp, vp + vm, -(dm + dp), vp - vm};
    }
  };
  template <int n, typename Weights>
  Coupling<n> coupling(const Weights & /*traces*/, int /*d*/, std::int64_t /*cy*/,
      std::int64_t /*cz*/, std::int64_t /*x0*/ = 0) const
  {
    return {};
  }
};

/// CellNumbers.
template <typename Number>
struct CellCoefficient
{
  static constexpr bool per_cell = true;
  using C = Compute<Number>;

  CellNumbers<C> cells;
  C penalty{};

  /// The numbers of a row of places.
  const C *of_cells(const C *numbers, std::int64_t cy, std::int64_t cz) const
  {
    return numbers + cy * cells.row + cz * cells.plane;
  }

  template <int n>
  struct Coupling
  {
    const C *c;             ///< of the first cell
    std::int64_t neighbour; ///< from a cell to the next one
    C penalty;
    std::array<C, n> v;

    template <int W>
    TENSORMG_INLINE CpuPairs<C, W> with_own(std::int64_t cell, simd::Vec<C, W> vl,
        simd::Vec<C, W> vr, simd::Vec<C, W> vm, simd::Vec<C, W> dm, simd::Vec<C, W> vp,
        simd::Vec<C, W> dp) const
    {
      using V = simd::Vec<C, W>;
      const C half = C(0.5) * penalty;
      const V own = simd::load<W>(c + cell), left = simd::load<W>(c + cell - neighbour),
              right = simd::load<W>(c + cell + neighbour);
      // tau V' with tau = half (c + c'), and (tau - penalty c) V = half (c' - c) V
      const V p_left = half * ((left - own) * vl - (left + own) * vm) + left * dm;
      const V p_right = half * ((right - own) * vr - (right + own) * vp) - right * dp;
      return {p_right + p_left, own * (vp + vm), p_right - p_left, own * (vp - vm)};
    }
    template <int W>
    TENSORMG_INLINE CpuPairs<C, W> of_line(std::int64_t cell, const Number *own,
        std::int64_t stride, simd::Vec<C, W> vm, simd::Vec<C, W> dm, simd::Vec<C, W> vp,
        simd::Vec<C, W> dp) const
    {
      simd::Vec<C, W> even{}, odd{};
#pragma GCC unroll 9
      for (int m = 0; m < n; ++m)
        (m % 2 == 0 ? even : odd) += v[m] * simd::load<W>(own + m * stride);
      return with_own<W>(cell, even - odd, even + odd, vm, dm, vp, dp);
    }
  };
  template <int n, typename Weights>
  Coupling<n> coupling(
      const Weights &traces, int d, std::int64_t cy, std::int64_t cz, std::int64_t x0 = 0) const
  {
    return {of_cells(cells.c[d], cy, cz) + x0, cells.stride(d), penalty, traces.v};
  }
};

/// The parts of B u that stay in a cell, and D, for a row of cells and a mode in y.
template <int dim, int n, typename C>
struct CpuCellDiagonal
{
  std::array<const C *, 3> c, jump; ///< of the first cell of a chunk
  const C *reaction;
  std::array<C, n> lambda, square; ///< lambda_i, v_i^2
  C lambda_y, square_y;

  /// Of W cells and a mode in x, for all modes in z.
  template <int W>
  struct Line
  {
    simd::Vec<C, W> own, own_z, d, d_z;
    const std::array<C, n> &lambda, &square;

    TENSORMG_INLINE simd::Vec<C, W> of(int k) const
    {
      if constexpr (dim == 3)
        return own + lambda[k] * own_z;
      else
        return own;
    }
    TENSORMG_INLINE simd::Vec<C, W> d_of(int k) const
    {
      if constexpr (dim == 3)
        return d + (lambda[k] * own_z + square[k] * d_z);
      else
        return d;
    }
  };

  template <int W, bool with_d>
  TENSORMG_INLINE Line<W> line(int i, std::int64_t x) const
  {
    Line<W> result{{}, {}, {}, {}, lambda, square};
    result.own = lambda[i] * simd::load<W>(c[0] + x) + lambda_y * simd::load<W>(c[1] + x) +
        simd::load<W>(reaction + x);
    if constexpr (dim == 3)
      result.own_z = simd::load<W>(c[2] + x);
    if constexpr (with_d)
    {
      result.d = result.own + square[i] * simd::load<W>(jump[0] + x) +
          square_y * simd::load<W>(jump[1] + x);
      if constexpr (dim == 3)
        result.d_z = simd::load<W>(jump[2] + x);
    }
    return result;
  }
};
} // namespace tensormg::laplace
