// CONTRACT of the SIPG operator on axis-parallel cells with numbers of their own: sizes, diffusion, reaction.
//
// Formula. In the basis of CellBasis, with V, D the traces of a cell's line along direction a at an end (D with HALF the derivative
// on the reference cell, kernels/basis/cell_basis.h), primes those of the neighbour there, and per cell and direction
//   c_a = K_a |cell| / h_a^2,  m = reaction |cell|   (both times a factor that is the same for all cells),
//   tau = sigma (c_a + c_a') / 2 at a face,
// the operator, which is symmetric, is
//   (A u)_i = c lambda_i u_i + v_i (P_R + P_L) + h_i (Q_R + Q_L)   for even i,   v_i (P_R - P_L) + h_i (Q_R - Q_L) for odd i,
//   P_R = (tau_R - sigma c) V_R - tau_R V'_R - c'_R D'_R,   Q_R = c V'_R,
//   P_L = (tau_L - sigma c) V_L - tau_L V'_L + c'_L D'_L,   Q_L = c V'_L,
// summed over the directions, plus m u. With one c_a for all cells it is that of kernels/laplace/laplace.h. Behind closed sides
// c' = c, and the traces are reflected as there, but for Robin sides, K du/dn + r u = 0: where a side is Side::neumann,
//   V' = V,  D' = -D - kappa V at an upper end, -D + kappa V at a lower one,  kappa = r h_a / K_a,
// which adds rho v_i V to the operator, rho = kappa c_a. D of the Chebyshev step is the diagonal of the cell blocks as if closed
// sides had an equal neighbour: sum_a (c_a lambda_i + s_a v_i^2) + m, s_a = sigma (c'_L + c'_R - 2 c_a) / 2 + rho_L + rho_R.
//
// Arrays. Vectors, sides, ghosts, ranges and what is ensured: as in kernels/laplace/laplace.h; for `cuda` the numbers of the cells lie in
// device memory.
// Oracle: reference.cc. Tests: tests/kernels/laplace/cellwise/{cellwise,device}_test, tests/operators/cellwise/cellwise_oracle_test.cc.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// Numbers of the cells of a block and of one layer of cells around it: those behind closed sides are copies of the cells at
/// the side. Cell (cx, cy, cz) has its place at cx + cy * row + cz * plane from the pointers, -1 <= cx <= pitch of the block, the other
/// two from -1 to their number of cells; in 2D there is no layer in z. What belongs to no cell is positive.
template <typename C>
struct CellNumbers
{
  std::array<const C *, 3> c{};    ///< c_a
  std::array<const C *, 3> jump{}; ///< s_a; in the layer kappa behind Robin sides, or zero
  const C *reaction = nullptr;     ///< m
  std::int64_t row = 0, plane = 0;

  constexpr std::int64_t stride(int d) const { return d == 0 ? 1 : d == 1 ? row : plane; }
};

template <typename Number>
struct CellwiseArguments : Arguments<Number>
{
  CellNumbers<Compute<Number>> cells; ///< Arguments::factor is not read
};

template <typename Number>
using ApplyCellwise = void(const CellwiseArguments<Number> &);

/// backend: reference, cpu or cuda. Throws std::invalid_argument that lists what exists.
template <typename Number>
ApplyCellwise<Number> *select_cellwise(Backend backend, Form form, int dim, int degree);

/// x = alpha D^-1 b, on the host; x may be b. Padding of b, which is zero, stays zero.
template <typename Number>
void cellwise_inverse_diagonal(const Block &block, const CellBasis &basis,
    const CellNumbers<Compute<Number>> &cells, double alpha, const Number *b, Number *x);

/// Plain loops.
template <typename Number>
void apply_cellwise_reference(const CellwiseArguments<Number> &arguments, Form form);
} // namespace tensormg::laplace
