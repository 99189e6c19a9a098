// How far solutions on curved cells and on the halves of these are from each other.
#pragma once

#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
struct NestedDifference
{
  double l2 = 0.;            ///< (int (u - P v)^2)^(1/2)
  double h1_seminorm = 0.;   ///< (sum over cells int |grad (u - P v)|^2)^(1/2)
  double fine_l2 = 0.;       ///< of u
  double fine_gradient = 0.; ///< (sum over cells int |grad u|^2)^(1/2)
};

/// Of u on the finest level and v on the one below it, by degree + 2 Gauss points per direction of the finest cells. P v has the polynomials of v on the reference cells of the finest level,
/// exactly; where the geometry is curved its cells differ from those of v by what polynomials of one degree on whole and halved cells differ, which is of
/// the order of the error, and positions that are moved so do not count. Where the problem is singular the mean of u - P v is subtracted. Throws std::invalid_argument if v is not of that level. Collective.
NestedDifference nested_difference(const BlockProblem &problem, const BlockLevels &levels,
    const Vector<double> &u, const Vector<double> &v);
} // namespace tensormg
