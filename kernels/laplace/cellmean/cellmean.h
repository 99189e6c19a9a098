// CONTRACT of the SIPG operator on curved cells with one metric per cell.
//
// Formula. That of kernels/laplace/pointwise/pointwise.h with G and T that are constant on a cell and on each of its sides, so that all is in modes and
// no points are needed. C_a u are the modes of d_a u, along a: C_ji = (phi_j, phi_i'), which couples even and odd modes alone. In a cell
//   A u = sum_a C_a' (sum_b G_ab C_b u) + c u,   c the mean of |det J| times the reaction.
// On side e = (direction a, end s = -1 or +1), in the modes of the tangential directions b, with v_i and d_i value and derivative of mode i at that
// end, both along a,
//   V = sum_i v_i u_i,   F = s (G_aa sum_i d_i u_i + sum_b G_ab C_b V),
//   T >= sigma / 2 (kappa G_aa + kappa' G_aa'), sigma = p (p + 1), the same on both sides of a face,
//   j = V - V',   alpha = T j - (F - F') / 2,   beta = -j / 2,
// and mode i along a receives
//   v_i (alpha + s sum_b G_ab C_b' beta) + d_i s G_aa beta.
// Behind closed sides (V', F') = (-V, -F) at Side::dirichlet, (V, F + 2 T V) at Side::neumann, T there the mean of r times the element of the surface.
// With the same G at all points of a cell both operators are the same.
// Source: as there. With kappa the largest eigenvalue of D^-1/2 G D^-1/2, D = diag G, A is positive definite.
//
// As `cpu` has it: with C = K + (v_+ v_+' - v_- v_-') / 2 = K + M / 2, K antisymmetric, what a cell has of itself is
//   sum_a G_aa lambda_i  -  sum over a < b of G_ab (2 K_a K_b + M_a M_b / 2)  +  sum over sides of (T - sigma G_aa) v_i V,
// lambda of CellBasis; M_a M_b is corners of the cell.
//
// Cells, blocks, links and vectors as in pointwise.h. FaceMap takes mode (a, b) of a side to one of the neighbour's, where each turned direction
// changes the sign of odd modes.
// Arrays: numbers of cells [G_xx, G_yy, G_zz, G_xy, G_xz, G_yz; T of side 0, 1, ..; c] (2D: xx, yy, xy), for each row of cells (iy + N iz) one after
// the other `pitch` cells. Traces of cells at sides of blocks: [block][side][cell of the side][V, F][q], q = a + n b, cells in the order of
// side_place().
// Oracle: reference.cc, itself compared with that of pointwise.h. Tests: tests/operators/cellmean/.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"
#include "kernels/core/face_map.h"
#include "kernels/core/half.h"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg::laplace
{
constexpr int cell_mean_numbers(int dim) { return volume_numbers(dim) + 2 * dim + 1; }
/// Places among them; those of G are volume_place().
constexpr int penalty_place(int dim, int side) { return volume_numbers(dim) + side; }
constexpr int reaction_place(int dim) { return volume_numbers(dim) + 2 * dim; }
/// Place of a number of cell (cx, row).
constexpr std::int64_t cell_mean_index(
    const Block &block, std::int64_t row, int number, std::int64_t cx)
{
  return (row * cell_mean_numbers(block.dim) + number) * block.pitch + cx;
}
constexpr std::int64_t cell_mean_size(const Block &block)
{
  return cell_mean_index(block, block.cells[1] * block.cells[2], 0, 0);
}

/// Cells of a side of a block, of N^dim cells.
constexpr std::int64_t cells_of_side(int dim, std::int64_t per_direction)
{
  return dim == 3 ? per_direction * per_direction : per_direction;
}
/// Of V and F of a side of a cell.
constexpr std::int64_t numbers_of_trace(const Block &block) { return 2 * points_of_face(block); }
/// Where those of a cell begin which is at that side of its block, cells of the stacked block.
constexpr std::int64_t border_index(const Block &block, std::int64_t per_direction,
    const std::array<std::int64_t, 3> &cell, int side)
{
  const std::array<std::int64_t, 3> inside{cell[0] % per_direction, cell[1], cell[2]};
  const auto [a, b] = tangential(side / 2);
  const std::int64_t place = inside[a] + (block.dim == 3 ? per_direction * inside[b] : 0),
                     of_block = cell[0] / per_direction * 2 * block.dim + side;
  return (of_block * cells_of_side(block.dim, per_direction) + place) * numbers_of_trace(block);
}
constexpr std::int64_t border_size(const Block &block, std::int64_t per_direction)
{
  return block.cells[0] / per_direction * 2 * block.dim * cells_of_side(block.dim, per_direction) *
      numbers_of_trace(block);
}

/// What is behind a side of a cell: PointBehind of cells with one point, and how its modes lie.
struct CellBehind
{
  PointBehind place; ///< remote: [remote][V, F][q]
  FaceMap map;
};
constexpr CellBehind cell_behind(const Block &block, std::int64_t per_direction,
    const BlockLink *links, const std::array<std::int64_t, 3> &cell, int side)
{
  const int d = side / 2;
  const std::int64_t inside = d == 0 ? cell[0] % per_direction : cell[d],
                     end = side % 2 == 1 ? per_direction - 1 : 0;
  const Block with_points(block.dim, 0, block.cells);
  return {point_behind(with_points, per_direction, links, cell, side, 0, 0),
      inside == end ? links[cell[0] / per_direction * 2 * block.dim + side].map : FaceMap{}};
}
/// Mode (a, b) of a side is `sign` times mode q of the one behind.
struct ModeBehind
{
  int q = 0;
  int sign = 1;
};
constexpr ModeBehind mode_behind(const FaceMap &map, int n, int a, int b)
{
  const std::array<int, 2> to = map.exchange ? std::array{b, a} : std::array{a, b};
  const bool is_negative = (map.flip[0] && to[0] % 2 == 1) != (map.flip[1] && to[1] % 2 == 1);
  return {to[0] + n * to[1], is_negative ? -1 : 1};
}

/// C: result[j * n + i] = (phi_j, phi_i').
inline std::array<double, max_n * max_n> derivative_of_modes(const CellBasis &basis)
{
  // Of the orthonormal Legendre polynomials: (L_k, L_m') = 2 sqrt((2k + 1) (2m + 1)) for k < m, m - k odd.
  const int n = basis.n;
  std::array<double, max_n * max_n> result{};
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      for (int m = 0; m < n; ++m)
        for (int k = m - 1; k >= 0; k -= 2)
          result[j * n + i] += 2. * std::sqrt((2. * k + 1.) * (2. * m + 1.)) *
              basis.legendre[k * n + j] * basis.legendre[m * n + i];
  return result;
}

template <typename Number>
struct CellMeanArguments
{
  using C = Compute<Number>;

  Block block;
  std::int64_t per_direction = 1; ///< N
  const CellBasis *basis = nullptr;
  const BlockLink *links = nullptr; ///< [block][side]
  const C *numbers = nullptr;       ///< cell_mean_size()
  const Number *src = nullptr;
  Number *dst = nullptr;
  const Number *b = nullptr; ///< nullptr: A src; otherwise b - A src
  /// With b a step of Chebyshev: dst = src + theta (src - old) + alpha inverse_diagonal (b - A src). old may be dst; nullptr: zero.
  const C *inverse_diagonal = nullptr;
  const Number *old = nullptr;
  C theta{}, alpha{};
  C *traces = nullptr; ///< border_size() numbers; not of the reference
  /// V and F of sides that are on other ranks, [PointBehind::remote]: there when traces_are_written(), which is called between the passes, has
  /// returned; of the reference from the beginning.
  const C *remote_traces = nullptr;
  Callback traces_are_written;
};

/// dst = A src, b - A src or the step, by plain loops. Every entry of dst is written, padding with zero. Synchronous; the same input gives the same
/// bits.
template <typename Number>
void apply_cell_mean_reference(const CellMeanArguments<Number> &arguments);

template <typename Number>
using ApplyCellMean = void(const CellMeanArguments<Number> &);
/// The same in vector code: neighbouring cells side by side.
template <typename Number>
ApplyCellMean<Number> *cell_mean_cpu(int dim, int degree);
} // namespace tensormg::laplace
