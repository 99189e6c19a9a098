// Device memory, streams and timers.
#include <cstdint>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/device/device_reservation.h"
#include "kernels/device/meters/energy.h"
#include "tests/support/device/allocations.h"

namespace tensormg
{
namespace
{
  using test::allocations;

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

  TEST_F(Device, ArraysShareAnAllocation)
  {
    constexpr std::int64_t size =
        (std::int64_t(1) << 17) + 3; // bytes; no multiple of the alignment
    constexpr std::int64_t room = DeviceReservation::room_of(size);
    static_assert(room % DeviceReservation::alignment == 0 && room >= size);
    std::vector<DeviceArray<char>> arrays;
    const auto take = [&](int count) {
      return allocations([&] {
        for (int i = 0; i < count; ++i)
          arrays.emplace_back(size);
      });
    };
    {
      std::optional<DeviceReservation> reservation;
      EXPECT_EQ(allocations([&] { reservation.emplace(5 * room); }), 1);
      EXPECT_EQ(take(3), 0);
      EXPECT_EQ(allocations([] { const DeviceReservation within(2 * room); }), 0);
      EXPECT_EQ(allocations([] { const DeviceReservation too_large(3 * room); }), 1);
      EXPECT_EQ(allocations([] { DeviceArray<char>(DeviceReservation::smallest - 1); }), 1);
      arrays.erase(arrays.begin()); // which does not make room
      EXPECT_EQ(take(3), 1);
    }
    EXPECT_EQ(take(1), 1); // the reservation is over, its arrays are not
    for (std::size_t i = 0; i < arrays.size(); ++i)
    {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arrays[i].data()) % 256, 0);
      device::fill_bytes(arrays[i].data(), static_cast<int>(i) + 1, size, nullptr);
    }
    std::vector<char> found(size);
    for (std::size_t i = 0; i < arrays.size(); ++i)
    {
      arrays[i].copy_to_host(found.data());
      EXPECT_EQ(found, std::vector<char>(size, static_cast<char>(i + 1)));
    }
  }

  TEST_F(Device, GivesAReservationBack)
  {
    constexpr std::int64_t bytes = std::int64_t(1) << 30;
    constexpr std::int64_t tolerance = bytes / 4; // others use the device as well
    const std::int64_t before = free_device_bytes();
    {
      DeviceArray<char> last;
      {
        const DeviceReservation reservation(bytes);
        last = DeviceArray<char>(bytes / 2);
        DeviceArray<char> another(bytes / 2);
      }
      EXPECT_LT(free_device_bytes(), before - bytes + tolerance); // not by parts
    }
    EXPECT_GT(free_device_bytes(), before - tolerance);
    std::optional<DeviceReservation> too_much;
    EXPECT_NO_THROW(too_much.emplace(before + (std::int64_t(1) << 40)));
    EXPECT_EQ(allocations([] { DeviceArray<char>(1 << 20); }), 1);
  }

  TEST_F(Device, ReservationsBelongToTheirThread)
  {
    constexpr std::int64_t size = std::int64_t(1) << 20;
    const DeviceReservation reservation(2 * size);
    int others = 0;
    std::thread([&] { others = allocations([] { const DeviceArray<char> array(size); }); }).join();
    EXPECT_EQ(others, 1);
    EXPECT_EQ(allocations([] { const DeviceArray<char> array(size); }), 0);
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
