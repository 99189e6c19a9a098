// CONTRACT of the streaming kernels, the ceilings of memory and caches:
//
//   operation   loop               bytes per element
//   read        sum += b[i]         8
//   write       a[i] = q            8
//   copy        a[i] = b[i]        16
//   scale       a[i] = q b[i]      16
//
// Counted is what the loop must move; a cache that reads a line before it is overwritten moves more.
// Arrays: `size` numbers, 64-byte aligned, size a multiple of stream::granularity; a must not alias b.
// The operation runs `passes` times over the same arrays, so that also the smallest of them can be timed.
// Tests: tests/kernels/diagnostics/stream/stream_test.cc, tests/kernels/diagnostics/stream/device_test.cu.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::stream
{
enum class Operation : std::uint8_t
{
  read,
  write,
  copy,
  scale
};
inline constexpr std::array all_operations{
    Operation::read, Operation::write, Operation::copy, Operation::scale};

enum class Stores : std::uint8_t
{
  cached,
  streaming ///< past the caches, without reading the line first
};

/// Sizes are multiples of this many numbers.
inline constexpr std::int64_t granularity = 64;

constexpr const char *to_string(Operation operation)
{
  constexpr std::array names{"read", "write", "copy", "scale"};
  return names[static_cast<std::size_t>(operation)];
}

constexpr double bytes_per_element(Operation operation)
{
  return operation == Operation::read || operation == Operation::write ? 8. : 16.;
}

/// The arrays that an operation touches.
constexpr int n_arrays(Operation operation)
{
  return operation == Operation::read || operation == Operation::write ? 1 : 2;
}

/// Host memory, one thread. Returns the sum that `read` forms in the last pass, otherwise 0; `a` or `b` may
/// be null where the operation has none.
double cpu(Operation operation, Stores stores, std::int64_t size, std::int64_t passes, double q,
    const double *b, double *a);

/// Device memory, one pass, past the caches; queued in the stream. `read` writes the sums of its blocks to `a`, n_sums(size)
/// of them.
TENSORMG_CUDA_FUNCTION void cuda(
    Operation operation, std::int64_t size, double q, const double *b, double *a, Stream stream);
TENSORMG_CUDA_FUNCTION std::int64_t n_sums(std::int64_t size);
} // namespace tensormg::stream
