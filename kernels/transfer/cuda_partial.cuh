// The transfer between levels of which not all directions are halved, on a device: one direction after the other, one thread per
// line of a coarse cell and its two children. Lanes are neighbours in memory.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/transfer/cuda.h"

namespace tensormg::transfer
{
inline constexpr int partial_threads = 128;

/// How the lines of a direction lie in the fine or the coarse vector: line (outer, cell, lane), entry `mode`, at
///   outer * outer_stride + cell * cell_stride + mode * mode_stride + lane.
struct LineLayout
{
  std::int64_t outer_stride, cell_stride, mode_stride;

  LineLayout(const Block &block, int d)
    : outer_stride(d == 0 ? block.row()
              : d == 1    ? block.plane()
                          : 0)
    , cell_stride(d == 0 ? 1 : block.n * (d == 1 ? block.row() : block.plane()))
    , mode_stride(d == 0 ? block.pitch
              : d == 1   ? block.row()
                         : block.plane())
  {}
};

template <int n_, typename Src_, typename Dst_>
struct PartialTransfer
{
  static constexpr int n = n_;
  using Src = Src_;
  using Dst = Dst_;
  using C = Compute<Dst>;

  C weight[n][n]; ///< [mode of the lower child][mode of the parent], times the factor
  LineLayout fine, coarse;
  bool in_x;             ///< lanes are then coarse cells, otherwise positions of `inner`
  unsigned lanes;        ///< numbers that threads write: in x with the padding
  unsigned cells, lines; ///< coarse cells of a line; lines: outer * cells, in x rows
  unsigned cells_x;      ///< in x: coarse cells
  bool add, add_rest;
  const Src *src, *src_rest;
  Dst *dst, *dst_rest;

