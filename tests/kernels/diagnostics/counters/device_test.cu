// Hardware counters of kernels of which is known what bounds them. Needs a GPU of its own.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/counters/counters.h"
#include "kernels/diagnostics/peak/peak.h"
#include "kernels/diagnostics/scale/scale.h"

namespace tensormg::counters
{
namespace
{
  double percent_of(const std::vector<Share> &shares, const std::string &name)
  {
    for (const Share &share : shares)
      if (share.name == name)
        return share.percent;
    ADD_FAILURE() << "no " << name;
    return 0.;
  }

  class CountersDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }

    static void check(const Use &use)
    {
      for (const Share &unit : use.units)
      {
        EXPECT_GE(unit.percent, 0.) << unit.name;
        EXPECT_LE(unit.percent, 105.) << unit.name;
      }
      double sum = 0.;
      for (std::size_t i = 0; i < use.waits.size(); ++i)
      {
        sum += use.waits[i].percent;
        if (i > 0)
        {
          EXPECT_LE(use.waits[i].percent, use.waits[i - 1].percent);
        }
      }
      EXPECT_NEAR(sum, 100., 1e-6);
      EXPECT_GT(use.resident_warps, 0.);
      EXPECT_LE(use.resident_warps, 100.5);
    }
  };

  TEST_F(CountersDevice, MemoryIsBusyWithScale)
  {
    const std::int64_t size = std::int64_t(1) << 26; // 1 GB in all, past the caches
    DeviceArray<double> a(size), b(size);
    device::fill_bytes(b.data(), 0, static_cast<std::size_t>(size) * sizeof(double), nullptr);
    Counters counters;
    int calls = 0;
    DeviceTimer timer;
    const auto work = [&] {
      ++calls;
      timer.start(nullptr);
      for (int run = 0; run < 4; ++run)
        scale::cuda(size, 2., b.data(), a.data(), nullptr);
      return timer.stop(nullptr);
    };
    const Use use = counters.measure(work);
    EXPECT_EQ(calls, counters.passes());
    check(use);
    EXPECT_GT(percent_of(use.units, "memory"), 75.);
    EXPECT_LT(percent_of(use.units, "tensor"), 1.);
    EXPECT_LT(percent_of(use.units, "issue"), 50.);
    EXPECT_EQ(use.waits.front().name, "waiting for global memory") << in_words(use);
  }

  TEST_F(CountersDevice, UnitsAreBusyWithTheirCeilings)
  {
    DeviceArray<double> sink(peak::cuda_sink_size());
    Counters counters;
    const auto use_of = [&](peak::Unit unit) {
      DeviceTimer timer;
      const Use use = counters.measure([&] {
        timer.start(nullptr);
        peak::cuda(unit, 20000, sink.data(), nullptr);
        return timer.stop(nullptr);
      });
      check(use);
      EXPECT_LT(percent_of(use.units, "memory"), 5.);
      return use;
    };
    EXPECT_GT(percent_of(use_of(peak::Unit::fp64).units, "FP64"), 80.);
    EXPECT_GT(percent_of(use_of(peak::Unit::fp16_tensor).units, "tensor"), 80.);
    EXPECT_EQ(busiest(use_of(peak::Unit::fp64_tensor)).name, "tensor");
  }
} // namespace
} // namespace tensormg::counters
