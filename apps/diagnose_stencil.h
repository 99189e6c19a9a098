// What the kernels of class `stencil` work on, how their results are checked, and those of the device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "apps/diagnose_table.h"
#include "kernels/stencil/stencil.h"

namespace tensormg::diagnose
{
using stencil::Grid;
using stencil::Stencil;

struct StencilProblem
{
  Stencil stencil;
  Grid grid;
  int depth; ///< steps of one run
  bool past_caches;
};

/// Entry i of the input: random.
double stencil_input(std::int64_t i);

/// Copies entries [first, first + count) of a result to host memory.
template <typename Number>
using Fetch = std::function<void(std::int64_t first, std::int64_t count, Number *to)>;

/// The largest difference from the reference on boxes at all corners, in the middle of sides and faces and in
/// the middle; infinite if any entry at all is not finite.
template <typename Number>
double stencil_error(const StencilProblem &problem, const Fetch<Number> &fetch);

/// How a device goes through the steps.
enum class DeviceMethod : std::uint8_t
{
  naive,       ///< a pass per step
  march,       ///< a pass per step
  one_pass,    ///< the same in as few passes as the kernel can do
  tile_fma,    ///< tiles in 2D, a pass per step, on CUDA cores
  tile_m8n8k4, ///< the same on tensor cores
  tile_m16n8k4
};

template <typename Number, DeviceMethod method>
std::unique_ptr<Candidate> make_device_stencil(const StencilProblem &problem, ThreadTeam &team);
} // namespace tensormg::diagnose
