// Loads kernels to the device while the host does something else.
#pragma once

#include <future>

#include "kernels/laplace/laplace.h"
#include "operators/grid.h"
#include "solvers/options.h"

namespace tensormg
{
/// The kernels that a solve with these options launches: loaded in a thread of its own from the construction on. The first
/// launch of a kernel loads it otherwise, which takes 0.1 milliseconds, and for the large ones of the operator several. For that
/// the thread goes through a solve on a grid of a few cells in which nothing is computed. Trouble is left to the solve itself.
class DeviceKernelsAhead
{
public:
  DeviceKernelsAhead(const Grid &grid, const CellBasis &basis, laplace::Backend backend,
      const SolverOptions &options);

  /// Until the thread has ended: who loads meanwhile would wait for the driver. Whether all kernels of the iterative
  /// methods are there, as far as they do not depend on the size.
  bool wait() const;

private:
  std::shared_future<bool> loading_;
};
} // namespace tensormg
