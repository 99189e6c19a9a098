// The shapes that kernels of device code know at compile time: which taps there are, and where their weights lie.
#pragma once

#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
/// A shape at compile time. Along the march `s` (2D: y, 3D: z), across it x and (3D) y.
template <int dim_, int radius_, bool box_>
struct Kind
{
  static constexpr int dim = dim_, radius = radius_;
  static constexpr bool box = box_;
  static constexpr int radius_y = dim == 3 ? radius : 0;
  static constexpr int width = 2 * radius + 1, width_y = 2 * radius_y + 1;
  static constexpr int n_weights = width * width_y * width;
  static constexpr bool has_tap(int dx, int dy, int ds)
  {
    return box || (dx != 0) + (dy != 0) + (ds != 0) <= 1;
  }
  static constexpr int weight_index(int dx, int dy, int ds)
  {
    return ((ds + radius) * width_y + dy + radius_y) * width + dx + radius;
  }
};

template <typename Number, typename K>
struct Weights
{
  Number at[K::n_weights];
};

template <typename Number, typename K>
Weights<Number, K> make_weights(const Stencil &stencil)
{
  Weights<Number, K> weights{};
  for (int t = 0; t < stencil.n_taps; ++t)
  {
    const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
    const auto [dx, dy, dz] = tap.offset;
    weights.at[K::dim == 3 ? K::weight_index(dx, dy, dz) : K::weight_index(dx, 0, dy)] +=
        static_cast<Number>(tap.weight);
  }
  return weights;
}

/// All taps of the stencil are of this kind.
template <typename K>
bool is_kind(const Stencil &stencil)
{
  if (stencil.dim != K::dim || stencil.radius != K::radius)
    return false;
  for (int t = 0; t < stencil.n_taps; ++t)
  {
    const auto [dx, dy, dz] = stencil.taps[static_cast<std::size_t>(t)].offset;
    if (!K::has_tap(dx, dy, dz) || (K::dim == 2 && dz != 0))
      return false;
  }
  return true;
}

/// f.template operator()<K>() for the smallest kind K that the stencil is of; false if there is none.
template <typename Function>
bool for_kind(const Stencil &stencil, Function f)
{
  const auto try_kind = [&]<typename K>() {
    const bool is = is_kind<K>(stencil);
    if (is)
      f.template operator()<K>();
    return is;
  };
  return try_kind.template operator()<Kind<2, 1, false>>() ||
      try_kind.template operator()<Kind<2, 1, true>>() ||
      try_kind.template operator()<Kind<2, 3, false>>() ||
      try_kind.template operator()<Kind<2, 3, true>>() ||
      try_kind.template operator()<Kind<3, 1, false>>() ||
      try_kind.template operator()<Kind<3, 1, true>>();
}
} // namespace tensormg::stencil
