// Errors of the CUDA runtime as exceptions. Only for files that are compiled with CUDA.
#pragma once

#include <cstdio>
#include <string>

#include <cuda_runtime.h>

#include "kernels/device/device.h"

namespace tensormg
{
inline std::string describe(cudaError_t error, const char *what)
{
  return std::string(what) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) +
      ")";
}

/// Throws DeviceError unless `error` is success.
inline void check_cuda(cudaError_t error, const char *what)
{
  if (error != cudaSuccess)
  {
    cudaGetLastError(); // an error that was reported is not found again by the next check
    throw DeviceError(describe(error, what));
  }
}

/// For destructors: what cannot be thrown is printed.
inline void report_cuda(cudaError_t error, const char *what) noexcept
{
  // A context that is being torn down at exit is no error.
  if (error != cudaSuccess && error != cudaErrorCudartUnloading)
    std::fprintf(stderr, "tensormg: %s: %s\n", what, cudaGetErrorString(error));
}

/// After every launch: configuration errors are known at once, others at the next synchronisation.
inline void check_launch(const char *kernel) { check_cuda(cudaGetLastError(), kernel); }
} // namespace tensormg
