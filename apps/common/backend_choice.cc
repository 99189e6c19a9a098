#include "apps/common/backend_choice.h"

#include <stdexcept>

namespace tensormg
{
BackendChoice choose_backend(
    const Parameters &parameters, int n_ranks, const std::string &only_on_host)
{
  try
  {
    return choose_backend(
        parameters.problem, parameters.solver, parameters.backend, n_ranks, only_on_host);
  }
  catch (const std::invalid_argument &error)
  {
    throw ParameterError(error.what());
  }
}
} // namespace tensormg
