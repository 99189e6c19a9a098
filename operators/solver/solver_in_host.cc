#include "operators/solver/solver_in_context.h"

namespace tensormg
{
std::unique_ptr<SolverIn> make_solver_in_host(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options, const SolverEnvironment &environment)
{
  return std::make_unique<SolverInContext<HostContext>>(
      grid, basis, backend, options, HostContext(), environment);
}
} // namespace tensormg
