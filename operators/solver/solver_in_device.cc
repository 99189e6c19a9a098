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
        const SolverOptions &options, const Vector<double> &sides)
      : SolverInContext<DeviceContext>(grid, basis, backend, options, sides, DeviceContext(get()),
            make_multigrid(
                grid, basis, backend, options.multigrid, get(), {.one_allocation = true}))
    {}
  };
} // namespace

std::unique_ptr<SolverIn> make_solver_in_device(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options, const Vector<double> &sides)
{
  return std::make_unique<SolverOnDevice>(grid, basis, backend, options, sides);
}
} // namespace tensormg
