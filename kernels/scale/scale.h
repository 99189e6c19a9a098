// CONTRACT of the scale kernel a[i] = q b[i], the yardstick of memory bandwidth: nothing that reads a
// vector and writes another one can be faster. Counted are the 16 bytes per element that it must move.
//
// Arrays: `size` numbers, 64-byte aligned, size a multiple of row_granularity; a must not alias b.
// Stores go past the caches where the machine can do that, so that a is not read first.
// Oracle: the formula. Tests: tests/kernels/scale_test.cc.
#pragma once

#include <cstdint>

#include "kernels/core/block.h"
#include "kernels/core/device.h"

namespace tensormg::scale
{
inline constexpr double bytes_per_element = 16.;

/// Host memory, one thread.
void cpu(std::int64_t size, double q, const double *b, double *a);

/// Device memory; queued in the stream. Throws DeviceError in a build without CUDA.
void cuda(std::int64_t size, double q, const double *b, double *a, Stream stream);
} // namespace tensormg::scale
