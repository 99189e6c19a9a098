// CONTRACT of the SIPG operator on curved cells with a metric at points.
//
// Formula. Of a cell x(xi), xi in [0, 1]^d, with J = dx/dxi and the diffusion tensor K, the metric is G = |det J| J^-1 K J^-T. With u in
// the basis of CellBasis, n Gauss points in each direction and their weights w,
//   (A u, v) = sum over cells, points of w (grad_xi v) . G (grad_xi u)  +  sum over faces, points of alpha [v] - {F(v)} [u]
// On side e = (direction a, end s = -1 or +1) of a cell, at the points of the face in its tangential directions b:
//   V = u,   F = s (G_aa d_a u + sum_b G_ab d_b u): the outward flux times the element of the surface,
//   T = sigma / 2 (kappa rho G_aa + kappa' rho' G_aa'), sigma = p (p + 1), kappa and rho >= 1 (operators/pointwise/metric.h),
// primes those of the neighbour there, outward of itself,
//   j = V - V',   alpha = T j - (F - F') / 2,   beta = -j / 2,
// and the cell receives for each test function v of its own
//   w (alpha v + beta s (G_aa d_a v + sum_b G_ab d_b v)).
// The neighbour does the same with its own numbers, so that A is symmetric; a cell needs (V', F') of the other, never its metric. Behind
// closed sides G' = G, and (V', F') = (-V, -F) at Side::dirichlet, (V, F + 2 T V) at Side::neumann, T being r times the element of the
// surface there: K du/dn + r u = 0. With a reaction c the points of the volume add w |det J| c v u.
// Source: D. Arnold, F. Brezzi, B. Cockburn, D. Marini, SIAM J. Numer. Anal. 39 (2002); kappa keeps A definite on sheared cells, rho where G
// varies in a cell.
//
// Cells. Blocks of N^d cells, side by side in x: cell (ix, iy, iz) of block b is cell (b N + ix, iy, iz) of `block`. Links say what is behind
// the 2 d sides of each block, or that it is on another rank; through FaceMap, point (a, b) of a side of N n x N n points (2D: N n) is one of the neighbour's.
// Arrays. Vectors as in kernels/laplace/laplace.h. Numbers of points, all times w: for each row of cells (iy + N iz) one after the other, for
// each group of group_cells neighbouring cells in it, then for each number these cells:
//   volume   [q][G_xx, G_yy, G_zz, G_xy, G_xz, G_yz] (2D: xx, yy, xy), q = x + n y + n^2 z;
//   face     [side][q][G_aa, G_ab of the lower tangential direction, of the upper one, T] (2D without the third), q = a + n b;
//   reaction [q][|det J| c];
//   traces   [side][q][V, F without w], scratch;
//   powers   [G, reaction, T of each side]: of two, by which numbers in half precision (half_metric.h) are multiplied.
// Oracle: reference.cc, itself compared with matrices that deal.II assembles, tests/operators/pointwise/pointwise_oracle_test.cc.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"
#include "kernels/core/face_map.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// Behind a side of a block.
struct BlockLink
{
  Side kind = Side::dirichlet; ///< Side::ghost: another block, or the same one
  std::int32_t block = -1;
  std::int32_t side = 0;     ///< of that block
  FaceMap map;               ///< from places of this side to those of that one
  std::int32_t boundary = 0; ///< of a closed side: its number
  std::int32_t remote =
      -1; ///< where block = -1 is behind Side::ghost, that of another rank: number among such sides
};

/// The modes of CellBasis at n Gauss points of [0, 1].
struct PointTables
{
  std::array<double, max_n * max_n> value{};      ///< value[q * n + i]
  std::array<double, max_n * max_n> derivative{}; ///< likewise
  std::array<double, max_n> weight{};             ///< of the points
};

