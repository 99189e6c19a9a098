// Which backend a solve runs on.
#pragma once

#include <string>

#include "apps/parameters/parameters.h"
#include "kernels/laplace/laplace.h"

namespace tensormg
{
struct BackendChoice
{
  laplace::Backend backend = laplace::Backend::cpu;
  std::string reason; ///< why `auto` did not take a device that is there; otherwise empty
};

/// The backend that parameters.backend asks for; a device is chosen for this process then. `auto` takes
/// cuda if this program was built with it, a GPU that can run it is there and the method exists on it, and
/// cpu otherwise; for multigrid in tf32 and 2xfp16 it takes tensor cores or throws. What is asked for by name is used or refused: ParameterError says why it cannot be used.
BackendChoice choose_backend(const Parameters &parameters, int n_ranks);
} // namespace tensormg
