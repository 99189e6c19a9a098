// Sums over lines of cells, and what follows from them, for the column kernel.
#pragma once

#include <type_traits>

#include "kernels/laplace/column/column.cuh"
#include "kernels/laplace/march/line_sums.cuh"

namespace tensormg::laplace::column
{
/// Lines of two modes are taken as they are (`is_line`): v and d of a trace then are the modes, what they give to the neighbour
/// has a matrix of full rank, and forming sums first would take twice as many operations. All that is said of traces
/// behind closed sides holds for them, too.
using march::Trace;

/// march::LineSums in units of v_0 and h_0, so that no sum begins with a product: the weights of the first odd mode are those
/// of all odd ones, v_m and h_m of the others are relative to the first one of their parity (LaneParameters).
template <typename V, bool is_line>
struct ScaledSums
{
  V ev, ed, ov, od;

  template <typename P>
  __device__ __forceinline__ void add(int mode, const P &p, const V &u)
  {
    V &value = mode % 2 == 0 ? ev : ov, &derivative = mode % 2 == 0 ? ed : od;
    if (mode < 2)
      value = derivative = u;
    else
    {
      add_product(value, p.v[mode], u);
      add_product(derivative, p.h[mode], u);
    }
  }
  template <typename P>
  __device__ __forceinline__ Trace<V, is_line> lower(const P &p) const
  {
    return combine(-p.v[1], -ed, p.h[1]);
  }
  template <typename P>
  __device__ __forceinline__ Trace<V, is_line> upper(const P &p) const
  {
    return combine(p.v[1], ed, p.h[1]);
  }

private:
  template <typename C>
  __device__ __forceinline__ Trace<V, is_line> combine(C odd_v, const V &even_d, C odd_d) const
  {
    if constexpr (is_line)
      return {ev, ov};
    else
    {
      Trace<V, is_line> trace{ev, even_d};
      add_product(trace.v, odd_v, ov);
      add_product(trace.d, odd_d, od);
      return trace;
    }
  }
};

/// Adds to mode m of a line in direction d what the traces below it (above it) give.
template <bool is_above, typename P, typename V, bool is_line>
__device__ __forceinline__ void add_face(
    V &to, const P &p, int d, int m, const Trace<V, is_line> &trace)
{
  if constexpr (is_line)
  {
    const auto first = p.near[d][m][0], second = p.near[d][m][1];
    add_product(to, is_above || m == 0 ? first : -first, trace.v);
    add_product(to, is_above || m == 1 ? second : -second, trace.d);
  }
  else
  {
    const bool negative = is_above || m % 2 == 1;
    add_product(to, negative ? -p.vd[d][m] : p.vd[d][m], trace.d);
    add_product(to, !is_above && m % 2 == 1 ? -p.gd[d][m] : p.gd[d][m], trace.v);
  }
}

} // namespace tensormg::laplace::column

namespace tensormg::laplace::march
{
template <typename V>
struct Faces<V, true>
{
  const Trace<V, true> below, above;

  __device__ __forceinline__ Faces(const Trace<V, true> &m, const Trace<V, true> &p)
    : below(m)
    , above(p)
  {}
  template <typename P>
  __device__ __forceinline__ void add(V &to, const P &p, int d, int m) const
  {
    column::add_face<false>(to, p, d, m, below);
    column::add_face<true>(to, p, d, m, above);
  }
};
} // namespace tensormg::laplace::march

namespace tensormg::laplace::column
{
using march::Faces;

/// The traces at the top of a layer, by mode (j, i): in registers, or where those are needed for other
/// things, in this lane's part of shared memory.
template <typename Tile, bool parked = Tile::parked>
class Carry
{
  using V = Pack<typename Tile::C, Tile::width>;
  Trace<V, Tile::n == 2> at[Tile::n][Tile::n];

public:
  __device__ __forceinline__ Carry(typename Tile::C *, int) {}
  __device__ __forceinline__ Trace<V, Tile::n == 2> get(int j, int i) const { return at[j][i]; }
  __device__ __forceinline__ void put(int j, int i, const Trace<V, Tile::n == 2> &trace)
  {
    at[j][i] = trace;
  }
};

template <typename Tile>
class Carry<Tile, true>
{
  using C = typename Tile::C;
  using V = Pack<C, Tile::width>;
  static constexpr int numbers = 2 * Tile::width; ///< of a trace
  C *const memory;

  __device__ __forceinline__ C *of(int j, int i) const
  {
    return memory + (j * Tile::n + i) * (32 * numbers);
  }

public:
  __device__ __forceinline__ Carry(C *of_warp, int lane)
    : memory(of_warp + lane * numbers)
  {}
  __device__ __forceinline__ Trace<V, Tile::n == 2> get(int j, int i) const
  {
    const Pack<C, numbers> both = load_pack<numbers>(of(j, i));
    Trace<V, Tile::n == 2> trace;
#pragma unroll
    for (int w = 0; w < Tile::width; ++w)
    {
      trace.v.at[w] = both.at[w];
      trace.d.at[w] = both.at[Tile::width + w];
    }
    return trace;
  }
  __device__ __forceinline__ void put(int j, int i, const Trace<V, Tile::n == 2> &trace)
  {
    Pack<C, numbers> both;
#pragma unroll
    for (int w = 0; w < Tile::width; ++w)
    {
      both.at[w] = trace.v.at[w];
      both.at[Tile::width + w] = trace.d.at[w];
    }
    write_pack(of(j, i), both);
  }
};

/// Writes to shared memory, rounding to what is stored there.
template <typename Number, int width>
__device__ __forceinline__ void write_number(Number *to, const Pack<Compute<Number>, width> &value)
{
#pragma unroll
  for (int w = 0; w < width; ++w)
    if constexpr (sizeof(Number) == 2)
      reinterpret_cast<__half *>(to)[w] = __float2half_rn(value.at[w]);
    else
      to[w] = value.at[w];
}

/// Neighbouring numbers as they are stored.
template <typename Number, int width>
class RawPack
{
  static constexpr int bytes = width * int(sizeof(Number));
  using Word = typename WordOf<bytes>::type;
  using Part = std::conditional_t<bytes == 2, unsigned short, unsigned>;
  union
  {
    Word word;
    Part part[bytes / sizeof(Part)];
  };

public:
  __device__ __forceinline__ void load(const Number *from)
  {
    word = *reinterpret_cast<const Word *>(from);
  }
  __device__ __forceinline__ void store(Number *to) const { *reinterpret_cast<Word *>(to) = word; }
  __device__ __forceinline__ RawPack &flip_signs(bool really)
  {
    constexpr unsigned signs = sizeof(Number) == 2 ? 0x80008000u : 0x80000000u;
#pragma unroll
    for (int i = 0; i < bytes / int(sizeof(Part)); ++i)
      if (sizeof(Number) < 8 || i % 2 == 1)
        part[i] ^= static_cast<Part>(really ? signs : 0u);
    return *this;
  }
};
} // namespace tensormg::laplace::column
