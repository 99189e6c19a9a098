// Sums over lines of cells, and what follows from them.
#pragma once

#include "kernels/device/pack.cuh"

namespace tensormg::laplace::march
{
/// Value and half derivative at one end of a line; `is_line`: the line itself (column/lines.cuh).
template <typename V, bool is_line = false>
struct Trace
{
  V v, d;
};

/// Both ends of a line, from the sums over its even and its odd modes (CellBasis).
template <typename V>
struct LineSums
{
  V ev, ed, ov, od;

  template <typename C>
  __device__ __forceinline__ void add(int mode, C weight_v, C weight_h, const V &u)
  {
    V &value = mode % 2 == 0 ? ev : ov, &derivative = mode % 2 == 0 ? ed : od;
    if (mode < 2)
    {
      value = weight_v * u;
      derivative = weight_h * u;
    }
    else
    {
      add_product(value, weight_v, u);
      add_product(derivative, weight_h, u);
    }
  }
  __device__ __forceinline__ Trace<V> lower() const { return {ev - ov, od - ed}; }
  __device__ __forceinline__ Trace<V> upper() const { return {ev + ov, od + ed}; }
};

/// What the two faces of a line give: factors of c_d v and c_d g for even and for odd modes, from the
/// traces (m) below and (p) above.
template <typename V, bool is_line = false>
struct Faces
{
  V v[2], g[2];

  Faces() = default;
  __device__ __forceinline__ Faces(const Trace<V, is_line> &m, const Trace<V, is_line> &p)
  {
    v[0] = m.d - p.d;
    g[0] = p.v + m.v;
    g[1] = p.v - m.v;
#pragma unroll
    for (int w = 0; w < int(sizeof(V) / sizeof(m.d.at[0])); ++w)
      v[1].at[w] = -m.d.at[w] - p.d.at[w];
  }
  template <typename P>
  __device__ __forceinline__ void add(V &to, const P &p, int d, int m) const
  {
    add_product(to, p.vd[d][m], v[m % 2]);
    add_product(to, p.gd[d][m], g[m % 2]);
  }
};
} // namespace tensormg::laplace::march
