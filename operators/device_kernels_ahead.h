// Loads kernels to the device while the host does something else.
#pragma once

#include <future>

#include "kernels/laplace/laplace.h"
#include "solvers/options.h"

namespace tensormg
{
/// The kernels of the operator that a solve with these options launches most: loaded in a thread of its own from the
/// construction on, waited for by wait() and by the destructor. The first launch of a kernel loads it otherwise, which for the
/// large ones of the operator takes milliseconds each. Trouble is left to the launch that meets it.
class DeviceKernelsAhead
{
public:
  /// smooths: the preconditioner has levels with a smoother.
  DeviceKernelsAhead(
      laplace::Backend backend, int dim, int degree, const SolverOptions &options, bool smooths);

  /// Until all are loaded: who loads meanwhile would wait for the driver.
  void wait() const;

private:
  std::future<void> loading_;
};
} // namespace tensormg
