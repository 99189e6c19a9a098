// The tile of the 2D kernel for each degree and number type; chosen by measurement (docs/kernels.md).
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/core/shared_memory_limit.h"
#include "kernels/laplace/strips_2d/tile.h"

namespace tensormg::laplace
{
/// Arguments of StripTile.
struct StripChoice
{
  int width, warps, blocks, rows, input_lines;
  bool rolled, parked;
  int more_lines = 0; ///< of the ring of src, where shared memory has room and it is faster
};

// clang-format off
// By degree, 1 to 8: first for `apply`, then for the forms that read b and old.
inline constexpr StripChoice strip_choices_double[2][max_degree] = {
  {{2, 4, 3, 3, 0, false, false},
   {2, 4, 2, 2, 0, false, false, 2},
   {2, 4, 2, 2, 0, false, false},
   {1, 4, 2, 2, 0, false, false},
   {1, 6, 1, 2, 0, false, false},
   {1, 6, 1, 2, 0, false, false},
   {1, 4, 1, 2, 0, true, true, 2},
   {1, 4, 1, 2, 0, true, true, 1}},
  {{2, 4, 3, 2, 4, false, false},
   {2, 4, 2, 2, 3, false, false},
   {2, 3, 2, 2, 4, false, false},
   {1, 4, 2, 2, 4, true, false},
   {1, 4, 1, 2, 4, false, false},
   {1, 4, 1, 2, 3, true, false},
   {1, 4, 1, 2, 2, true, true},
   {1, 3, 1, 2, 2, true, true}}
};
inline constexpr StripChoice strip_choices_float[2][max_degree] = {
  {{4, 4, 3, 3, 0, false, false},
   {4, 4, 3, 2, 0, false, false},
   {4, 4, 2, 2, 0, false, false},
   {2, 4, 2, 2, 0, false, false},
   {2, 4, 2, 2, 0, true, false},
   {2, 6, 1, 2, 0, false, false},
   {2, 4, 1, 2, 0, true, true, 3},
   {2, 4, 1, 2, 0, true, true}},
  {{4, 4, 3, 2, 4, false, false},
   {4, 4, 2, 2, 3, false, false},
   {4, 3, 2, 2, 4, false, false},
   {2, 4, 2, 2, 4, true, false},
   {2, 4, 1, 2, 4, false, false},
   {2, 4, 1, 2, 3, true, false},
   {2, 4, 1, 2, 2, true, true},
   {2, 3, 1, 2, 2, true, true}}
};
// There is no other form.
inline constexpr StripChoice strip_choices_wide[1][max_degree] = {
  {{2, 4, 3, 5, 0, false, false},
   {2, 4, 2, 3, 0, false, false},
   {2, 4, 2, 3, 0, false, false},
   {1, 4, 2, 3, 0, false, false},
   {1, 6, 1, 3, 0, false, false},
   {1, 6, 1, 3, 0, false, false},
   {1, 4, 1, 3, 0, true, true},
   {1, 4, 1, 3, 0, true, true}}
};
inline constexpr StripChoice strip_choices_half[2][max_degree] = {
  {{8, 4, 2, 4, 0, false, false},
   {4, 4, 3, 3, 0, false, false},
   {4, 4, 2, 3, 0, false, false},
   {4, 4, 2, 3, 0, false, true},
   {4, 2, 4, 2, 0, true, true},
   {2, 4, 2, 3, 0, true, true},
   {2, 4, 2, 2, 0, true, true, 2},
   {2, 4, 2, 2, 0, true, false, 1}},
  {{8, 4, 2, 3, 4, false, false},
   {4, 4, 2, 3, 6, false, false},
   {4, 4, 2, 2, 4, false, false},
   {4, 3, 2, 3, 4, false, true},
   {2, 4, 2, 3, 4, true, true},
   {2, 4, 2, 2, 4, true, true},
   {2, 4, 2, 2, 3, true, false},
   {2, 3, 2, 2, 2, true, true}}
};
// clang-format on

template <typename Number>
constexpr StripChoice strip_choice(int degree, int inputs)
{
  const int fused = inputs > 0 ? 1 : 0;
  if constexpr (std::is_same_v<Number, double>)
    return strip_choices_double[fused][degree - 1];
  else if constexpr (std::is_same_v<Number, float>)
    return strip_choices_float[fused][degree - 1];
  else if constexpr (std::is_same_v<Number, WideFloat>)
    return strip_choices_wide[fused][degree - 1];
  else
    return strip_choices_half[fused][degree - 1];
}

/// `inputs`: 0 for apply, 1 for residual, 2 for chebyshev.
template <typename Number, int degree, int inputs>
struct StripTileOf
{
  static constexpr StripChoice choice = strip_choice<Number>(degree, inputs);

private:
  template <int warps>
  using WithWarps = StripTile<Number, degree + 1, inputs, choice.width, warps, choice.blocks,
      choice.rows, choice.input_lines, choice.rolled, choice.parked, choice.more_lines>;
  using Chosen = WithWarps<choice.warps>;
  static constexpr int warps_that_fit =
      (shared_memory_limit::of_block - Chosen::table_bytes) / Chosen::warp_bytes;

public:
  /// With fewer warps where a GPU of the build has less shared memory than compute capability 9.0.
  using type = WithWarps<std::clamp(warps_that_fit, 1, choice.warps)>;
};
} // namespace tensormg::laplace
