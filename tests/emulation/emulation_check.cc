// What the emulation promises to find: see emulation.h. Compiled with it, not for a device.
#include <cuda_runtime.h>

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/copy_async.cuh"
#include "kernels/device/device.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/shared_memory.cuh"

namespace tensormg
{
namespace
{
  template <bool meets>
  __global__ void reverse(double *to)
  {
    auto *memory = reinterpret_cast<double *>(dynamic_shared());
    memory[threadIdx.x] = threadIdx.x;
    if (meets)
      __syncthreads();
    to[threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x];
  }

  std::vector<double> run(void (*kernel)(double *), unsigned threads)
  {
    DeviceArray<double> result(threads);
    launch("a test", kernel, 1, threads, threads * sizeof(double), nullptr, result.data());
    std::vector<double> numbers(threads);
    result.copy_to_host(numbers.data());
    return numbers;
  }

  TEST(Emulation, BarrierOrdersThreads)
  {
    const std::vector<double> found = run(&reverse<true>, 96);
    for (int i = 0; i < 96; ++i)
      EXPECT_EQ(found[i], 95 - i);
  }

  TEST(Emulation, MissingBarrierIsSeen)
  {
    const std::vector<double> found = run(&reverse<false>, 96);
    int unset = 0;
    for (const double number : found)
      unset += std::isnan(number);
    EXPECT_GT(unset, 0);
  }

  __global__ void half_of_them_wait(double *)
  {
    auto *barrier = reinterpret_cast<pipeline::Barrier *>(dynamic_shared());
    if (threadIdx.x == 0)
      pipeline::init(barrier, blockDim.x + 1);
    __syncthreads();
    pipeline::arrive(barrier);
    pipeline::wait(barrier, 0);
  }

  TEST(Emulation, EndlessWaitIsAnError)
  {
    try
    {
      run(&half_of_them_wait, 32);
      FAIL() << "no error";
    }
    catch (const DeviceError &error)
    {
      EXPECT_NE(
          std::string(error.what()).find("a test: all threads wait for ever"), std::string::npos)
          << error.what();
    }
  }

  template <bool waits>
  __global__ void copies(double *to)
  {
    auto *memory = reinterpret_cast<double *>(dynamic_shared());
    to[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x % 2 == 0)
      copy_async(memory + threadIdx.x, to + threadIdx.x);
    commit_copies();
    if (waits)
      wait_copies<0>();
    __syncthreads();
    to[threadIdx.x] = 2 * memory[threadIdx.x];
  }

  TEST(Emulation, CopiesLandWhenTheyAreWaitedFor)
  {
    EXPECT_EQ(run(&copies<true>, 32)[31], 62.);
    EXPECT_TRUE(std::isnan(run(&copies<false>, 32)[31]));
  }

  __global__ void sum_of_warp(double *to)
  {
    double sum = threadIdx.x;
    for (int bits = 16; bits > 0; bits /= 2)
      sum += __shfl_xor_sync(~0u, sum, bits);
    const unsigned odd = __ballot_sync(~0u, threadIdx.x % 2);
    to[threadIdx.x] = sum + (odd == 0xaaaaaaaau ? 0.5 : 0.);
  }

  TEST(Emulation, WarpCollectives)
  {
    const std::vector<double> found = run(&sum_of_warp, 64);
    EXPECT_EQ(found[5], 496.5);
    EXPECT_EQ(found[40], 1520.5);
  }

  TEST(Emulation, RefusesWhatNoDeviceAccepts)
  {
    EXPECT_THROW(run(&reverse<true>, 2000), DeviceError);
  }
} // namespace
} // namespace tensormg
