// Kernels whose blocks go on to the next tensors: their parameters, how they are launched, what they take of a device.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/device/cuda_check.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/tensor/kernel.h"
#include "kernels/tensor/placement.h"
#include "kernels/tensor/resources.h"

namespace tensormg::tensor
{
/// As many blocks as are resident at once, at most one for every `work`.
template <typename... Parameters>
dim3 persistent_grid(
    void (*kernel)(Parameters...), int threads, int shared_bytes, unsigned long long work)
{
  const int resident =
      resident_blocks(reinterpret_cast<const void *>(kernel), threads, shared_bytes);
  return dim3(static_cast<unsigned>(std::min<unsigned long long>(resident, work)));
}

/// tensormg::require_compiled_for() with the kernel's own type.
template <typename... Parameters>
void require_compiled_for(int min_capability, void (*kernel)(Parameters...))
{
  tensormg::require_compiled_for(min_capability, reinterpret_cast<const void *>(kernel));
}

/// Entry: type of the tables.
template <typename Number, typename Entry = std::byte>
struct GroupParameters
{
  Placement placement;
  const Entry *tables;
  const Number *src;
  Number *dst;
  bool add;

  /// For groups of so many tensors.
  GroupParameters(const Arguments<Number> &a, int tensors)
    : placement(make_placement(a.batch, tensors))
    , tables(reinterpret_cast<const Entry *>(a.tables))
    , src(a.src)
    , dst(a.dst)
    , add(a.add)
  {}
};

/// A block takes so many groups at a time.
template <typename Parameters>
void launch_groups(const char *what, void (*kernel)(Parameters), int threads, int shared_bytes,
    Stream stream, const Parameters &p, int groups_per_block = 1)
{
  const auto groups = p.placement.n_groups();
  if (groups > 0)
    launch(what, kernel,
        persistent_grid(
            kernel, threads, shared_bytes, (groups + groups_per_block - 1) / groups_per_block),
        dim3(threads), shared_bytes, stream, p);
}

/// Tables as Kernel::pack returns them.
template <typename Entry>
std::vector<std::byte> to_bytes(const std::vector<Entry> &entries)
{
  std::vector<std::byte> bytes(entries.size() * sizeof(Entry));
  std::memcpy(bytes.data(), entries.data(), bytes.size());
  return bytes;
}

template <typename... Parameters>
Resources device_resources(
    void (*kernel)(Parameters...), int threads, int shared_bytes, double shared_bytes_per_entry)
{
  const void *function = reinterpret_cast<const void *>(kernel);
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, function), "asking for the kernel's resources");
  int device = 0, multiprocessors = 0, most_threads = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
      "asking for the multiprocessors");
  check_cuda(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device),
      "asking for the threads");
  Resources result;
  result.registers = attributes.numRegs;
  result.shared_bytes = shared_bytes;
  result.local_bytes = static_cast<int>(attributes.localSizeBytes);
  result.occupancy = double(resident_blocks(function, threads, shared_bytes)) * threads /
      multiprocessors / most_threads;
  result.shared_bytes_per_entry = shared_bytes_per_entry;
  return result;
}
} // namespace tensormg::tensor
