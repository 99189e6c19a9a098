// Streaming kernels of the device: every entry, and every number read once.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/core/device.h"
#include "kernels/stream/stream.h"

namespace tensormg
{
namespace
{
  using stream::Operation;

  class StreamDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  std::vector<double> result(Operation operation, std::int64_t size, const std::vector<double> &b)
  {
    std::vector<double> a(static_cast<std::size_t>(size) + 3, 9.);
    std::fill_n(a.begin(), size, std::numeric_limits<double>::quiet_NaN());
    DeviceArray<double> device_a(static_cast<std::int64_t>(a.size())), device_b(size);
    device_a.copy_from_host(a.data());
    device_b.copy_from_host(b.data());
    stream::cuda(operation, size, -1.5, device_b.data(), device_a.data(), nullptr);
    device_a.copy_to_host(a.data());
    for (std::size_t i = static_cast<std::size_t>(size); i < a.size(); ++i)
      EXPECT_EQ(a[i], 9.);
    return a;
  }

  TEST_F(StreamDevice, EveryEntry)
  {
    for (const std::int64_t size : {64, 192, 2048, 2112, 64 * 101})
    {
      std::vector<double> b;
      double sum = 0.;
      for (std::int64_t i = 0; i < size; ++i)
      {
        b.push_back(static_cast<double>(i % 1000) - 3.);
        sum += b.back();
      }
      const std::vector<double> written = result(Operation::write, size, b),
                                copied = result(Operation::copy, size, b),
                                scaled = result(Operation::scale, size, b),
                                read = result(Operation::read, size, b);
      for (std::size_t i = 0; i < b.size(); ++i)
      {
        ASSERT_EQ(written[i], -1.5);
        ASSERT_EQ(copied[i], b[i]);
        ASSERT_EQ(scaled[i], -1.5 * b[i]);
      }
      double sums = 0.;
      for (std::int64_t i = 0; i < stream::n_sums(size); ++i)
        sums += read[static_cast<std::size_t>(i)];
      EXPECT_EQ(sums, sum); // of integers
    }
    stream::cuda(Operation::copy, 0, 1., nullptr, nullptr, nullptr);
  }
} // namespace
} // namespace tensormg
