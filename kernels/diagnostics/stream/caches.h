// CONTRACT of the streaming kernels for the caches of a device: many passes over small arrays in one launch, so that its own
// time does not count, which below some megabytes is most of the time of stream.h's kernels.
//
// Slice s of an array has `size` numbers from s * size on and belongs to one block; as many blocks as there are slices
// are resident at once if there are no more slices than multiprocessors. A pass goes over the slice as in stream.h:
//
//   operation   loop               bytes per element and pass
//   read        sum += b[i]         8      a[s] = sum of all passes of slice s
//   write       a[i] = q            8
//   copy        a[i] = b[i]        16
//   scale       a[i] = q b[i]      16
//
// Cache::first reads through the cache of the multiprocessor (ld.global.ca) and has `read` alone, since stores go through it
// to the second one; Cache::second passes it by (ld.global.cg, st.global.cg).
// Arrays are in device memory, 16-byte aligned; size is a power of two, at least slice_granularity, passes >= 1.
// Tests: tests/kernels/diagnostics/stream/device_test.cu.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/diagnostics/stream/stream.h"

namespace tensormg::stream
{
enum class Cache : std::uint8_t
{
  first,
  second
};
inline constexpr std::int64_t slice_granularity = 1024;

constexpr const char *to_string(Cache cache) { return cache == Cache::first ? "L1" : "L2"; }

/// Queued in the stream. Throws std::invalid_argument unless size and operation are as above.
TENSORMG_CUDA_FUNCTION void cuda_slices(Operation operation, Cache cache, int slices,
    std::int64_t size, int passes, double q, const double *b, double *a, Stream stream);
} // namespace tensormg::stream
