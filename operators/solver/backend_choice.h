// Which backend a solve runs on.
#pragma once

#include <string>

#include "kernels/laplace/laplace.h"
#include "tensormg/options.h"
#include "tensormg/problem.h"

namespace tensormg
{
struct BackendChoice
{
  laplace::Backend backend = laplace::Backend::cpu;
  std::string reason; ///< why `auto` did not take a device that is there; otherwise empty
};

/// The backend that `word` (auto or the name of one) asks for; a device is chosen for this process then. `auto` takes cuda if
/// this program was built with it, a GPU that can run it is there and the method exists on it, and cpu otherwise; for multigrid
/// in tf32 and 2xfp16 it takes tensor cores or throws. What is asked for by name is used or refused: std::invalid_argument
/// says why it cannot be used.
BackendChoice choose_backend(
    const Problem &problem, const SolverOptions &solver, const std::string &word, int n_ranks);
} // namespace tensormg
