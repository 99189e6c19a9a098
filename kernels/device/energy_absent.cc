// What energy.h declares, in a build without CUDA: there is no counter.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/energy.h"

namespace tensormg
{
struct EnergyCounter::Library
{};
EnergyCounter::EnergyCounter() noexcept = default;
EnergyCounter::~EnergyCounter() = default;
std::optional<double> EnergyCounter::joules() const noexcept { return std::nullopt; }
} // namespace tensormg

#endif
