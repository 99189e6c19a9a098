// Vertex-patch Schwarz smoothers (solvers/schwarz.h) in host memory: multiplicative with colours, or additive
// with Chebyshev acceleration.
//
// Multiplicative: FGMRES with V(1,1)-cycles to 1e-8 takes 3-4 iterations on cubes, up to 6 for degree 1 or cells
// twice as long as wide.
//
// Additive: the Chebyshev polynomial contracts better than damped Richardson for the same work: FGMRES with
// V(k,k)-cycles to 1e-8, 3D, degrees 1..7, takes 13-18 instead of 18-25 iterations for k = 2, 5-6 instead of 10-14
// for k = 4; k = 1 (34-43) is no use.
//
// Cost of a sweep: multiplicative one operator application and one pass over the patches per colour, additive one
// operator application and 2^dim passes. Sources: kernels/patch/patch.h, solvers/schwarz.h.
#pragma once

#include "operators/constant/laplace_operator.h"
#include "operators/constant/patch_correction.h"
#include "solvers/schwarz.h"

namespace tensormg
{
/// Largest Ritz value of P B (additive Schwarz) after `steps` Lanczos steps from a fixed
/// pseudo-random start: a lower bound of lambda_max that is accurate to a per cent after about ten
/// steps. Collective; independent of the number of ranks up to rounding.
double estimate_patch_lambda_max(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, int steps);

/// Collective over the level's communicator, as is the operator.
template <typename Number>
class PatchSmoother : public SchwarzSmoother<LaplaceOperator<Number>, PatchCorrection<Number>>
{
public:
  /// As SchwarzSmoother. `op` must outlive the smoother.
  PatchSmoother(
      LaplaceOperator<Number> &op, SchwarzKind kind, int sweeps, double damping, double lambda_max);
  /// The same; lambda_max is estimated if it is needed.
  PatchSmoother(LaplaceOperator<Number> &op, SchwarzKind kind, int sweeps, double damping);
};

extern template class PatchSmoother<double>;
extern template class PatchSmoother<float>;
extern template class PatchSmoother<Half>;
} // namespace tensormg
