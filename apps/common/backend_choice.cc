#include "apps/common/backend_choice.h"

#include <stdexcept>

namespace tensormg
{
namespace
{
  template <typename F>
  BackendChoice with_parameters(const F &f)
  {
    try
    {
      return f();
    }
    catch (const std::invalid_argument &error)
    {
      throw ParameterError(error.what());
    }
  }
} // namespace

BackendChoice choose_backend(const Parameters &parameters, const SolveRanks &ranks)
{
  return with_parameters([&] {
    return choose_backend(parameters.problem, parameters.solver, parameters.backend, ranks);
  });
}

BackendChoice choose_backend_of_blocks(const Parameters &parameters, MPI_Comm communicator)
{
  return with_parameters(
      [&] { return choose_backend_of_blocks(parameters.backend, communicator); });
}
} // namespace tensormg
