// The meters of a device in a build without CUDA, and in the emulation: they have nothing. With CUDA, clock.cu and energy.cu
// take its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/meters/clock.h"
#include "kernels/device/meters/energy.h"

namespace tensormg
{
ClockMeter::ClockMeter() noexcept = default;
void ClockMeter::start() noexcept {}
std::optional<double> ClockMeter::gigahertz() noexcept { return std::nullopt; }

struct EnergyCounter::Library
{};
EnergyCounter::EnergyCounter() noexcept = default;
EnergyCounter::~EnergyCounter() = default;
std::optional<double> EnergyCounter::joules() const noexcept { return std::nullopt; }
} // namespace tensormg

#endif
