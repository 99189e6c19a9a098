// The inner loops of the `cpu` patch corrections: scratch memory, dense contractions of lines,
// lanes.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/core/block.h"
#include "kernels/core/simd.h"

namespace tensormg::patch
{
/// Memory that a thread keeps between calls; handed out in pieces aligned to a cache line.
template <typename C>
class Scratch
{
public:
  explicit Scratch(std::int64_t count)
  {
    thread_local std::vector<C> memory;
    if (static_cast<std::int64_t>(memory.size()) < count + line)
      memory.assign(static_cast<std::size_t>(count + line), C(0));
    void *start = memory.data();
    std::size_t space = memory.size() * sizeof(C);
    next_ = static_cast<C *>(std::align(line * sizeof(C), sizeof(C), start, space));
  }
  C *take(std::int64_t count) { return std::exchange(next_, next_ + rounded_up(count)); }
  static constexpr std::int64_t rounded_up(std::int64_t count)
  {
    return (count + line - 1) / line * line;
  }

private:
  static constexpr std::int64_t line = 64 / sizeof(C);
  C *next_;
};

/// Entry (i, j) of a matrix whose entries are the same for all lanes.
template <typename C, int W>
struct Uniform
{
  const C *p;
  C operator[](int at) const { return p[at]; }
};
/// The same where every lane has a matrix of its own: [entry][lane].
template <typename C, int W>
struct PerLane
{
  const C *p;
  simd::Vec<C, W> operator[](int at) const { return simd::load<W>(p + at * W); }
};

/// out[i] = sum_j matrix[i][j] u[j]
template <int N, typename V, typename Matrix>
TENSORMG_INLINE inline void multiply(const Matrix &matrix, const V (&u)[N], V (&out)[N])
{
#pragma GCC unroll 18
  for (int i = 0; i < N; ++i)
  {
    V sum = matrix[i * N] * u[0];
#pragma GCC unroll 18
    for (int j = 1; j < N; ++j)
      sum += matrix[i * N + j] * u[j];
    out[i] = sum;
  }
}

/// In place along one direction: data[outer][N][stride] vectors of W lanes.
template <int N, int W, typename C, typename Matrix>
void contract(Matrix matrix, C *data, int outer, int stride)
{
  for (int o = 0; o < outer; ++o)
    for (int s = 0; s < stride; ++s)
    {
      C *line = data + (o * N * stride + s) * W;
      simd::Vec<C, W> u[N], result[N];
#pragma GCC unroll 18
      for (int i = 0; i < N; ++i)
        u[i] = simd::load<W>(line + i * stride * W);
      multiply<N>(matrix, u, result);
#pragma GCC unroll 18
      for (int i = 0; i < N; ++i)
        simd::store<W>(line + i * stride * W, result[i]);
    }
}

/// What the pass along the last direction divides by: values_x[i] (by lane) + values_y[j] +
/// values[e].
template <typename C>
struct Eigenvalues
{
  const C *x, *y, *last;
  int nx, ny; ///< unknowns in x and y; ny = 1 where y is the last direction
};

/// Q (m_x + m_y + m)^+ Q' along the last direction: data[N][ny][nx] vectors of W lanes.
template <int N, int W, typename C>
void solve(const C *forward, const C *backward, const Eigenvalues<C> &values, C damping, C *data)
{
  using V = simd::Vec<C, W>;
  const int stride = values.nx * values.ny;
  for (int j = 0; j < values.ny; ++j)
    for (int i = 0; i < values.nx; ++i)
    {
      C *line = data + (j * values.nx + i) * W;
      const V shift = simd::load<W>(values.x + i * W) + values.y[j];
      V u[N], t[N];
#pragma GCC unroll 18
      for (int e = 0; e < N; ++e)
        u[e] = simd::load<W>(line + e * stride * W);
      multiply<N>(Uniform<C, W>{forward}, u, t);
#pragma GCC unroll 18
      for (int e = 0; e < N; ++e)
      {
        const V value = shift + values.last[e];
        t[e] = value == C(0) ? V{} : damping * t[e] / value;
      }
      multiply<N>(Uniform<C, W>{backward}, t, u);
#pragma GCC unroll 18
      for (int e = 0; e < N; ++e)
        simd::store<W>(line + e * stride * W, u[e]);
    }
}

/// The passes for one size of a line.
template <int W, typename C>
struct Passes
{
  void (*along_x)(PerLane<C, W>, C *, int, int) = nullptr;
  void (*along_y)(Uniform<C, W>, C *, int, int) = nullptr;
  void (*last)(const C *, const C *, const Eigenvalues<C> &, C, C *) = nullptr;
};

template <int W, typename C>
Passes<W, C> passes_of_size(int cells_per_patch, int n)
{
  Passes<W, C> passes;
  const auto set = [&]<int N>(std::integral_constant<int, N>) {
    passes = {
        &contract<N, W, C, PerLane<C, W>>, &contract<N, W, C, Uniform<C, W>>, &solve<N, W, C>};
  };
  const bool found = [&]<int... m>(std::integer_sequence<int, m...>)
  {
    return ((n == m + 2 ? (cells_per_patch == 1 ? set(std::integral_constant<int, m + 2>())
                                                : set(std::integral_constant<int, 2 * (m + 2)>()),
                              true)
                        : false) ||
        ...);
  }
  (std::make_integer_sequence<int, max_degree>());
  if (!found)
    throw std::invalid_argument("patch: degree is not in 1..8");
  return passes;
}

/// Lanes 0..2W-1 of (a, b): those of parity `odd`.
template <int W, typename V, int... lane>
TENSORMG_INLINE inline V every_second(
    V a, V b, std::integral_constant<int, W>, std::integer_sequence<int, 0, lane...>, int odd)
{
  return odd ? __builtin_shufflevector(a, b, 1, (2 * lane + 1)...)
             : __builtin_shufflevector(a, b, 0, (2 * lane)...);
}
/// a0 b0 a1 b1 ... from lane `first` on.
template <int first, typename V, int... lane>
TENSORMG_INLINE inline V interleave(V a, V b, std::integer_sequence<int, lane...>)
{
  constexpr int W = sizeof...(lane);
  return __builtin_shufflevector(a, b, (first + lane / 2 + (lane % 2) * W)...);
}
} // namespace tensormg::patch