constexpr int volume_numbers(int dim) { return dim * (dim + 1) / 2; }
constexpr int face_numbers(int dim) { return dim + 1; }
/// The place of G_ab among them.
constexpr int volume_place(int dim, int a, int b) { return a == b ? a : dim == 2 ? 2 : 2 + a + b; }
constexpr std::int64_t points_of_cell(const Block &block)
{
  return std::int64_t{block.n} * block.n * block.nz();
}
constexpr std::int64_t points_of_face(const Block &block)
{
  return std::int64_t{block.n} * block.nz();
}

template <typename Stored>
struct PointNumbers
{
  const Stored *volume = nullptr;
  const Stored *face = nullptr;
  const Stored *reaction = nullptr; ///< nullptr: none
  const float *powers = nullptr;    ///< of Half: numbers are these times what is stored
};

/// Neighbouring cells of a row whose numbers lie side by side, a line of the cache in double: what a vector of cells needs is one piece of memory,
/// or two.
inline constexpr std::int64_t group_cells = row_granularity;
constexpr std::int64_t groups_of_row(const Block &block) { return block.pitch / group_cells; }
/// Where the numbers of cell (cx, row) begin, `of_cell` for each; one number and the next are group_cells apart.
constexpr std::int64_t group_index(
    const Block &block, std::int64_t row, std::int64_t of_cell, std::int64_t cx)
{
  return (row * groups_of_row(block) + cx / group_cells) * of_cell * group_cells + cx % group_cells;
}

/// Places in the arrays of PointNumbers, of cell (cx, row).
constexpr std::int64_t volume_index(
    const Block &block, std::int64_t row, std::int64_t q, int number, std::int64_t cx)
{
  const int numbers = volume_numbers(block.dim);
  return group_index(block, row, points_of_cell(block) * numbers, cx) +
      (q * numbers + number) * group_cells;
}
constexpr std::int64_t face_index(
    const Block &block, std::int64_t row, int side, std::int64_t q, int number, std::int64_t cx)
{
  const int numbers = face_numbers(block.dim);
  const std::int64_t of_side = points_of_face(block) * numbers;
  return group_index(block, row, 2 * block.dim * of_side, cx) +
      (side * of_side + q * numbers + number) * group_cells;
}
constexpr std::int64_t reaction_index(
    const Block &block, std::int64_t row, std::int64_t q, std::int64_t cx)
{
  return group_index(block, row, points_of_cell(block), cx) + q * group_cells;
}
constexpr std::int64_t trace_index(
    const Block &block, std::int64_t row, int side, std::int64_t q, int number, std::int64_t cx)
{
  const std::int64_t of_side = points_of_face(block) * 2;
  return group_index(block, row, 2 * block.dim * of_side, cx) +
      (side * of_side + q * 2 + number) * group_cells;
}
/// Of each cell: one power for G, one for the reaction, then those of T by sides.
constexpr int powers_of_cell(int dim) { return 2 + 2 * dim; }
constexpr int power_of_metric = 0, power_of_reaction = 1;
constexpr int power_of_penalty(int side) { return 2 + side; }
constexpr std::int64_t power_index(
    const Block &block, std::int64_t row, int number, std::int64_t cx)
{
  return group_index(block, row, powers_of_cell(block.dim), cx) + number * group_cells;
}
/// Sizes of these arrays.
constexpr std::int64_t volume_size(const Block &block)
{
  return volume_index(block, block.cells[1] * block.cells[2], 0, 0, 0);
}
constexpr std::int64_t face_size(const Block &block)
{
  return face_index(block, block.cells[1] * block.cells[2], 0, 0, 0, 0);
}
constexpr std::int64_t reaction_size(const Block &block)
{
  return reaction_index(block, block.cells[1] * block.cells[2], 0, 0);
}
constexpr std::int64_t power_size(const Block &block)
{
  return power_index(block, block.cells[1] * block.cells[2], 0, 0);
}
constexpr std::int64_t trace_size(const Block &block)
{
  return trace_index(block, block.cells[1] * block.cells[2], 0, 0, 0, 0);
}

