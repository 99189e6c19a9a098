// CONTRACT of the passes of the line inverse: the cell-wise fast diagonalisation of kernels/laplace/laplace.h, but with the exact
// one-dimensional operator, all cells and boundary conditions included, in some directions.
//
// Formula. In an exact direction d with C cells, c_d L_d = V_d diag(e_d) V_d' on all C n unknowns of a line (V_d orthogonal); in the
// others the cell's own eigenvalues c_d lambda are taken as they are. With V the product of the V_d of the exact directions,
//   D^-1 = V (sum_d e_d)^-1 V',
// one pass over a vector for each factor of V' and of V.
//   rotate:          dst = M src along one direction; with `diagonal`, dst = (M src) / D, 0 where D is 0
//   rotate_and_add:  dst = start + theta (start - old) + alpha M src; start = nullptr is zero, old = nullptr likewise.
//                    dst may be start or old.
//
// Arrays. Block's order, padding zero on entry (src) and on exit. `matrix`: (C n)^2 numbers, row-major [out][in], a line counted
// cell * n + mode. `diagonal`: what each direction adds to D, by position: x Block::row() numbers (padding: anything that is
// not zero), y rows_per_plane(), z planes().
// Ensures: every entry of dst is written; sums are taken in the order of `in`: the same input gives the same bits.
// Work: 2 C n flop per number and pass; reads src and writes dst once.
// Oracle: the dense inverse in tests/operators/constant/line_inverse_test.cc.
// Source: Lynch, Rice, Thomas, Numer. Math. 6 (1964).
#pragma once

#include <array>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::line_inverse
{
template <typename Src, typename C>
struct Rotate
{
  Block block;
  int direction = 0;
  const C *matrix = nullptr;
  const Src *src = nullptr;
  C *dst = nullptr;
  std::array<const C *, 3> diagonal{}; ///< nullptr: no division
};

template <typename Number>
struct RotateAndAdd
{
  using C = Compute<Number>;

  Block block;
  int direction = 0;
  const C *matrix = nullptr;
  const C *src = nullptr;
  double alpha = 1., theta = 0.;
  const Number *start = nullptr, *old = nullptr;
  Number *dst = nullptr;
};

template <typename Src, typename C>
void rotate(const Rotate<Src, C> &);
template <typename Number>
void rotate_and_add(const RotateAndAdd<Number> &);

/// The same in device memory, queued in `stream`.
template <typename Src, typename C>
TENSORMG_CUDA_FUNCTION void rotate_cuda(const Rotate<Src, C> &, Stream stream);
template <typename Number>
TENSORMG_CUDA_FUNCTION void rotate_and_add_cuda(const RotateAndAdd<Number> &, Stream stream);

/// Where the lines of a direction lie: a line begins at a position of its first cell and mode, and entry u is at
/// offset(u) from there.
struct LineStrides
{
  int n;
  std::int64_t mode, cell;

  constexpr LineStrides(const Block &block, int direction)
    : n(block.n)
    , mode(direction == 0      ? block.pitch
              : direction == 1 ? block.row()
                               : block.plane())
    , cell(direction == 0 ? 1 : n * mode)
  {}
  constexpr std::int64_t offset(int u) const { return u / n * cell + u % n * mode; }
};
} // namespace tensormg::line_inverse
