// What peak.h and clock.h declare for a device, in a build without CUDA. With CUDA, cuda.cu and clock.cu take its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/peak/clock.h"
#include "kernels/diagnostics/peak/peak.h"

namespace tensormg::peak
{
bool device_has(Unit) { return false; }

std::int64_t cuda_sink_size() { throw DeviceError("no device: " + why_no_device()); }

double cuda(Unit, int, double *, Stream) { throw DeviceError("no device: " + why_no_device()); }

ClockMeter::ClockMeter() noexcept = default;
void ClockMeter::start() noexcept {}
std::optional<double> ClockMeter::gigahertz() noexcept { return std::nullopt; }
} // namespace tensormg::peak

#endif