/// What is behind a point of a side: a point of a side of another cell, unless `kind` says that the side is closed.
struct PointBehind
{
  Side kind = Side::ghost;
  std::array<std::int64_t, 3> cell{};
  int side = 0;
  std::int64_t a = 0, b = 0;
  std::int64_t remote = -1; ///< not negative: a point of another rank, whose place this is; no cell

  constexpr bool is_local() const { return kind == Side::ghost && remote < 0; }
};
/// Behind point (qa, qb) of a side of a cell, which is one of `block`.
constexpr PointBehind point_behind(const Block &block, std::int64_t per_direction,
    const BlockLink *links, const std::array<std::int64_t, 3> &cell, int side, std::int64_t qa,
    std::int64_t qb)
{
  const int d = side / 2, n = block.n;
  const std::int64_t of_block = cell[0] / per_direction;
  const std::array<std::int64_t, 3> inside{cell[0] % per_direction, cell[1], cell[2]};
  const std::int64_t next = inside[d] + (side % 2 == 1 ? 1 : -1);
  PointBehind result{Side::ghost, cell, side ^ 1, qa, qb};
  if (next >= 0 && next < per_direction)
  {
    result.cell[d] += next - inside[d];
    return result;
  }
  const BlockLink &link = links[of_block * 2 * block.dim + side];
  result.kind = link.kind;
  if (link.kind != Side::ghost)
    return result;
  const auto [a, b] = tangential(d);
  const std::int64_t points = per_direction * n, of_b = block.dim == 3 ? points : 1;
  const auto place =
      link.map(inside[a] * n + qa, b < block.dim ? inside[b] * n + qb : 0, points, of_b);
  if (link.block < 0)
  {
    result.remote = (link.remote * of_b + place[1]) * points + place[0];
    return result;
  }
  const auto [to_a, to_b] = tangential(link.side / 2);
  result.cell = {0, 0, 0};
  result.cell[link.side / 2] = link.side % 2 == 1 ? per_direction - 1 : 0;
  result.cell[to_a] = place[0] / n;
  result.a = place[0] % n;
  result.b = 0;
  if (to_b < block.dim)
  {
    result.cell[to_b] = place[1] / n;
    result.b = place[1] % n;
  }
  result.cell[0] += link.block * per_direction;
  result.side = link.side;
  return result;
}

template <typename Number>
struct PointwiseArguments
{
  Block block;
  std::int64_t per_direction = 1; ///< N
  const CellBasis *basis = nullptr;
  const PointTables *tables = nullptr;
  const BlockLink *links = nullptr; ///< [block][side]
  PointNumbers<Compute<Number>> numbers;
  PointNumbers<Half> in_half; ///< of pointwise_cpu<Number, Half>(), instead of `numbers`
  const Number *src = nullptr;
  Number *dst = nullptr;
  const Number *b = nullptr; ///< nullptr: A src; otherwise b - A src
  /// With b a step of Chebyshev: dst = src + theta (src - old) + alpha inverse_diagonal (b - A src). old may be dst; nullptr: zero.
  const Compute<Number> *inverse_diagonal = nullptr;
  const Number *old = nullptr;
  Compute<Number> theta{}, alpha{};
  Compute<Number> *traces =
      nullptr; ///< trace_size() numbers, aligned to a line of the cache; not of the reference
  /// V and F of the points that are on other ranks, [PointBehind::remote][V, F]: there when traces_are_written(), which is called between the
  /// passes, has returned; of the reference from the beginning.
  const Compute<Number> *remote_traces = nullptr;
  Callback traces_are_written;
};

/// dst = A src, b - A src or the step, by plain loops. Every entry of dst is written, padding with zero. Synchronous; the same input gives the same
/// bits.
template <typename Number>
void apply_pointwise_reference(const PointwiseArguments<Number> &arguments);

template <typename Number>
using ApplyPointwise = void(const PointwiseArguments<Number> &);
/// The same in vector code: neighbouring cells side by side.
template <typename Number, typename Stored = Compute<Number>>
ApplyPointwise<Number> *pointwise_cpu(int dim, int degree);
} // namespace tensormg::laplace
