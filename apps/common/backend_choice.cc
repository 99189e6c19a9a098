#include "apps/common/backend_choice.h"

#include <stdexcept>

namespace tensormg
{
BackendChoice choose_backend(const Parameters &parameters, const SolveRanks &ranks)
{
  try
  {
    return choose_backend(parameters.problem, parameters.solver, parameters.backend, ranks);
  }
  catch (const std::invalid_argument &error)
  {
    throw ParameterError(error.what());
  }
}
} // namespace tensormg
