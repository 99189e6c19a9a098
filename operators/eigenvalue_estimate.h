// The largest eigenvalue of the block-Jacobi preconditioned operator.
#pragma once

#include "operators/laplace_operator.h"

namespace tensormg
{
/// Largest Ritz value of D^-1 B after `steps` Lanczos steps in the D inner product from a fixed
/// pseudo-random start: a lower bound of lambda_max that is accurate to a per cent after about ten steps.
/// Collective; independent of the number of ranks up to rounding.
double estimate_lambda_max(LaplaceOperator<double> &op, int steps);
} // namespace tensormg
