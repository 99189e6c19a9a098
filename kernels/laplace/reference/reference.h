// The `reference` backend: the oracle of laplace.h for any degree and any number type.
#pragma once

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// Plain loops over dense one-dimensional SIPG blocks, assembled from values and derivatives of the
/// modes without the parity of the basis. Arithmetic in double for every number type.
template <typename Number>
void apply_reference(const Arguments<Number> &arguments, Form form);

/// Dense blocks of the one-dimensional operator (row-major n x n, test function first), h = 1.
struct DenseBlocks
{
  std::vector<double> own;                             ///< L0 = diag(lambda)
  std::vector<double> right;                           ///< coupling to the right neighbour, Lp
  std::vector<double> left;                            ///< coupling to the left neighbour, Lp'
  std::vector<double> dirichlet_left, dirichlet_right; ///< added to `own` at a Dirichlet end
  std::vector<double> neumann_left, neumann_right;     ///< added to `own` at a Neumann end
};
DenseBlocks make_dense_blocks(const CellBasis &basis);
} // namespace tensormg::laplace
