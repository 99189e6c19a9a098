// How large functions on curved cells are.
#pragma once

#include <vector>

#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/pointwise/cell_quadrature.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Integrals over cells of functions with these modes.
struct NormIntegrals
{
  double square = 0., square_of_gradient = 0., value = 0., volume = 0.;

  void add(const CellQuadrature &quadrature, const CellPoints &points,
      const std::vector<double> &modes, int dim);
};

struct FunctionNorms
{
  double l2 = 0.;          ///< (int u^2)^(1/2)
  double h1_seminorm = 0.; ///< (sum over cells int |grad u|^2)^(1/2)
};

/// Of u on the finest level, by degree + 2 Gauss points per direction. Where the problem is singular the mean of u is subtracted. Collective.
FunctionNorms function_norms(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u);
} // namespace tensormg
