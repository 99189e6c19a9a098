#include "apps/compare/clock.h"

#include <chrono>
#include <memory>
#include <thread>

#include "kernels/device/meters/clock.h"

namespace tensormg
{
CoreClock device_clock()
{
  const auto meter = std::make_shared<ClockMeter>();
  return {[meter] { meter->start(); }, [meter] { return meter->gigahertz(); }};
}

UnderLoad measure_under_load(const std::function<double(int runs)> &time, const CoreClock &clock,
    int runs, const Pace &pace, double lasting_seconds)
{
  UnderLoad result;
  std::this_thread::sleep_for(std::chrono::duration<double>(pace.pause));
  double busy = 0.;
  do
    busy += time(1);
  while (busy < pace.warm_up);
  clock.start();
  const double sample = time(runs);
  result.burst_gigahertz = clock.gigahertz();

  const double half = 0.5e3 * lasting_seconds;
  if (!(sample < half))
    return result;
  for (busy = 0.; busy < half;)
    busy += time(runs);
  int count = 0;
  clock.start();
  for (busy = 0.; busy < half; count += runs)
    busy += time(runs);
  result.lasting = {busy / count, clock.gigahertz()};
  return result;
}
} // namespace tensormg
