// The loops of the ceilings on a device count what they do, and the clock meter finds the clock they ran at.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/meters/clock.h"
#include "kernels/diagnostics/peak/peak.h"

namespace tensormg
{
namespace
{
  using peak::Unit;

  class PeakDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  TEST_F(PeakDevice, LoopsCountAndReturnTheirResult)
  {
    DeviceArray<double> sink(peak::cuda_sink_size());
    std::vector<double> host(static_cast<std::size_t>(sink.size()));
    for (int u = 0; u <= static_cast<int>(Unit::bf16_wgmma); ++u)
    {
      const auto unit = static_cast<Unit>(u);
      if (!peak::device_has(unit))
        continue;
      SCOPED_TRACE(to_string(unit));
      device::fill_bytes(sink.data(), 0xff, host.size() * sizeof(double), nullptr);
      const double once = peak::cuda(unit, 10, sink.data(), nullptr);
      EXPECT_GT(once, 0.);
      EXPECT_EQ(peak::cuda(unit, 20, sink.data(), nullptr), 2. * once);
      sink.copy_to_host(host.data());
      EXPECT_TRUE(std::isfinite(host[0]));
    }
  }

  TEST_F(PeakDevice, TheClockIsBelowItsMaximum)
  {
    DeviceArray<double> sink(peak::cuda_sink_size());
    ClockMeter meter;
    meter.start();
    for (int i = 0; i < 20; ++i)
      peak::cuda(Unit::fp64, 2000, sink.data(), nullptr);
    device::synchronize(nullptr);
    const std::optional<double> clock = meter.gigahertz();
    ASSERT_TRUE(clock);
    EXPECT_GT(*clock, 0.1);
    EXPECT_LT(*clock, 1.02 * device_properties().clock_ghz);
  }
} // namespace
} // namespace tensormg
