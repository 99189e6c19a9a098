// How large the operator on curved cells is.
#pragma once

#include "operators/curved/pointwise_operator.h"
#include "operators/pointwise/block_levels.h"

namespace tensormg
{
/// Of B, `op`, on the finest level, dimensionless: lambda_max(B) <= lambda_max(D^-1 B) max D, D its diagonal, with a Lanczos estimate of the first factor
/// that is raised by what it may be too low. Up to the variety of the diagonal above lambda_max(B). Takes 20 products with B. Collective over
/// levels.communicator(). Throws EigenvalueError where entries are not finite.
template <typename Context = HostContext>
double largest_eigenvalue_bound(
    const BlockLevels &levels, PointwiseOperator<double, Context> &op, const Context &context = {});
} // namespace tensormg
