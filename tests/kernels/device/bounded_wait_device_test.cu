// A wait for another block ends: it is over when the phase is, and in vain it is an error. The last test, as the device is lost then.
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/shared_memory.cuh"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  /// Half of the threads wait until the others have arrived; `missing` arrivals never come.
  __global__ void wait_for_others(unsigned missing, int *ends)
  {
    auto *barrier = reinterpret_cast<pipeline::Barrier *>(dynamic_shared());
    if (threadIdx.x == 0)
      pipeline::init(barrier, blockDim.x / 2 + missing);
    __syncthreads();
    if (threadIdx.x < blockDim.x / 2)
      pipeline::wait_bounded<1>(barrier, 0);
    else
      pipeline::arrive(barrier);
    ends[threadIdx.x] = 1;
  }

  class BoundedWait : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      if (device_properties().major < 9)
        GTEST_SKIP() << "mbarriers need compute capability 9.0";
    }

  protected:
    static std::vector<int> run(unsigned missing)
    {
      constexpr int threads = 128;
      DeviceArray<int> ends(threads);
      launch("a wait", &wait_for_others, 1, threads, sizeof(pipeline::Barrier), nullptr, missing,
          ends.data());
      std::vector<int> result(threads);
      ends.copy_to_host(result.data());
      return result;
    }
  };

  TEST_F(BoundedWait, EndsWithThePhase) { EXPECT_EQ(run(0), std::vector<int>(128, 1)); }

  TEST_F(BoundedWait, InVainIsAnError)
  {
    if (test::is_sanitized())
      GTEST_SKIP() << "a tool of compute-sanitizer counts the trap as an error of the kernel";
    EXPECT_THROW(run(1), DeviceError);
  }
} // namespace
} // namespace tensormg
