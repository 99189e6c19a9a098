// CONTRACT of the products in low precision on a device: the methods of methods.h by the units themselves, and single
// instructions for the probe of their adders.
//
//   device_dots   results[s] = sum over k of a[s length + k] b[s length + k] for `samples` sums. By tensor cores the
//                 diagonal of a product of eight sums with each other, filled up with zeros
//   device_sums   results[t] = c[t] + sum over k of a[t n + k] b[t n + k], n = format_of(unit).length: one instruction
//                 for each; factors are rounded to the format
//
// Device memory, queued in the stream. DeviceError where the GPU lacks the instruction.
// Tests: tests/kernels/diagnostics/precision/device_test.cu.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/precision/adder_probe.h"

namespace tensormg::precision
{
/// mma.sync; m16n8k4 in FP64, m16n8k8 in TF32, m16n8k16 in FP16 and BF16.
enum class TensorUnit : std::uint8_t
{
  fp64,
  tf32,
  fp16,
  bf16
};

enum class DeviceMethod : std::uint8_t
{
  fp64, ///< by tensor cores
  fp32, ///< by FMA
  tf32,
  fp16,
  bf16,
  three_tf32,
  tf32_corrected,
  fp16_corrected,
  three_bf16
};

struct DeviceMethodRow
{
  DeviceMethod method;
  const char *host_method; ///< the name of the same in methods()
};
/// THE table.
std::span<const DeviceMethodRow> device_methods();

/// What the probe must know.
UnitFormat format_of(TensorUnit unit);

TENSORMG_CUDA_FUNCTION void device_dots(DeviceMethod method, std::int64_t length,
    std::int64_t samples, const float *a, const float *b, double *results, Stream stream);

TENSORMG_CUDA_FUNCTION void device_sums(TensorUnit unit, std::int64_t tests, const double *a,
    const double *b, const double *c, double *results, Stream stream);
} // namespace tensormg::precision
