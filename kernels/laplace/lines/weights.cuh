// What the line kernel multiplies the modes of a line's neighbours by: see kernel.cuh.
#pragma once

#include "kernels/laplace/lines/parameters.cuh"

namespace tensormg::laplace::lines
{
/// Whether mode m of the reflection at a closed side is that of the cell before it with the other sign.
__device__ __forceinline__ bool reflection_changes_sign(Side side, int m)
{
  return (m % 2 == 1) != reflects_odd(side);
}

/// For the block of layer cz. No layer lies below or above the mesh: the block's own one is read there, whose
/// reflection has other signs; nothing comes of it where ghosts are.
template <typename Number, int n, int direction>
class Weights
{
  using C = Compute<Number>;
  using Parameters = LinesParameters<Number, n>;
  const Parameters &p_;
  int cz_;

public:
  __device__ __forceinline__ Weights(const Parameters &p, int cz)
    : p_(p)
    , cz_(cz)
  {}

  /// Of number m < 2n (modes of the lower, then of the upper neighbour) in sum i; zero beyond.
  __device__ __forceinline__ C operator()(int m, int i) const
  {
    if (m >= 2 * n || i >= n)
      return C(0);
    const bool upper = m >= n;
    const int mode = upper ? m - n : m;
    if (is_nothing(upper))
      return C(0);
    const C weight = p_.neighbour[direction][i][mode];
    const bool odd = (upper ? mode : i) % 2 == 1;
    return odd != changes_sign(upper, mode) ? -weight : weight;
  }

  /// The same in factors: face_v(i) h(m) + face_g(i) v(m), times sign(upper, m is odd) and, of the lower neighbour, the sign
  /// of odd sums.
  __device__ __forceinline__ C v(int m) const { return p_.v[m]; }
  __device__ __forceinline__ C h(int m) const { return p_.h[m]; }
  __device__ __forceinline__ C face_v(int i) const { return p_.face_v[direction][i]; }
  __device__ __forceinline__ C face_g(int i) const { return p_.face_g[direction][i]; }
  __device__ __forceinline__ C sign(bool upper, bool odd) const
  {
    if (is_nothing(upper))
      return C(0);
    return (upper && odd) != changes_sign(upper, odd) ? C(-1) : C(1);
  }

private:
  __device__ __forceinline__ Side side(bool upper) const { return p_.sides[2 * direction + upper]; }
  __device__ __forceinline__ bool beyond(bool upper) const
  {
    return direction == 2 && (upper ? cz_ + 1 == p_.nz : cz_ == 0);
  }
  __device__ __forceinline__ bool is_nothing(bool upper) const
  {
    return beyond(upper) && !is_closed(side(upper));
  }
  __device__ __forceinline__ bool changes_sign(bool upper, int mode) const
  {
    return beyond(upper) && reflection_changes_sign(side(upper), mode);
  }
};
} // namespace tensormg::laplace::lines
