#include "operators/block_solver/block_solver_in.h"
#include "operators/block_solver/block_solver_places.h"

namespace tensormg
{
std::unique_ptr<BlockSolver> make_block_solver_on_host(const BlockLevels &levels,
    const SolverOptions &options, Vector<double> &x, const Vector<double> &b,
    const CycleOptions &cycle)
{
  auto solver = std::make_unique<BlockSolverIn<HostContext>>(levels, options, HostContext(), cycle);
  solver->set_up(x, b);
  return solver;
}
} // namespace tensormg
