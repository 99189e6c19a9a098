// What the sizes and sides of a box mean for the choices of multigrid on its levels.
#pragma once

#include <cstddef>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "tensormg/options.h"

namespace tensormg
{
/// Smallest non-zero eigenvalue of the dimensionless operator on the finest level (of the continuous
/// problem, which the discrete one approximates from above).
double smallest_eigenvalue(const Grid &grid);

/// Upper bound of the eigenvalues of the operator on the finest level.
double largest_eigenvalue_bound(const Grid &grid, const CellBasis &basis);

/// Upper bound of the condition number of the operator on the finest level (constants left out where they are in the kernel).
double condition_number(const Grid &grid, const CellBasis &basis);

/// Whether cells are stretched (by 1.5 or more) and the condition number is beyond 5e7, as it is where a short direction has no Dirichlet
/// side: then 24 bits hold too little of a correction, since rounding leaves roughness in the short direction, whose residual is larger
/// than the one to be reduced by the condition number. From 1e8 on single takes more iterations, or fails. Where cells have numbers of
/// their own: whether largest K / smallest K times CellData::strength exceeds 1e9.
bool needs_double(const Grid &grid, const CellBasis &basis);

/// The level whose lambda_max serves level l >= 1: the spectrum's upper end hardly changes from 8 cells per
/// direction on (docs/mathematics.md), so finer levels take the estimate of the first such level. A level with exact directions has one of
/// its own: the longer its other cells, the nearer is D^-1 B to the identity.
std::size_t representative_level(const Grid &grid, std::size_t l);

/// The smoother of a level: where an exact direction has more than two cells, which is more than a patch holds, Chebyshev steps of degree 4
/// take the place of patches.
MultigridOptions options_of_level(MultigridOptions options, const LevelGrid &level);
} // namespace tensormg
