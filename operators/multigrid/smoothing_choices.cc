#include "operators/multigrid/smoothing_choices.h"

namespace tensormg
{
bool needs_lambda_max(const MultigridOptions &options)
{
  if (options.smoother == Smoother::patch)
    return options.schwarz_kind == SchwarzKind::additive && options.damping == 0.;
  return options.smoother == Smoother::chebyshev || options.damping == 0.;
}

std::vector<ThreeTermStep> smoothing_steps(const MultigridOptions &options, double lambda_max)
{
  if (options.smoother == Smoother::chebyshev)
    return options.chebyshev_kind == ChebyshevKind::fourth
        ? chebyshev_fourth_kind(options.degree, lambda_max)
        : chebyshev_first_kind(options.degree, lambda_max, options.smoothing_range);
  // 4/3 / lambda_max minimises the largest |1 - omega lambda| on the upper half.
  return damped_jacobi(
      options.degree, options.damping > 0. ? options.damping : 4. / 3. / lambda_max);
}
} // namespace tensormg
