// One warp on the GPU for the tests of kernels/mma: arrays, launch, whether a kernel can run here.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "kernels/mma/instructions.cuh"
#include "tests/support/device/emulated_warp.h"

namespace tensormg::test
{
/// Numbers on the device. Failures of the runtime fail the test that runs.
template <typename T>
class DeviceArray
{
public:
  explicit DeviceArray(const std::vector<T> &values)
    : size(values.size())
  {
    EXPECT_EQ(cudaMalloc(&data, size * sizeof(T)), cudaSuccess);
    EXPECT_EQ(
        cudaMemcpy(data, values.data(), size * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  operator T *() { return static_cast<T *>(data); }
  std::vector<T> values() const
  {
    std::vector<T> result(size);
    EXPECT_EQ(
        cudaMemcpy(result.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return result;
  }

private:
  std::size_t size;
  void *data = nullptr;
};

/// Why a kernel cannot run here; empty if it can.
template <typename Kernel>
std::string reason_to_skip(Kernel *kernel, int min_capability)
{
  int n_devices = 0;
  if (cudaGetDeviceCount(&n_devices) != cudaSuccess || n_devices == 0)
  {
    cudaGetLastError(); // not to be found by the next call
    return "no GPU";
  }
  int major = 0;
  int minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  const std::string needs = "needs compute capability " + std::to_string(min_capability / 10) +
      "." + std::to_string(min_capability % 10) + ", ";
  if (10 * major + minor < min_capability)
    return needs + "the GPU has " + std::to_string(major) + "." + std::to_string(minor);
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
  if (attributes.ptxVersion < min_capability)
    return needs + "the kernel was compiled for " + std::to_string(attributes.ptxVersion / 10) +
        "." + std::to_string(attributes.ptxVersion % 10);
  return "";
}

/// One warp, and wait for it.
template <typename... Parameters, typename... Arguments>
void run_warp(void (*kernel)(Parameters...), Arguments &&...arguments)
{
  kernel<<<1, mma::warp_size>>>(std::forward<Arguments>(arguments)...);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

/// Runs a kernel whose last argument is its result, a rows x columns matrix filled with NaN.
template <typename Kernel, typename... Arguments>
DenseMatrix result_of(Kernel *kernel, int rows, int columns, Arguments &&...arguments)
{
  DenseMatrix result(rows, columns);
  for (double &entry : result.entries)
    entry = std::numeric_limits<double>::quiet_NaN();
  DeviceArray<double> device(result.entries);
  run_warp(kernel, std::forward<Arguments>(arguments)..., static_cast<double *>(device));
  result.entries = device.values();
  return result;
}

/// A multiplicand from a row-major matrix of doubles; without rounding if it fits.
template <typename S, mma::Operand operand>
__device__ inline mma::Fragment<S, operand> load(int lane, const double *matrix)
{
  using O = mma::OperandOf<S, operand>;
  return mma::make_fragment<S, operand>(lane, [&](int i, int j) {
    return mma::RoundTo<typename O::Element>()(matrix[i * O::columns + j]);
  });
}

template <typename S>
__device__ inline void store(const mma::FragmentC<S> &d, int lane, double *matrix)
{
  mma::foreach_ij(d, lane, [&](int i, int j, double value) { matrix[i * S::n + j] = value; });
}
} // namespace tensormg::test
