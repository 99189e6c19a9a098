// The `cuda` backend: threads have whole lines of tensors (kernels/tensor/line_tile.h). The first product takes
// its lines from global memory, the last one gives them back; in between the tensors stay in place in shared
// memory:
//
//   lines along z   global b  -> Q_z' b
//   lines along y   Q_y'
//   lines along x   Q_x', times L^+, Q_x        in registers
//   lines along y   Q_y
//   lines along z   Q_z       -> global x
//
// with a barrier after each but the last (2D: without both of y, y in place of z). Eight reads and writes of
// shared memory per entry.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/patch_inverse/patch_inverse.h"
#include "kernels/patch_inverse/reciprocal.cuh"
#include "kernels/patch_inverse/reference.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/lines.cuh"
#include "kernels/tensor/sizes_dispatch.h"

namespace tensormg::patch_inverse
{
/// tables: [direction][End] LineTables
template <typename Number>
using LineParameters = tensor::GroupParameters<Number, Compute<Number>>;

/// Of one direction: Q' by columns, Q by columns, values.
template <typename Tile>
struct LineTables
{
  static constexpr int size = 2 * Tile::matrix_size + Tile::row;
};

template <typename Tile>
struct LineMemory
{
  using C = typename Tile::C;
  static constexpr int bytes =
      (Tile::field_size + Tile::dim * LineTables<Tile>::size) * static_cast<int>(sizeof(C));
  C *field;
  C *tables;

  __device__ explicit LineMemory(unsigned char *memory)
    : field(reinterpret_cast<C *>(memory))
    , tables(field + Tile::field_size)
  {}

