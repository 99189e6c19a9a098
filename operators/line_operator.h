// The operator of one direction on all its cells, as a dense matrix, and its eigenvectors.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/problem.h"

namespace tensormg
{
/// L_d of kernels/laplace/laplace.h for `cells` cells with these ends, dimensionless (h = 1); row-major, symmetric, index
/// cell * n + mode.
std::vector<double> line_operator(
    const CellBasis &basis, std::int64_t cells, BoundaryKind lower, BoundaryKind upper);

/// Whether constants see nothing of such an end.
constexpr bool is_free(BoundaryKind end) { return end != BoundaryKind::dirichlet; }

/// The eigenvalues of a symmetric matrix, ascending; eigenvector e is row e of the row-major matrix on return. is_singular: the
/// first one is exactly zero. LAPACK's dsyevd; std::runtime_error if it fails.
std::vector<double> diagonalise(std::vector<double> &matrix, bool is_singular);
} // namespace tensormg
