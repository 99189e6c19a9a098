// Loads kernels to the device while the host does something else.
#pragma once

#include <future>
#include <thread>

#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"
#include "tensormg/options.h"

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
  /// Ends the thread, which gives its memory back only then: that waits for all work of the device, and who allocates
  /// meanwhile waits as well.
  ~DeviceKernelsAhead();
  DeviceKernelsAhead(const DeviceKernelsAhead &) = delete;
  DeviceKernelsAhead &operator=(const DeviceKernelsAhead &) = delete;

  /// Until the thread has loaded what it can: who loads meanwhile would wait for the driver. Whether all kernels of the
  /// iterative methods are there, as far as they do not depend on the size.
  bool wait() const;

private:
  std::promise<void> end_;
  std::shared_future<bool> are_loaded_;
  std::thread thread_;
};
} // namespace tensormg
