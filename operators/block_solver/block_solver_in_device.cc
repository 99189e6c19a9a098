#include "operators/block_solver/block_solver_in.h"
#include "operators/block_solver/block_solver_places.h"

namespace tensormg
{
namespace
{
  /// The stream goes after all that uses it.
  class BlockSolverOnDevice : private OwnedStream, public BlockSolverIn<DeviceContext>
  {
  public:
    BlockSolverOnDevice(
        const BlockLevels &levels, const SolverOptions &options, const CycleOptions &cycle)
      : BlockSolverIn<DeviceContext>(levels, options,
            DeviceContext(get(), std::make_shared<DeviceVectorSpace::Scratch>(get())), cycle)
    {}
  };
} // namespace

std::unique_ptr<BlockSolver> make_block_solver_on_device(const BlockLevels &levels,
    const SolverOptions &options, Vector<double> &x, const Vector<double> &b,
    const CycleOptions &cycle)
{
  auto solver = std::make_unique<BlockSolverOnDevice>(levels, options, cycle);
  solver->set_up(x, b);
  return solver;
}
} // namespace tensormg
