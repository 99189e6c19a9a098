// Streaming kernels of the device: every entry, and every number read once.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/stream/caches.h"

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

  // Two and three slices, one and many steps per pass; numbers behind the slices stay as they are.
  TEST_F(StreamDevice, SlicesOfCaches)
  {
    using stream::Cache;
    for (const std::int64_t size :
        {1024, 2048, 4096, 8192}) // up to eight words per thread under way
      for (const int passes : {1, 3})
      {
        constexpr int slices = 3;
        std::vector<double> b;
        for (std::int64_t i = 0; i < slices * size; ++i)
          b.push_back(static_cast<double>(i % 1000) - 3.);
        DeviceArray<double> device_a(slices * size + 5), device_b(slices * size);
        device_b.copy_from_host(b.data());
        for (const Cache cache : {Cache::first, Cache::second})
          for (const Operation operation : stream::all_operations)
          {
            if (cache == Cache::first && operation != Operation::read)
              continue;
            SCOPED_TRACE(testing::Message() << stream::to_string(operation) << " of " << size);
            std::vector<double> a(b.size() + 5, 9.);
            const std::size_t results = operation == Operation::read ? slices : b.size();
            std::fill_n(a.begin(), results, std::numeric_limits<double>::quiet_NaN());
            device_a.copy_from_host(a.data());
            stream::cuda_slices(operation, cache, slices, size, passes, -1.5, device_b.data(),
                device_a.data(), nullptr);
            device_a.copy_to_host(a.data());
            for (std::size_t i = 0; i < results; ++i)
            {
              double expected = operation == Operation::write ? -1.5
                  : operation == Operation::scale             ? -1.5 * b[i]
                                                              : b[i];
              if (operation == Operation::read)
              {
                expected = 0.;
                for (std::int64_t j = 0; j < size; ++j)
                  expected +=
                      passes * b[i * static_cast<std::size_t>(size) + static_cast<std::size_t>(j)];
              }
              ASSERT_EQ(a[i], expected) << i;
            }
            for (std::size_t i = results; i < a.size(); ++i)
              ASSERT_EQ(a[i], 9.);
          }
      }
    for (const auto &[cache, size, passes, operation] :
        {std::tuple{Cache::first, 1024, 1, Operation::copy},
            {Cache::second, 512, 1, Operation::read}, {Cache::second, 1025, 1, Operation::read},
            {Cache::second, 1024, 0, Operation::read}})
      EXPECT_THROW(
          stream::cuda_slices(operation, cache, 1, size, passes, 1., nullptr, nullptr, nullptr),
          std::invalid_argument);
  }
} // namespace
} // namespace tensormg
