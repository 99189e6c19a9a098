// Which half of the L2 cache a multiprocessor is near.
//
// L2 of large devices consists of two halves. What a multiprocessor reads of the far one crosses a link and is kept in
// its own half, too. The link is as fast as memory, no faster; so blocks that read the same lines should be near the
// same half.
#pragma once

#include <cstdint>

#include "kernels/device/device.h"

namespace tensormg
{
/// More than the numbers of multiprocessors (multiprocessor.cuh).
inline constexpr int l2_halves_size = 1024;

/// l2_halves_size numbers in device memory: 0 or 1 for each multiprocessor of the current device. Found by timing atomic
/// additions, which the half does that has the line, when a device is asked for first; nullptr where that told no
/// halves apart, or cannot be done now, since `stream` is being captured. It is only a matter of speed.
const std::uint8_t *l2_halves(Stream stream);
} // namespace tensormg
