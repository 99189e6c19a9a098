#include "operators/solver/solver_in_context.h"

namespace tensormg
{
namespace
{
  /// The stream goes after all that uses it.
  class SolverOnDevice : private OwnedStream, public SolverInContext<DeviceContext>
  {
  public:
    SolverOnDevice(const Grid &grid, const CellBasis &basis, laplace::Backend backend,
        const SolverOptions &options, const SolverEnvironment &environment)
      : SolverInContext<DeviceContext>(grid, basis, backend, options,
            DeviceContext(get(), std::make_shared<DeviceVectorSpace::Scratch>(get())), environment)
    {}
  };
} // namespace

std::unique_ptr<SolverIn> make_solver_in_device(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options, const SolverEnvironment &environment)
{
  return std::make_unique<SolverOnDevice>(grid, basis, backend, options, environment);
}
} // namespace tensormg
