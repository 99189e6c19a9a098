// The multigrid preconditioner in device memory.
#pragma once

#include <memory>

#include "kernels/laplace/laplace.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/device_vector.h"

namespace tensormg
{
using DeviceMultigridPreconditioner =
    BasicMultigridPreconditioner<DeviceVector<double>, DeviceVector<WideFloat>>;

/// How cycles run on a device; does not change what they compute, but for the level that is solved directly.
struct DeviceCycleOptions
{
  /// The hierarchy ends at the finest level with at most so many unknowns per direction (or at level 0): its
  /// direct solution takes three small kernels, V-cycles on the levels below a dozen launches each.
  std::int64_t longest_direct_line = 64;
  /// Cycles are run step by step, with a wait after each, so that times() tells where the time goes; slower.
  /// Otherwise times() counts visits only.
  bool level_times = false;
  /// The vectors of all levels share an allocation, which is faster made (DeviceReservation). Tools that look for accesses
  /// beyond an array see less then.
  bool one_allocation = false;
};

/// As make_multigrid(), with everything in device memory and queued in `stream`; one rank. The second cycle
/// is recorded as a graph and replayed from then on. apply() does not wait for the device.
///
/// Throws std::invalid_argument for what does not exist in device memory: several ranks.
std::unique_ptr<DeviceMultigridPreconditioner> make_device_multigrid(const Grid &grid,
    const CellBasis &basis, laplace::Backend backend, const MultigridOptions &options,
    Stream stream, const DeviceCycleOptions &cycle_options = {});

/// The level of the grid that is solved directly.
std::size_t device_coarsest_level(const Grid &grid, const DeviceCycleOptions &options = {});

/// Bytes of device memory of the vectors and tables that the preconditioner holds.
std::int64_t device_multigrid_memory(const Grid &grid, const MultigridOptions &options);
} // namespace tensormg
