// What approximates the operator on curved cells by one direction at a time, for smoothers.
#pragma once

#include <array>
#include <vector>

#include "operators/pointwise/block_levels.h"

namespace tensormg
{
/// The numbers of kernels/laplace/pointwise/relaxation.h. With < > the geometric mean and [ ] the arithmetic one over a cell or a face, by the
/// weights of the points, of direction a of a cell:
///   g_a(x_a) = <G_aa> over the other directions, k = product of G_aa to the power 1 / dim, m_a(x_a) likewise <k>, divided by <k> of the cell,
///   T_a = int g_a phi_i' phi_j' + over both sides f (<T> v v' - <G_aa> (v d' + d v') / 2), d outwards,   M_a = int m_a phi_i phi_j,
/// which is exact where G is diagonal and a product of functions of the coordinates. f is 1 between cells, 2 at Side::dirichlet; at
/// Side::neumann there is [r] v v' alone, r being the Robin coefficient times the element of the surface, or <G_aa> v v' at both sides of a cell that has
/// no such number there. T_a is positive definite as the operator is (operators/pointwise/metric.h): [ ] is at least < >, and < > of a sum at
/// least the sum of the < >. A reaction adds its mean m over the cell: m / dim to the eigenvalues of each direction. For lines
///   c_a = <G_aa>,   tau = max(sigma (c_a + c_a') / 2, [T]), or [r] at Side::neumann,   t^a = diagonal of T_a with [T], plus m / (dim - 1).
/// Means without kappa and rho, which T has, need up to a fifth more iterations on sheared cells.
/// With both cells and lines: a side with [T] > 8 sigma <G_aa> holds the cell, since K jumps there. Its T v v' has rank one, of which the diagonal makes
/// n times as much: lines that pass such a side would hardly move the cell and have eigenvalues up to n. So they leave it out: t^a is 1e15 times as large,
/// and mu of all directions is divided by one more than the number of lines left out: the inverse of the cell takes their weight.
struct SeparableNumbers
{
  std::vector<double> cells, lines; ///< empty where they are not asked for

  SeparableNumbers(const BlockLevels &levels, std::size_t l, bool has_cells, bool has_lines);
};
} // namespace tensormg
