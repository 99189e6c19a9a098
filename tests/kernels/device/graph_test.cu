// Recorded work and pinned memory.
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"

namespace tensormg
{
namespace
{
  class Graphs : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  TEST_F(Graphs, RecordsOnceAndRunsOften)
  {
    const OwnedStream stream;
    DeviceArray<unsigned char> from(64, stream.get()), to(64, stream.get());
    PinnedArray<unsigned char> found(64);
    DeviceGraph graph;
    EXPECT_FALSE(graph.is_recorded());
    graph.record(stream.get(), [&] {
      device::copy(to.data(), from.data(), 64, stream.get());
      device::to_host(found.data(), to.data(), 64, stream.get());
    });
    EXPECT_TRUE(graph.is_recorded());
    device::fill_bytes(to.data(), 7, 64, stream.get());
    std::vector<unsigned char> host(64);
    to.copy_to_host(host.data(), stream.get());
    EXPECT_EQ(host[63], 7); // recording has run nothing
    for (const int value : {1, 2, 3})
    {
      device::fill_bytes(from.data(), value, 64, stream.get());
      graph.replay(stream.get());
      device::synchronize(stream.get());
      EXPECT_EQ(found[0], value);
      EXPECT_EQ(found[63], value);
    }
    graph.clear();
    EXPECT_FALSE(graph.is_recorded());
  }

  TEST_F(Graphs, AnErrorWhileRecordingLeavesTheStreamUsable)
  {
    const OwnedStream stream;
    DeviceArray<unsigned char> array(64, stream.get());
    DeviceGraph graph;
    const auto wait = [&] {
      device::fill_bytes(array.data(), 5, 64, stream.get());
      device::synchronize(stream.get()); // cannot be recorded
    };
    EXPECT_THROW(graph.record(stream.get(), wait), DeviceError);
    EXPECT_FALSE(graph.is_recorded());
    wait();
    std::vector<unsigned char> host(64);
    array.copy_to_host(host.data(), stream.get());
    EXPECT_EQ(host[63], 5);
  }
} // namespace
} // namespace tensormg
