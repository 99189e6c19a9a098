#include "tests/support/patch_smoother.h"

#include "operators/constant/start_vector.h"
#include "operators/multigrid/eigenvalue_estimate.h"
#include "operators/vectors/vector_space.h"

namespace tensormg
{
namespace
{
  /// Upper bound of a spectrum from the largest Ritz value; the same margin as for block Jacobi.
  constexpr double safety = 1.05;
  constexpr int lanczos_steps = 12;
} // namespace

double estimate_patch_lambda_max(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, int steps)
{
  LaplaceOperator<double> op(level, basis, backend);
  PatchCorrection<double> correction(level, basis, backend);
  return lanczos_schwarz_lambda_max(op, correction, VectorSpace(level.block, level.communicator),
      pseudo_random_vector(level), steps);
}

template <typename Number>
PatchSmoother<Number>::PatchSmoother(
    LaplaceOperator<Number> &op, SchwarzKind kind, int sweeps, double damping, double lambda_max)
  : SchwarzSmoother<LaplaceOperator<Number>, PatchCorrection<Number>>(op,
        PatchCorrection<Number>(op.level(), op.basis(), op.backend()), kind, sweeps, damping,
        lambda_max)
{}

template <typename Number>
PatchSmoother<Number>::PatchSmoother(
    LaplaceOperator<Number> &op, SchwarzKind kind, int sweeps, double damping)
  : PatchSmoother(op, kind, sweeps, damping,
        kind == SchwarzKind::additive && damping == 0. ? safety *
                estimate_patch_lambda_max(op.level(), op.basis(), op.backend(), lanczos_steps)
                                                       : 1.)
{}

template class PatchSmoother<double>;
template class PatchSmoother<float>;
template class PatchSmoother<Half>;
} // namespace tensormg