  /// Column k of Q_d' or of Q_d.
  template <bool transposed>
  __device__ const C *column(int d, int k) const
  {
    return tables + d * LineTables<Tile>::size + (transposed ? 0 : Tile::matrix_size) +
        k * Tile::row;
  }
  __device__ C value(int d, int i) const
  {
    return tables[d * LineTables<Tile>::size + 2 * Tile::matrix_size + i];
  }
};

/// sum = Q u or Q' u for lines in registers.
template <typename Tile, bool transposed>
__device__ inline void multiply(const LineMemory<Tile> &memory, int d,
    const typename Tile::C (&u)[Tile::lines_per_thread][Tile::n],
    typename Tile::C (&sum)[Tile::lines_per_thread][Tile::n])
{
#pragma unroll
  for (int k = 0; k < Tile::n; ++k)
  {
    typename Tile::C entry[Tile::lines_per_thread];
#pragma unroll
    for (int r = 0; r < Tile::lines_per_thread; ++r)
      entry[r] = u[r][k];
    tensor::add_column<Tile>(sum, memory.template column<transposed>(d, k), entry);
    if constexpr (Tile::unroll < Tile::n)
      __syncwarp(); // keeps the compiler from reading all coefficients at once into registers
  }
}

/// The same for lines in shared memory.
template <typename Tile, int d, bool transposed>
__device__ inline void multiply_lines(const LineMemory<Tile> &memory,
    const tensor::Lines<Tile, d> &lines, typename Tile::C (&sum)[Tile::lines_per_thread][Tile::n])
{
#pragma unroll Tile::unroll
  for (int k = 0; k < Tile::n; ++k)
  {
    typename Tile::C entry[Tile::lines_per_thread];
    lines.read(memory.field, k, entry);
    tensor::add_column<Tile>(sum, memory.template column<transposed>(d, k), entry);
  }
}

template <typename Tile, int d, bool transposed>
__device__ inline void multiply_in_place(const LineMemory<Tile> &memory)
{
  const tensor::Lines<Tile, d> lines(static_cast<int>(threadIdx.x));
  typename Tile::C sum[Tile::lines_per_thread][Tile::n] = {};
  multiply_lines<Tile, d, transposed>(memory, lines, sum);
  lines.write(memory.field, sum);
}

/// Q_x L^+ Q_x' in place.
template <typename Tile>
__device__ inline void solve_along_x(const LineMemory<Tile> &memory)
{
  using C = typename Tile::C;
  const tensor::Lines<Tile, 0> lines(static_cast<int>(threadIdx.x));
  C modes[Tile::lines_per_thread][Tile::n] = {};
  multiply_lines<Tile, 0, true>(memory, lines, modes);
#pragma unroll
  for (int r = 0; r < Tile::lines_per_thread; ++r)
  {
    const C others = memory.value(1, lines.line[r].fast) +
        (Tile::dim == 3 ? memory.value(2, lines.line[r].slow) : C(0));
#pragma unroll
    for (int k = 0; k < Tile::n; ++k)
      modes[r][k] *= reciprocal_or_zero(others + memory.value(0, k));
  }
  C sum[Tile::lines_per_thread][Tile::n] = {};
  multiply<Tile, false>(memory, 0, modes, sum);
  lines.write(memory.field, sum);
}

template <typename Tile, typename Number>
__global__ void __launch_bounds__(Tile::threads, Tile::resident)
    lines_kernel(const __grid_constant__ LineParameters<Number> p)
{
  using C = typename Tile::C;
  constexpr int last = Tile::dim - 1;
  const LineMemory<Tile> memory(dynamic_shared());
  const int thread = static_cast<int>(threadIdx.x);
  int box = -1;
  for (unsigned group = blockIdx.x; group < p.placement.n_groups(); group += gridDim.x)
  {
    if (const int now = p.placement.box_of(group); now != box)
    {
      box = now;
      __syncthreads();
      for (int d = 0; d < Tile::dim; ++d)
        tensor::copy_to_shared(memory.tables + d * LineTables<Tile>::size,
            p.tables +
                (d * tensor::n_ends + p.placement.boxes[box].end[d]) * LineTables<Tile>::size,
            LineTables<Tile>::size);
      __syncthreads();
    }
    const unsigned first = (group - p.placement.begin[box]) * Tile::tensors;
    const tensor::GlobalLines<Tile> global(p.placement, box, first, thread);
    // Each thread reads at the end the lines that it writes in the next round: no barrier in between.
    const tensor::Lines<Tile, last> lines(thread);
    {
      C b[Tile::lines_per_thread][Tile::n];
      global.read(p.placement, p.src, b);
      C sum[Tile::lines_per_thread][Tile::n] = {};
      multiply<Tile, true>(memory, last, b, sum);
      lines.write(memory.field, sum);
    }
    __syncthreads();
    if constexpr (Tile::dim == 3)
    {
      multiply_in_place<Tile, 1, true>(memory);
      __syncthreads();
    }
    solve_along_x(memory);
    __syncthreads();
    if constexpr (Tile::dim == 3)
    {
      multiply_in_place<Tile, 1, false>(memory);
      __syncthreads();
    }
    C x[Tile::lines_per_thread][Tile::n] = {};
    multiply_lines<Tile, last, false>(memory, lines, x);
#pragma unroll
    for (int k = 0; k < Tile::n; ++k)
    {
      C entry[Tile::lines_per_thread];
#pragma unroll
      for (int r = 0; r < Tile::lines_per_thread; ++r)
        entry[r] = x[r][k];
      global.write(p.placement, p.dst, p.add, k, entry);
    }
  }
}

template <typename Tile, typename Number>
void apply_lines(const Arguments<Number> &a)
{
  const auto kernel = &lines_kernel<Tile, Number>;
  tensor::launch_groups("launching the local inverse on lines", kernel, Tile::threads,
      LineMemory<Tile>::bytes, a.stream, LineParameters<Number>(a, Tile::tensors));
}

template <typename Tile>
std::vector<std::byte> pack_lines(const Factors &factors, int n)
{
  using C = typename Tile::C;
  check_sizes(factors, n);
  std::vector<C> numbers(3 * tensor::n_ends * LineTables<Tile>::size, C(0));
  C *to = numbers.data();
  for (const auto &direction : factors)
    for (const LineFactors &line : direction)
    {
      if (!line.values.empty())
        for (int i = 0; i < n; ++i)
        {
          for (int k = 0; k < n; ++k)
          {
            to[i * Tile::row + k] = static_cast<C>(line.vectors[i * n + k]);
            to[Tile::matrix_size + k * Tile::row + i] = static_cast<C>(line.vectors[i * n + k]);
          }
          to[2 * Tile::matrix_size + i] = static_cast<C>(line.values[i]);
        }
      to += LineTables<Tile>::size;
    }
  return tensor::to_bytes(numbers);
}

template <typename Tile, typename Number>
tensor::Resources line_resources()
{
  constexpr int accesses = Tile::dim == 3 ? 8 : 4;
  return tensor::device_resources(&lines_kernel<Tile, Number>, Tile::threads,
      LineMemory<Tile>::bytes, accesses * static_cast<int>(sizeof(typename Tile::C)));
}

/// All sizes.
template <typename Number>
Kernel<Number> line_kernel(int dim, int n)
{
  return tensor::dispatch_size<Kernel<Number>, tensor::Sizes::all>(dim, n, [](auto size) {
    using Tile = tensor::LineTile<Compute<Number>, size.dim, size.n>;
    return Kernel<Number>{
        &apply_lines<Tile, Number>, &pack_lines<Tile>, &line_resources<Tile, Number>};
  });
}
} // namespace tensormg::patch_inverse
