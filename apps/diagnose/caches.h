// Bandwidth of the caches of a device, by many passes in one launch (kernels/diagnostics/stream/caches.h).
#pragma once

#include <string>
#include <vector>

#include "apps/diagnose/machine.h"

namespace tensormg::diagnose
{
/// All operations of both caches, over sizes of which each is twice the one before: the first cache by a slice of up to
/// 128 KiB per multiprocessor, the second by up to 256 KiB, as far as half of it lasts. Each is checked before it is
/// timed; throws std::runtime_error if it is wrong, DeviceError without a device.
std::vector<CacheSample> measure_caches(const MachineOptions &options);

/// A table: GB/s by operation and cache; columns are sizes. Empty if there are no samples.
std::string caches_text(const std::vector<CacheSample> &samples);
} // namespace tensormg::diagnose
