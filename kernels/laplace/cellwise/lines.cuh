// Sums along lines, traces and faces where each cell has numbers of its own: formula in cellwise.h.
#pragma once

#include "kernels/device/pack.cuh"

namespace tensormg::laplace::cellwise
{
/// Element by element.
template <typename C, int width>
__device__ __forceinline__ Pack<C, width> product(const Pack<C, width> &a, const Pack<C, width> &b)
{
  Pack<C, width> c;
#pragma unroll
  for (int w = 0; w < width; ++w)
    c.at[w] = a.at[w] * b.at[w];
  return c;
}

/// c + a b
template <typename C, int width>
__device__ __forceinline__ Pack<C, width> with_product(
    Pack<C, width> c, C a, const Pack<C, width> &b)
{
  add_product(c, a, b);
  return c;
}

/// Numbers of neighbouring cells, which may begin anywhere.
template <int width, typename C>
__device__ __forceinline__ Pack<C, width> numbers(const C *of)
{
  Pack<C, width> result;
#pragma unroll
  for (int w = 0; w < width; ++w)
    result.at[w] = __ldg(of + w);
  return result;
}

/// Of a line at one of its ends; D with half the derivative.
template <typename V>
struct Trace
{
  V v, d;
};

/// Sums over the even and the odd modes of a line.
template <typename C, int width>
struct LineSums
{
  using V = Pack<C, width>;
  V v[2]{V(C(0)), V(C(0))}, d[2]{V(C(0)), V(C(0))};

  __device__ __forceinline__ void add(int parity, C of_v, C of_d, const V &u)
  {
    add_product(v[parity], of_v, u);
    add_product(d[parity], of_d, u);
  }
  __device__ __forceinline__ Trace<V> upper() const { return {v[0] + v[1], d[0] + d[1]}; }
  __device__ __forceinline__ Trace<V> lower() const { return {v[0] - v[1], d[1] - d[0]}; }
};

/// What a face gives to even modes m of a cell: v_m p + h_m q.
template <typename V>
struct Face
{
  V p, q;
};

/// Numbers of cells at a face: c, and that of the neighbour.
template <typename V>
struct FaceNumbers
{
  V own, other;
};

/// One face of cells, from their own trace there and that of the neighbour, D pointing to it: with s = sigma / 2,
///   p = c' (s (V - V') - D') - c s (V + V'),  q = c V'.
template <typename C, int width>
__device__ __forceinline__ Face<Pack<C, width>> face(C half_penalty,
    const FaceNumbers<Pack<C, width>> &c, const Pack<C, width> &own_v,
    const Trace<Pack<C, width>> &other)
{
  Face<Pack<C, width>> result;
#pragma unroll
  for (int w = 0; w < width; ++w)
  {
    const C there = fma(half_penalty, own_v.at[w] - other.v.at[w], -other.d.at[w]);
    const C here = half_penalty * (own_v.at[w] + other.v.at[w]);
    result.p.at[w] = fma(c.other.at[w], there, -c.own.at[w] * here);
    result.q.at[w] = c.own.at[w] * other.v.at[w];
  }
  return result;
}
template <typename C, typename V>
__device__ __forceinline__ Face<V> face_above(
    C half_penalty, const FaceNumbers<V> &c, const Trace<V> &own, const Trace<V> &above)
{
  return face(half_penalty, c, own.v, above);
}
template <typename C, typename V>
__device__ __forceinline__ Face<V> face_below(
    C half_penalty, const FaceNumbers<V> &c, const Trace<V> &own, const Trace<V> &below)
{
  return face(half_penalty, c, own.v, {below.v, -below.d});
}

/// What both faces add to mode m of a line: v_m p[m % 2] + h_m q[m % 2].
template <typename C, int width>
struct FaceSums
{
  using V = Pack<C, width>;
  V p[2], q[2];

  __device__ __forceinline__ FaceSums(const Face<V> &lower, const Face<V> &upper)
    : p{upper.p + lower.p, upper.p - lower.p}
    , q{upper.q + lower.q, upper.q - lower.q}
  {}
  __device__ __forceinline__ void add_to(V &sum, int parity, C of_v, C of_d) const
  {
    add_product(sum, of_v, p[parity]);
    add_product(sum, of_d, q[parity]);
  }
};

/// What lies behind a closed side, from the own traces there; kappa: of Robin sides.
template <typename V, typename C>
__device__ __forceinline__ Trace<V> reflected(
    C sign, bool upper, const V &kappa, const Trace<V> &own)
{
  Trace<V> result{sign * own.v, -sign * own.d};
  constexpr int width = sizeof(V) / sizeof(C);
#pragma unroll
  for (int w = 0; w < width; ++w)
    result.d.at[w] = fma(upper ? -kappa.at[w] : kappa.at[w], own.v.at[w], result.d.at[w]);
  return result;
}
} // namespace tensormg::laplace::cellwise
