// What the plumbing of the device says where there is none.
#include "kernels/device/device.h"

#include <gtest/gtest.h>

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
} // namespace
} // namespace tensormg
