// The tiles of the 2D kernel; chosen by measurement on compute capability 9.0 (docs/kernels.md).
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/core/shared_memory_limit.h"
#include "kernels/laplace/strips_2d/tile.h"

namespace tensormg::laplace
{
// clang-format off
// By degree, 1 to 8.
inline constexpr StripShape strips_double_apply[max_degree] = {
  {.width = 2, .warps = 4, .blocks = 3, .rows = 3},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 2, .more_lines = 2},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 2},
  {.width = 1, .warps = 4, .blocks = 2, .rows = 2},
  {.width = 1, .warps = 6, .blocks = 1, .rows = 2},
  {.width = 1, .warps = 6, .blocks = 1, .rows = 2},
  {.width = 1, .warps = 4, .blocks = 1, .rows = 2, .rolled = true, .parked = true, .more_lines = 2},
  {.width = 1, .warps = 4, .blocks = 1, .rows = 2, .rolled = true, .parked = true, .more_lines = 1}};
inline constexpr StripShape strips_double[max_degree] = {
  {.width = 2, .warps = 4, .blocks = 3, .rows = 2, .input_lines = 4},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 2, .input_lines = 3},
  {.width = 2, .warps = 3, .blocks = 2, .rows = 2, .input_lines = 4},
  {.width = 1, .warps = 4, .blocks = 2, .rows = 2, .input_lines = 4, .rolled = true},
  {.width = 1, .warps = 4, .blocks = 1, .rows = 2, .input_lines = 4},
  {.width = 1, .warps = 4, .blocks = 1, .rows = 2, .input_lines = 3, .rolled = true},
  {.width = 1, .warps = 4, .blocks = 1, .rows = 2, .input_lines = 2, .rolled = true, .parked = true},
  {.width = 1, .warps = 3, .blocks = 1, .rows = 2, .input_lines = 2, .rolled = true, .parked = true}};
inline constexpr StripShape strips_float[max_degree] = {
  {.width = 4, .warps = 4, .blocks = 3, .rows = 2, .input_lines = 4},
  {.width = 4, .warps = 4, .blocks = 2, .rows = 2, .input_lines = 3},
  {.width = 4, .warps = 3, .blocks = 2, .rows = 2, .input_lines = 4},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 2, .input_lines = 4, .rolled = true},
  {.width = 2, .warps = 4, .blocks = 1, .rows = 2, .input_lines = 4},
  {.width = 2, .warps = 4, .blocks = 1, .rows = 2, .input_lines = 3, .rolled = true},
  {.width = 2, .warps = 4, .blocks = 1, .rows = 2, .input_lines = 2, .rolled = true, .parked = true},
  {.width = 2, .warps = 3, .blocks = 1, .rows = 2, .input_lines = 2, .rolled = true, .parked = true}};
inline constexpr StripShape strips_half[max_degree] = {
  {.width = 8, .warps = 4, .blocks = 2, .rows = 3, .input_lines = 4},
  {.width = 4, .warps = 4, .blocks = 2, .rows = 3, .input_lines = 6},
  {.width = 4, .warps = 4, .blocks = 2, .rows = 2, .input_lines = 4},
  {.width = 4, .warps = 3, .blocks = 2, .rows = 3, .input_lines = 4, .parked = true},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 3, .input_lines = 4, .rolled = true, .parked = true},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 2, .input_lines = 4, .rolled = true, .parked = true},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 2, .input_lines = 3, .rolled = true},
  {.width = 2, .warps = 3, .blocks = 2, .rows = 2, .input_lines = 2, .rolled = true, .parked = true}};
inline constexpr StripShape strips_wide_apply[max_degree] = {
  {.width = 2, .warps = 4, .blocks = 3, .rows = 5},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 3},
  {.width = 2, .warps = 4, .blocks = 2, .rows = 3},
  {.width = 1, .warps = 4, .blocks = 2, .rows = 3},
  {.width = 1, .warps = 6, .blocks = 1, .rows = 3},
  {.width = 1, .warps = 6, .blocks = 1, .rows = 3},
  {.width = 1, .warps = 4, .blocks = 1, .rows = 3, .rolled = true, .parked = true},
  {.width = 1, .warps = 4, .blocks = 1, .rows = 3, .rolled = true, .parked = true}};
// clang-format on

/// `inputs`: 0 for apply, 1 for residual, 2 for chebyshev. B u of FP32 and FP16, which nobody launches but to compare it, has what the
/// forms have that read b and old.
template <typename Number>
constexpr StripShape strip_shape(int degree, int inputs)
{
  if constexpr (std::is_same_v<Number, double>)
    return inputs > 0 ? strips_double[degree - 1] : strips_double_apply[degree - 1];
  else if constexpr (std::is_same_v<Number, WideFloat>)
    return strips_wide_apply[degree - 1];
  else
    return std::is_same_v<Number, float> ? strips_float[degree - 1] : strips_half[degree - 1];
}

template <typename Number, int degree, int inputs>
struct StripTileOf
{
  static constexpr StripShape shape = strip_shape<Number>(degree, inputs);

private:
  static constexpr StripShape with_warps(int warps)
  {
    StripShape result = shape;
    result.warps = warps;
    return result;
  }
  using Chosen = StripTile<Number, degree + 1, inputs, shape>;
  static constexpr int warps_that_fit =
      (shared_memory_limit::of_block - Chosen::table_bytes) / Chosen::warp_bytes;

public:
  /// With fewer warps where a GPU of the build has less shared memory than compute capability 9.0.
  using type =
      StripTile<Number, degree + 1, inputs, with_warps(std::clamp(warps_that_fit, 1, shape.warps))>;
};
} // namespace tensormg::laplace
