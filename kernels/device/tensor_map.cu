#include "kernels/device/tensor_map.h"

#include <cuda_runtime.h>

#include "kernels/device/cuda_check.h"

namespace tensormg
{
namespace
{
  using Encode = CUresult(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
      const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
      CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

  /// The function of the driver library, which is not linked.
  Encode *encode_function()
  {
    static Encode *const function = [] {
      void *found = nullptr;
      cudaDriverEntryPointQueryResult result{};
      check_cuda(cudaGetDriverEntryPointByVersion(
                     "cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result),
          "looking for cuTensorMapEncodeTiled");
      if (result != cudaDriverEntryPointSuccess)
        throw DeviceError("the driver knows no tensor maps; CUDA 12.0 or newer is needed");
      return reinterpret_cast<Encode *>(found);
    }();
    return function;
  }

  constexpr CUtensorMapSwizzle swizzle_of(BoxLayout layout)
  {
    switch (layout)
    {
      case BoxLayout::swizzled_64:
        return CU_TENSOR_MAP_SWIZZLE_64B;
      case BoxLayout::swizzled_128:
        return CU_TENSOR_MAP_SWIZZLE_128B;
      case BoxLayout::plain:
        break;
    }
    return CU_TENSOR_MAP_SWIZZLE_NONE;
  }

  constexpr CUtensorMapDataType type_of(double) { return CU_TENSOR_MAP_DATA_TYPE_FLOAT64; }
  constexpr CUtensorMapDataType type_of(float) { return CU_TENSOR_MAP_DATA_TYPE_FLOAT32; }
  constexpr CUtensorMapDataType type_of(WideFloat) { return CU_TENSOR_MAP_DATA_TYPE_FLOAT32; }
  constexpr CUtensorMapDataType type_of(Half) { return CU_TENSOR_MAP_DATA_TYPE_FLOAT16; }
} // namespace

template <typename Number>
CUtensorMap make_box_map(
    const Block &block, const Number *data, int cells, int rows, BoxLayout layout, int planes)
{
  const auto unsigned_of = [](std::int64_t value) { return static_cast<cuuint64_t>(value); };
  const cuuint64_t size[4] = {unsigned_of(block.cells[0]), unsigned_of(block.n),
      unsigned_of(block.rows_per_plane()), unsigned_of(block.planes())};
  const cuuint64_t stride[3] = {unsigned_of(block.pitch) * sizeof(Number),
      unsigned_of(block.row()) * sizeof(Number), unsigned_of(block.plane()) * sizeof(Number)};
  const cuuint32_t box[4] = {static_cast<cuuint32_t>(cells), static_cast<cuuint32_t>(block.n),
      static_cast<cuuint32_t>(rows), static_cast<cuuint32_t>(planes)};
  const cuuint32_t step[4] = {1, 1, 1, 1};
  // Of boxes narrower than a sector of L2 another block wants the rest of the line at the same time.
  const CUtensorMapL2promotion fetched = static_cast<int>(sizeof(Number)) * cells < 32
      ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
      : CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMap map;
  const CUresult result = encode_function()(&map, type_of(Number{}), 4, const_cast<Number *>(data),
      size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(layout), fetched,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw DeviceError("cuTensorMapEncodeTiled refuses a box of " + std::to_string(cells) +
        " cells and " + std::to_string(rows) + " rows (error " +
        std::to_string(static_cast<int>(result)) + ")");
  return map;
}

template CUtensorMap make_box_map(const Block &, const double *, int, int, BoxLayout, int);
template CUtensorMap make_box_map(const Block &, const float *, int, int, BoxLayout, int);
template CUtensorMap make_box_map(const Block &, const WideFloat *, int, int, BoxLayout, int);
template CUtensorMap make_box_map(const Block &, const Half *, int, int, BoxLayout, int);
} // namespace tensormg
