// How far the cells of a level are from those that a pointwise smoother serves.
#pragma once

#include <vector>

#include "operators/pointwise/block_levels.h"

namespace tensormg
{
/// From the metric G at the points of volumes (kernels/laplace/pointwise/pointwise.h). k = (det G)^(1 / dim) has the coefficient and of the cells but
/// the root of their volume, in 2D nothing.
struct CellVariety
{
  double strength = 1.; ///< of all cells the largest quotient of means of G_aa and G_bb
  double shear =
      0.; ///< root of the mean of G_ab^2 / (G_aa G_bb), a != b, over all cells: from 0 where all are orthogonal to 1
  double within = 1.;  ///< of all cells the largest quotient of the largest and the smallest k
  double between = 1.; ///< of all faces the largest quotient of the means of k in both cells
  double within_blocks =
      1.; ///< the same of the faces inside blocks, which coarser cells do not have
  double robin =
      0.; ///< of all sides of boundaries the largest r h / K: the mean of r by that of G_aa
};
/// Of all ranks. Collective.
CellVariety cell_variety(const BlockLevels::Level &level);

/// The geometric means of k in all cells, those of other ranks too, x fastest. Collective.
std::vector<double> cell_strengths(const BlockLevels::Level &level);
} // namespace tensormg
