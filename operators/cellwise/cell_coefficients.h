// The coefficients of a problem in the cells of a grid and of its coarser levels.
#pragma once

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// Sets LevelGrid::cells of all levels and grid.problem.coefficient, a power of two near the mean of K by which the system is made
/// dimensionless, where problem.is_cellwise(); otherwise does nothing.
///
/// Of the finest level the values in the middle of cells, or with InCell::mean the mean over degree + 1 Gauss points per
/// direction, and over voxels, Problem::voxels, the exact one; of coarser levels the arithmetic mean of the children. Collective.
/// Throws ExpressionError, naming the parameter and the place, if a value is not finite, a diffusion coefficient not positive
/// or a reaction negative; if K is not the same in a whole cell though InCell::constant is promised: that is looked for in the
/// middle and near the corners, of voxels in all of them; likewise for Robin sides (robin_coefficients.h); and if there is no Dirichlet
/// side and the reaction and the Robin coefficients are zero everywhere.
void add_cell_coefficients(Grid &grid, const CellBasis &basis);
} // namespace tensormg
