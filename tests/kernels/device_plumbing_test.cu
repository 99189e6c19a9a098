// Device memory, streams and timers.
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/core/device.h"
#include "kernels/core/energy.h"

namespace tensormg
{
namespace
{
  class Device : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  TEST_F(Device, CopiesThereAndBack)
  {
    std::vector<int> numbers(1000), found(1000, -1);
    std::iota(numbers.begin(), numbers.end(), 0);
    DeviceArray<int> array(1000);
    array.copy_to_host(found.data());
    EXPECT_EQ(found, std::vector<int>(1000, 0)); // zero-initialised
    array.copy_from_host(numbers.data());
    DeviceArray<int> moved(std::move(array));
    EXPECT_EQ(array.size(), 0);
    moved.copy_to_host(found.data());
    EXPECT_EQ(found, numbers);
  }

  TEST_F(Device, RefusesWhatDoesNotFit)
  {
    const std::int64_t too_much = free_device_bytes() + (std::int64_t(1) << 40);
    EXPECT_THROW(require_device_bytes(too_much, "a test"), DeviceError);
    EXPECT_THROW(DeviceArray<char> array(too_much), DeviceError);
    EXPECT_NO_THROW(require_device_bytes(1 << 20, "a test"));
    EXPECT_NO_THROW(DeviceArray<char>(1 << 20)); // the refusal left no error behind
  }

  TEST_F(Device, KnowsItself)
  {
    const DeviceProperties properties = device_properties();
    EXPECT_FALSE(properties.name.empty());
    EXPECT_GE(properties.major, 8);
    EXPECT_GT(properties.multiprocessors, 0);
    EXPECT_GT(properties.memory_bytes, 0);
    EXPECT_THROW(use_device(device_count()), DeviceError);
  }

  TEST_F(Device, CountsEnergyIfTheDriverDoes)
  {
    const EnergyCounter counter;
    const std::optional<double> before = counter.joules(), after = counter.joules();
    EXPECT_EQ(before.has_value(), after.has_value());
    EXPECT_GE(after.value_or(0.), before.value_or(0.));
  }

  TEST_F(Device, MeasuresTime)
  {
    OwnedStream stream;
    DeviceArray<char> array(std::int64_t(256) << 20);
    device::synchronize(nullptr);
    DeviceTimer timer;
    timer.start(stream.get());
    device::fill_bytes(array.data(), 1, array.size(), stream.get());
    EXPECT_GT(timer.stop(stream.get()), 0.01); // no memory writes 256 MB in 10 us
  }
} // namespace
} // namespace tensormg
