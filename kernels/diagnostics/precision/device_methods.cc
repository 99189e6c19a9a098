#include <array>

#include "kernels/diagnostics/precision/device.h"

namespace tensormg::precision
{
namespace
{
  constexpr std::array table{DeviceMethodRow{DeviceMethod::fp64, "FP64"},
      DeviceMethodRow{DeviceMethod::fp32, "FP32"}, DeviceMethodRow{DeviceMethod::tf32, "TF32"},
      DeviceMethodRow{DeviceMethod::fp16, "FP16"}, DeviceMethodRow{DeviceMethod::bf16, "BF16"},
      DeviceMethodRow{DeviceMethod::three_tf32, "3xTF32"},
      DeviceMethodRow{DeviceMethod::tf32_corrected, "TF32 corrected"},
      DeviceMethodRow{DeviceMethod::fp16_corrected, "FP16 corrected"},
      DeviceMethodRow{DeviceMethod::three_bf16, "3xBF16"}};
} // namespace

std::span<const DeviceMethodRow> device_methods() { return table; }

UnitFormat format_of(TensorUnit unit)
{
  switch (unit)
  {
    case TensorUnit::fp64:
      return {4, 53, -1022, 1023};
    case TensorUnit::tf32:
      return {8, 24, -126, 127};
    case TensorUnit::fp16:
      return {16, 24, -14, 15};
    case TensorUnit::bf16:
      break;
  }
  return {16, 24, -126, 127};
}
} // namespace tensormg::precision
