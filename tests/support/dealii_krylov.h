// deal.II's Krylov methods on the dense problems of dense_problem.h, as the oracle.
#pragma once

#include "tests/support/dense_problem.h"

namespace tensormg::test
{
struct DealiiResult
{
  int iterations = 0;
  DenseVector x;
};

/// From zero; the tolerance is relative to b.
DealiiResult dealii_fgmres(const DenseOperator &a, FunctionPreconditioner p, const DenseVector &b,
    double tolerance, int max_iterations, int restart);
DealiiResult dealii_cg(const DenseOperator &a, FunctionPreconditioner p, const DenseVector &b,
    double tolerance, int max_iterations);
} // namespace tensormg::test
