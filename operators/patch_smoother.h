// Vertex-patch Schwarz smoothers: multiplicative with colours, or additive with Chebyshev
// acceleration.
//
// Multiplicative: x += P_c (b - B x) for one colour after the other, P_c = sum_patches R' A^+ R
// over the patches of that colour; the residual is that of the whole operator each time. A backward
// sweep takes the colours in the opposite order: it is the adjoint of a forward one in the B inner
// product. FGMRES with V(1,1)-cycles to 1e-8 takes 3-4 iterations on cubes, up to 6 for degree
// 1 or cells twice as long as wide.
//
// Additive: x_{k+1} = x_k + theta_k (x_k - x_{k-1}) + alpha_k P (b - B x_k), P the sum over all
// colours. The steps are those of the fourth-kind Chebyshev polynomial (solvers/chebyshev.h) for
// the largest eigenvalue of P B, or constant for damped Richardson. The first contracts better for
// the same work: FGMRES with V(k,k)-cycles to 1e-8, 3D, degrees 1..7, takes 13-18 instead of 18-25
// iterations for k = 2, 5-6 instead of 10-14 for k = 4; k = 1 (34-43) is no use.
//
// Cost of a sweep: multiplicative one operator application and one pass over the patches per
// colour, additive one operator application and 2^dim passes. Sources: kernels/patch/patch.h;
// J. Xu, Iterative methods by space decomposition and subspace correction, SIAM Review 34 (1992).
#pragma once

#include <vector>

#include "operators/laplace_operator.h"
#include "operators/patch_correction.h"
#include "solvers/chebyshev.h"
#include "solvers/options.h"
#include "solvers/smoother.h"

namespace tensormg
{
/// Largest Ritz value of P B (additive Schwarz) after `steps` Lanczos steps from a fixed
/// pseudo-random start: a lower bound of lambda_max that is accurate to a per cent after about ten
/// steps. Collective; independent of the number of ranks up to rounding.
double estimate_patch_lambda_max(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, int steps);

/// Collective over the level's communicator, as is the operator.
template <typename Number>
class PatchSmoother : public SmootherBase<Vector<Number>>
{
public:
  /// `op` must outlive the smoother. sweeps >= 1: over all colours, or additive steps. Additive
  /// only: damping > 0 is Richardson with that factor; 0 is the Chebyshev polynomial for
  /// lambda_max, an upper bound of the spectrum of P B. Throws std::invalid_argument for other
  /// values.
  PatchSmoother(
      LaplaceOperator<Number> &op, SchwarzKind kind, int sweeps, double damping, double lambda_max);
  /// The same; lambda_max is estimated if it is needed.
  PatchSmoother(LaplaceOperator<Number> &op, SchwarzKind kind, int sweeps, double damping);

  void smooth(Vector<Number> &x, const Vector<Number> &b, Vector<Number> &work, bool zero_start,
      bool forward) override;

private:
  void multiplicative(Vector<Number> &x, const Vector<Number> &b, Vector<Number> &work,
      bool zero_start, bool forward);
  void additive(Vector<Number> &x, const Vector<Number> &b, Vector<Number> &work, bool zero_start);

  LaplaceOperator<Number> &op_;
  PatchCorrection<Number> correction_;
  SchwarzKind kind_;
  int sweeps_;
  std::vector<ThreeTermStep> steps_; ///< additive
  Vector<Number> old_;               ///< x_{k-1} of the additive steps, if they need it
};

extern template class PatchSmoother<double>;
extern template class PatchSmoother<float>;
extern template class PatchSmoother<Half>;
} // namespace tensormg
