// CONTRACT of the peak kernels: loops that do nothing but keep one unit of the machine busy, so that
// their rate is what a kernel can at most get from that unit.
//
//   unit            counted        loop
//   fp64, fp32      flop           independent chains of FMA in registers (an FMA counts two)
//   *_tensor        flop           mma.sync on fragments in registers, largest shape of the GPU unless named
//   *_wgmma         flop           wgmma of 64 x 256 x 16 (TF32: x 8), operands in shared memory, sums in registers
//   shared_memory   bytes          conflict-free 16-byte reads
//   issue           instructions   of one thread: FMA and shifts in turn, which every GPU from
//                                  compute capability 8.0 on starts at its full rate
//
// Ensures: results go to memory that the caller owns, so that no loop can be dropped.
// Tests: tests/kernels/diagnostics/scale/scale_test.cc (the host's), tests/kernels/diagnostics/peak/device_test.cu.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::peak
{
enum class Unit : std::uint8_t
{
  fp64,
  fp32,
  fp64_tensor,
  fp64_tensor_m8n8k4, ///< the only shape that WMMA and compute capability 8.0 have
  tf32_tensor,
  fp16_tensor,
  shared_memory,
  issue,
  // Single shapes and further types, and what only Hopper has.
  fp64_tensor_m16n8k4,
  fp64_tensor_m16n8k8,
  tf32_tensor_m16n8k4,
  fp16_tensor_m16n8k8,
  fp16_wgmma,
  bf16_tensor_m16n8k8,
  bf16_tensor,
  tf32_wgmma,
  bf16_wgmma
};
/// What every GPU has.
inline constexpr std::array all_units{Unit::fp64, Unit::fp32, Unit::fp64_tensor,
    Unit::fp64_tensor_m8n8k4, Unit::tf32_tensor, Unit::fp16_tensor, Unit::shared_memory,
    Unit::issue};

/// "FP64", "FP16 tensor", ...
constexpr const char *to_string(Unit unit)
{
  constexpr std::array names{"FP64", "FP32", "FP64 tensor", "FP64 tensor m8n8k4", "TF32 tensor",
      "FP16 tensor", "shared memory", "issue", "FP64 tensor m16n8k4", "FP64 tensor m16n8k8",
      "TF32 tensor m16n8k4", "FP16 tensor m16n8k8", "FP16 wgmma", "BF16 tensor m16n8k8",
      "BF16 tensor", "TF32 wgmma", "BF16 wgmma"};
  return names[static_cast<std::size_t>(unit)];
}

/// One thread of the host has only these.
constexpr bool host_has(Unit unit) { return unit == Unit::fp64 || unit == Unit::fp32; }

/// `rounds` rounds of the loop on the host; returns the flops done. `sink` gets the result.
double cpu(Unit unit, std::int64_t rounds, double &sink);

/// Does the current device have it?
TENSORMG_CUDA_FUNCTION bool device_has(Unit unit);

/// Numbers of `sink` that cuda() writes on the current device.
TENSORMG_CUDA_FUNCTION std::int64_t cuda_sink_size();

/// Queues `rounds` rounds of the loop on the whole device; returns the amount of what is counted.
/// `sink` lies in device memory.
TENSORMG_CUDA_FUNCTION double cuda(Unit unit, int rounds, double *sink, Stream stream);
} // namespace tensormg::peak
