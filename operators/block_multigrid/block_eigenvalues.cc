#include "operators/block_multigrid/block_eigenvalues.h"

#include <algorithm>

#include "operators/constant/start_vector.h"
#include "operators/multigrid/eigenvalue_estimate.h"

namespace tensormg
{
template <typename Context>
double largest_eigenvalue_bound(
    const BlockLevels &levels, PointwiseOperator<double, Context> &op, const Context &context)
{
  constexpr int steps = 20; // where K jumps 12 may miss a seventh
  constexpr double safety = 1.1;
  const BlockLevels::Level &finest = levels.levels().back();
  const LevelGrid &grid = finest.grid;
  const double of_preconditioned =
      lanczos_lambda_max(op, context.make_space(grid.block, grid.communicator),
          pseudo_random_vector(grid, context), steps);
  double largest = 0.;
  for (std::int64_t at = 0; at < finest.diagonal.size(); ++at)
    largest = std::max(largest, finest.diagonal[at]);
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, levels.communicator());
  return safety * of_preconditioned * largest;
}

template double largest_eigenvalue_bound(
    const BlockLevels &, PointwiseOperator<double> &, const HostContext &);
template double largest_eigenvalue_bound(
    const BlockLevels &, PointwiseOperator<double, DeviceContext> &, const DeviceContext &);
} // namespace tensormg
