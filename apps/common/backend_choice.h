// Which backend the parameters ask for.
#pragma once

#include "apps/parameters/parameters.h"
#include "operators/solver/backend_choice.h"

namespace tensormg
{
/// choose_backend() of operators/solver/backend_choice.h; what it refuses is a ParameterError.
BackendChoice choose_backend(const Parameters &parameters, const SolveRanks &ranks = {});
BackendChoice choose_backend_of_blocks(const Parameters &parameters, MPI_Comm communicator);
} // namespace tensormg
