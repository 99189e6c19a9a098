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
            context_of(get(), grid.finest().communicator), environment)
    {}

  private:
    static DeviceContext context_of(Stream stream, MPI_Comm communicator)
    {
      std::string exchange;
      return make_device_context(stream, communicator, exchange);
    }
  };
} // namespace

std::unique_ptr<SolverIn> make_solver_in_device(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const SolverOptions &options, const SolverEnvironment &environment)
{
  return std::make_unique<SolverOnDevice>(grid, basis, backend, options, environment);
}
} // namespace tensormg
