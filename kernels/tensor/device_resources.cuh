// Grids of kernels whose blocks go on to the next tensors, and what such kernels take of a device.
#pragma once

#include <algorithm>

#include "kernels/device/cuda_check.h"
#include "kernels/device/occupancy.h"
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
