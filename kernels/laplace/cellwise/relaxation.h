// CONTRACT of approximate inverses of the operator with numbers of each cell (cellwise.h), for smoothers.
//
// Cells: z = weight F r, F in each cell the inverse of sum_d T_d + m by fast diagonalisation; T_d is the part of direction d that stays in
// the cell, with the jumps of the coefficient at its faces:
//   T_d / c = diag(lambda) + sum over both ends of sigma (c' / c - 1) / 2 v_e v_e',
// whose eigenvectors come from a table (CellBases), by (1 + c' / c) / 2 rounded to a power of two; its eigenvalues are Rayleigh
// quotients with the true numbers. Closed sides are as if the cell had an equal neighbour, Robin sides one with
// c' = c + 2 rho / sigma.
//
// Lines: z += weight L_d r, L_d in each row of cells in direction d and for each pair of modes of the other directions the inverse of the
// operator in direction d, with both ends as they are, plus the diagonal D of the others and m. Where a row goes on in another block, or
// is periodic, the coupling there is left out. Each cell is condensed to the traces at its ends (2 x 2), and a row is
// eliminated cell by cell.
//
// Both are symmetric and positive definite. Arrays as in cellwise.h, on the host; z must not alias r.
// Oracle: dense matrices. Tests: tests/kernels/laplace/cellwise/relaxation_test.cc.
// Source of both: Lynch, Rice, Thomas, Numer. Math. 6 (1964), per cell; block elimination of a tridiagonal system.
#pragma once

#include <array>
#include <vector>

#include "kernels/laplace/cellwise/cellwise.h"

namespace tensormg::laplace
{
/// Eigenvectors of T_d / c for all pairs of rounded numbers at the lower and upper end.
template <typename C>
struct CellBases
{
  static constexpr int least = -1, most = 20; ///< exponents of two of (1 + c' / c) / 2
  static constexpr int count = most - least + 1;

  int n = 0;
  /// Of pair (lower, upper): [mode][eigenvector].
  std::vector<C> vectors;
  /// Of its eigenvectors q: q' diag(lambda) q, (v_lower q)^2, (v_upper q)^2.
  std::vector<C> quotients;

  explicit CellBases(const CellBasis &basis);
  const C *vectors_of(int pair) const { return vectors.data() + pair * n * n; }
  const C *quotients_of(int pair) const { return quotients.data() + pair * 3 * n; }
  /// The pair for numbers c of a cell and its neighbours.
  static int pair(double c, double lower, double upper);
};

template <typename Number>
void apply_cell_inverse(const Block &block, const CellBasis &basis,
    const CellNumbers<Compute<Number>> &cells, const CellBases<Compute<Number>> &bases,
    double weight, const Number *r, Number *z);

/// old = x + theta (x - old) + z: a step whose correction is known. `size` is a multiple of row_granularity.
template <typename Number>
void take_step(std::int64_t size, double theta, const Number *x, const Number *z, Number *old);

template <typename Number>
void add_line_inverse(const Block &block, const CellBasis &basis,
    const CellNumbers<Compute<Number>> &cells, const std::array<Side, 6> &sides, int d,
    double weight, const Number *r, Number *z);
} // namespace tensormg::laplace
