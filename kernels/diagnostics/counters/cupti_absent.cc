// What counters.h declares, in a build without CUDA or CUPTI. With both, cupti.cu takes its place.
#if !defined(TENSORMG_HAVE_CUPTI)

#include "kernels/diagnostics/counters/counters.h"

namespace tensormg::counters
{
struct Counters::Session
{};

Counters::Counters()
{
  throw DeviceError(device_count() == 0
          ? "no device: " + why_no_device()
          : "this build has no CUPTI, whose headers were not found beside the CUDA toolkit");
}
Counters::~Counters() = default;
Use Counters::measure(const std::function<double()> &) { return {}; }
void Counters::switch_off() noexcept {}
int Counters::passes() const { return 0; }
} // namespace tensormg::counters

#endif
