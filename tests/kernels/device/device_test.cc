// What the plumbing of the device says where there is none.
#include "kernels/device/device.h"

#include <gtest/gtest.h>

#include "kernels/laplace/laplace.h"
#include "kernels/patch/cuda.h"
#include "kernels/patch_inverse/patch_inverse.h"

namespace tensormg
{
namespace
{
  TEST(NoDevice, SaysWhy)
  {
    if (device_count() > 0)
      GTEST_SKIP() << "there is a device";
    EXPECT_FALSE(why_no_device().empty());
    try
    {
      use_device(0);
      FAIL() << "use_device() must throw";
    }
    catch (const DeviceError &error)
    {
      EXPECT_NE(std::string(error.what()).find(why_no_device()), std::string::npos);
    }
    EXPECT_THROW(DeviceArray<double>(8), DeviceError);
    EXPECT_NO_THROW(DeviceArray<double>());
  }

  // Their kernels have no address in a build without CUDA (kernels/device/cuda_function.h).
  TEST(NoDevice, KernelsAreNotSelected)
  {
    if (device_count() > 0)
      GTEST_SKIP() << "there is a device";
    if (!built_with_cuda())
    {
      EXPECT_THROW(laplace::backend_from_string("cuda"), std::invalid_argument);
      EXPECT_THROW(laplace::select<double>(laplace::Backend::cuda, laplace::Form::apply, 3, 2),
          std::invalid_argument);
    }
    using tensor::Arithmetic;
    EXPECT_THROW(
        patch_inverse::select<double>({patch_inverse::Backend::cuda, Arithmetic::fp64}, 3, 4),
        DeviceError);
    EXPECT_THROW(
        patch_inverse::select<Half>({patch_inverse::Backend::mma, Arithmetic::fp16}, 3, 12),
        DeviceError);
    EXPECT_THROW(patch::select_device<float>(patch_inverse::Backend::cuda, 3, 4), DeviceError);
  }
} // namespace
} // namespace tensormg
