#include "operators/multigrid/eigenvalue_estimate.h"

#include <cmath>
#include <vector>

#include "operators/constant/start_vector.h"

extern "C" void dsterf_(const int *n, double *d, double *e, int *info);

namespace tensormg
{
std::vector<double> eigenvalues(const Tridiagonal &matrix)
{
  auto [diagonal, off_diagonal] = matrix;
  const int n = static_cast<int>(diagonal.size());
  off_diagonal.resize(diagonal.size());
  int info = 0;
  dsterf_(&n, diagonal.data(), off_diagonal.data(), &info);
  if (info != 0 || !std::isfinite(diagonal.back()))
    throw EigenvalueError("the eigenvalue estimate of the smoother failed");
  return diagonal;
}

double estimate_lambda_max(LaplaceOperator<double> &op, int steps)
{
  const LevelGrid &level = op.level();
  return lanczos_lambda_max(
      op, VectorSpace(level.block, level.communicator), pseudo_random_vector(level), steps);
}
} // namespace tensormg