  PartialTransfer(const Block &fine_, const Block &coarse_, int d, const CellBasis &basis,
      double factor, bool to_fine)
    : fine(fine_, d)
    , coarse(coarse_, d)
    , in_x(d == 0)
    , cells(d == 0 ? 1 : static_cast<unsigned>(coarse_.cells[d]))
    , cells_x(static_cast<unsigned>(coarse_.cells[0]))
    , add(false)
    , add_rest(false)
    , src(nullptr)
    , src_rest(nullptr)
    , dst(nullptr)
    , dst_rest(nullptr)
  {
    for (int a = 0; a < n; ++a)
      for (int i = 0; i < n; ++i)
        weight[a][i] = static_cast<C>(factor * basis.prolongation[a * n + i]);
    const Block &written = to_fine ? fine_ : coarse_;
    const std::int64_t inner = d == 1 ? coarse_.row() : coarse_.plane();
    lanes = static_cast<unsigned>(d != 0 ? inner : to_fine ? written.pitch / 2 : written.pitch);
    const std::int64_t outer = d == 0 ? coarse_.planes() * coarse_.rows_per_plane()
        : d == 1                      ? coarse_.planes()
                                      : 1;
    lines = static_cast<unsigned>(outer * cells);
  }
};

/// f(position in the fine vector of the lower child's mode 0, in the coarse vector, distance of the upper child, whether there are
/// cells) for the lines of a thread.
template <typename P, typename F>
__device__ inline void for_each_partial_line(const P &p, const F &f)
{
  const unsigned lane = blockIdx.x * partial_threads + threadIdx.x;
  if (lane >= p.lanes)
    return;
  for (unsigned line = blockIdx.y; line < p.lines; line += gridDim.y)
  {
    const std::int64_t outer = line / p.cells, cell = line % p.cells;
    const std::int64_t in_fine = outer * p.fine.outer_stride + 2 * cell * p.fine.cell_stride +
        (p.in_x ? 2 * lane : lane),
                       in_coarse =
                           outer * p.coarse.outer_stride + cell * p.coarse.cell_stride + lane;
    f(in_fine, in_coarse, p.fine.cell_stride, !p.in_x || lane < p.cells_x);
  }
}

template <typename P>
__global__ void __launch_bounds__(partial_threads)
    restrict_partially_kernel(const __grid_constant__ P p)
{
  using C = typename P::C;
  constexpr int n = P::n;
  for_each_partial_line(
      p, [&](std::int64_t fine, std::int64_t coarse, std::int64_t upper, bool inside) {
        C result[n] = {};
        if (inside)
#pragma unroll
          for (int a = 0; a < n; ++a)
          {
            const typename P::Src *from = p.src + fine + a * p.fine.mode_stride;
            const C low = load_pack<1>(from).at[0], high = load_pack<1>(from + upper).at[0];
            const C signed_high = a % 2 == 0 ? high : -high;
            const C sum = low + signed_high, difference = low - signed_high;
#pragma unroll
            for (int i = 0; i < n; ++i)
              result[i] = fma(p.weight[a][i], i % 2 == 0 ? sum : difference, result[i]);
          }
#pragma unroll
        for (int i = 0; i < n; ++i)
          store_pack(p.dst + coarse + i * p.coarse.mode_stride, Pack<C, 1>(result[i]));
      });
}

template <typename P>
__device__ inline void write_partially(
    const P &p, std::int64_t at, typename P::C value, bool inside)
{
  using C = typename P::C;
  if (p.add && inside)
    value += load_pack<1>(p.dst + at).at[0];
  if (p.add_rest && inside)
    value += load_pack<1>(p.dst_rest + at).at[0];
  store_pack(p.dst + at, Pack<C, 1>(value));
  if (p.dst_rest != nullptr)
    store_pack(p.dst_rest + at, Pack<C, 1>(value - load_pack<1>(p.dst + at).at[0]));
}

template <typename P>
__global__ void __launch_bounds__(partial_threads)
    prolongate_partially_kernel(const __grid_constant__ P p)
{
  using C = typename P::C;
  constexpr int n = P::n;
  for_each_partial_line(
      p, [&](std::int64_t fine, std::int64_t coarse, std::int64_t upper, bool inside) {
        C parent[n] = {};
        if (inside)
#pragma unroll
          for (int i = 0; i < n; ++i)
          {
            const std::int64_t from = coarse + i * p.coarse.mode_stride;
            parent[i] = load_pack<1>(p.src + from).at[0];
            if (p.src_rest != nullptr)
              parent[i] += load_pack<1>(p.src_rest + from).at[0];
          }
#pragma unroll
        for (int a = 0; a < n; ++a)
        {
          C even = 0, odd = 0;
#pragma unroll
          for (int i = 0; i < n; i += 2)
            even = fma(p.weight[a][i], parent[i], even);
#pragma unroll
          for (int i = 1; i < n; i += 2)
            odd = fma(p.weight[a][i], parent[i], odd);
          const std::int64_t to = fine + a * p.fine.mode_stride;
          write_partially(p, to, even + odd, inside);
          write_partially(p, to + upper, a % 2 == 0 ? even - odd : odd - even, inside);
        }
      });
}

template <typename P>
dim3 partial_grid(const P &p)
{
  constexpr unsigned most = 32768; // of blocks in y
  return {(p.lanes + partial_threads - 1) / partial_threads, p.lines < most ? p.lines : most, 1};
}

/// Calls f.template operator()<n>().
template <typename F>
void for_modes(int n, const F &f)
{
  [&]<int... p>(std::integer_sequence<int, p...>)
  {
    ((n == p + 2 ? f.template operator()<p + 2>() : void()), ...);
  }
  (std::make_integer_sequence<int, max_degree>());
}

/// One direction of a restriction.
template <typename Src, typename Dst>
void collect_on_device(const Block &fine, const Block &coarse, int d, const CellBasis &basis,
    double factor, const Src *src, Dst *dst, Stream stream)
{
  for_modes(fine.n, [&]<int n>() {
    PartialTransfer<n, Src, Dst> p(fine, coarse, d, basis, 0.5 * factor, false);
    p.src = src;
    p.dst = dst;
    launch("launching the restriction of one direction",
        &restrict_partially_kernel<PartialTransfer<n, Src, Dst>>, partial_grid(p), partial_threads,
        0, stream, p);
  });
}

/// One direction of a prolongation: `ends` has what is added where.
template <typename Src, typename Dst>
void expand_on_device(const Block &fine, const Block &coarse, int d, const CellBasis &basis,
    double factor, const Src *src, const Src *src_rest, Dst *dst, Dst *dst_rest, bool add,
    bool add_rest, Stream stream)
{
  for_modes(fine.n, [&]<int n>() {
    PartialTransfer<n, Src, Dst> p(fine, coarse, d, basis, factor, true);
    p.src = src;
    p.src_rest = src_rest;
    p.dst = dst;
    p.dst_rest = dst_rest;
    p.add = add;
    p.add_rest = add_rest;
    launch("launching the prolongation of one direction",
        &prolongate_partially_kernel<PartialTransfer<n, Src, Dst>>, partial_grid(p),
        partial_threads, 0, stream, p);
  });
}

template <typename Number>
void prolongate_partially(const Prolongate<Number> &a, Stream stream, Compute<Number> *numbers)
{
  const Block middle = between(a.fine, a.coarse);
  const auto [last, first] = halved_in_order(a.fine, a.coarse);
  if (middle.n_cells() == 0)
    return expand_on_device(a.fine, a.coarse, last, *a.basis, a.factor, a.src, a.src_rest, a.dst,
        a.dst_rest, a.add, a.add_rest, stream);
  expand_on_device<Number, Compute<Number>>(middle, a.coarse, first, *a.basis, a.factor, a.src,
      a.src_rest, numbers, nullptr, false, false, stream);
  expand_on_device<Compute<Number>, Number>(a.fine, middle, last, *a.basis, 1., numbers, nullptr,
      a.dst, a.dst_rest, a.add, a.add_rest, stream);
}

template <typename Number>
void restrict_partially(const Restrict<Number> &a, Stream stream, Compute<Number> *numbers)
{
  const Block middle = between(a.fine, a.coarse);
  const auto [first, last] = halved_in_order(a.fine, a.coarse);
  if (middle.n_cells() == 0)
    return collect_on_device(a.fine, a.coarse, first, *a.basis, a.factor, a.src, a.dst, stream);
  collect_on_device(a.fine, middle, first, *a.basis, a.factor, a.src, numbers, stream);
  collect_on_device<Compute<Number>, Number>(
      middle, a.coarse, last, *a.basis, 1., numbers, a.dst, stream);
}
} // namespace tensormg::transfer
