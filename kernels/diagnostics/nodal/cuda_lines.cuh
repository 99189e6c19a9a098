// The `cuda` backend: threads have whole lines of tensors. The first contraction takes its lines from global
// memory (lanes side by side in x), the others pass the tensors through shared memory and stay in place:
//
//   lines along z   global u            -> P = M_z u, Q = S_z u               written to shared memory
//   lines along y   P, Q                -> V = M_y P, W = S_y P + M_y Q       in place
//   lines along x   V, W                -> y = S_x V + M_x W                  in place of V
//   lines along z   y                   -> global memory
//
// with a barrier after each (2D: without the second). Ten reads and writes of shared memory per entry.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/device/cuda_check.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/nodal/nodal.h"
#include "kernels/diagnostics/nodal/reference.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/lines.cuh"

namespace tensormg::nodal
{
/// tables: [direction][End][mass, stiffness][a][row]
template <typename Number>
using LineParameters = tensor::GroupParameters<Number, Compute<Number>>;

template <typename Tile>
struct LineMemory
{
  using C = typename Tile::C;
  static constexpr int matrices_size = Tile::dim * 2 * Tile::matrix_size;
  static constexpr int bytes = (2 * Tile::field_size + matrices_size) * static_cast<int>(sizeof(C));
  C *p, *q; ///< the two fields
  C *matrices;

  __device__ explicit LineMemory(unsigned char *memory)
    : p(reinterpret_cast<C *>(memory))
    , q(p + Tile::field_size)
    , matrices(q + Tile::field_size)
  {}

  /// Column k of M_d or S_d.
  __device__ const C *mass(int d, int k) const
  {
    return matrices + 2 * d * Tile::matrix_size + k * Tile::row;
  }
  __device__ const C *stiffness(int d, int k) const { return mass(d, k) + Tile::matrix_size; }
};

/// P = M u, Q = S u along the slowest direction.
template <typename Tile>
__device__ inline void first_contraction(
    const LineMemory<Tile> &memory, const typename Tile::C (&u)[Tile::lines_per_thread][Tile::n])
{
  using C = typename Tile::C;
  constexpr int d = Tile::dim - 1;
  C p[Tile::lines_per_thread][Tile::n] = {}, q[Tile::lines_per_thread][Tile::n] = {};
#pragma unroll
  for (int k = 0; k < Tile::n; ++k)
  {
    C entry[Tile::lines_per_thread];
#pragma unroll
    for (int r = 0; r < Tile::lines_per_thread; ++r)
      entry[r] = u[r][k];
    tensor::add_column<Tile>(p, memory.mass(d, k), entry);
    tensor::add_column<Tile>(q, memory.stiffness(d, k), entry);
    if constexpr (Tile::unroll < Tile::n)
      __syncwarp(); // keeps the compiler from reading all coefficients at once into registers
  }
  const tensor::Lines<Tile, d> lines(static_cast<int>(threadIdx.x));
  lines.write(memory.p, p);
  lines.write(memory.q, q);
}

/// (V, W) = (M P, S P + M Q) along y.
template <typename Tile>
__device__ inline void middle_contraction(const LineMemory<Tile> &memory)
{
  using C = typename Tile::C;
  const tensor::Lines<Tile, 1> lines(static_cast<int>(threadIdx.x));
  C v[Tile::lines_per_thread][Tile::n] = {}, w[Tile::lines_per_thread][Tile::n] = {};
#pragma unroll Tile::unroll
  for (int k = 0; k < Tile::n; ++k)
  {
    C p[Tile::lines_per_thread], q[Tile::lines_per_thread];
    lines.read(memory.p, k, p);
    lines.read(memory.q, k, q);
    tensor::add_column<Tile>(v, memory.mass(1, k), p);
    tensor::add_column<Tile>(w, memory.stiffness(1, k), p);
    tensor::add_column<Tile>(w, memory.mass(1, k), q);
  }
  lines.write(memory.p, v);
  lines.write(memory.q, w);
}

/// y = S V + M W along x, in place of V.
template <typename Tile>
__device__ inline void last_contraction(const LineMemory<Tile> &memory)
{
  using C = typename Tile::C;
  const tensor::Lines<Tile, 0> lines(static_cast<int>(threadIdx.x));
  C y[Tile::lines_per_thread][Tile::n] = {};
#pragma unroll Tile::unroll
  for (int k = 0; k < Tile::n; ++k)
  {
    C v[Tile::lines_per_thread], w[Tile::lines_per_thread];
    lines.read(memory.p, k, v);
    lines.read(memory.q, k, w);
    tensor::add_column<Tile>(y, memory.stiffness(0, k), v);
    tensor::add_column<Tile>(y, memory.mass(0, k), w);
  }
  lines.write(memory.p, y);
}

template <typename Tile, typename Number>
__global__ void __launch_bounds__(Tile::threads, Tile::resident)
    lines_kernel(const __grid_constant__ LineParameters<Number> p)
{
  using C = typename Tile::C;
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
        tensor::copy_to_shared(memory.matrices + 2 * d * Tile::matrix_size,
            p.tables + 2 * (d * tensor::n_ends + p.placement.boxes[box].end[d]) * Tile::matrix_size,
            2 * Tile::matrix_size);
      __syncthreads();
    }
    const unsigned first = (group - p.placement.begin[box]) * Tile::tensors;
    const tensor::GlobalLines<Tile> global(p.placement, box, first, thread);
    C u[Tile::lines_per_thread][Tile::n];
    global.read(p.placement, p.src, u);
    first_contraction(memory, u);
    __syncthreads();
    if constexpr (Tile::dim == 3)
    {
      middle_contraction(memory);
      __syncthreads();
    }
    last_contraction(memory);
    __syncthreads();
    // Each thread reads the lines that it writes in the next round: no barrier in between.
    const tensor::Lines<Tile, Tile::dim - 1> lines(thread);
#pragma unroll Tile::unroll
    for (int k = 0; k < Tile::n; ++k)
    {
      C entry[Tile::lines_per_thread];
      lines.read(memory.p, k, entry);
      global.write(p.placement, p.dst, p.add, k, entry);
    }
  }
}

template <typename Tile, typename Number>
void apply_lines(const Arguments<Number> &a)
{
  const auto kernel = &lines_kernel<Tile, Number>;
  tensor::launch_groups("launching the nodal operator on lines", kernel, Tile::threads,
      LineMemory<Tile>::bytes, a.stream, LineParameters<Number>(a, Tile::tensors));
}

template <typename Tile>
std::vector<std::byte> pack_lines(const Matrices &matrices, int n)
{
  using C = typename Tile::C;
  check_sizes(matrices, n);
  std::vector<C> numbers(3 * tensor::n_ends * 2 * Tile::matrix_size, C(0));
  int block = 0;
  for (const auto &direction : matrices)
    for (const LineMatrices &line : direction)
      for (const std::vector<double> *matrix : {&line.mass, &line.stiffness})
      {
        if (!matrix->empty())
          for (int i = 0; i < n; ++i)
            for (int a = 0; a < n; ++a)
              numbers[block * Tile::matrix_size + a * Tile::row + i] =
                  static_cast<C>((*matrix)[i * n + a]);
        ++block;
      }
  return tensor::to_bytes(numbers);
}

template <typename Tile, typename Number>
tensor::Resources line_resources()
{
  // Per entry: P and Q written, read, written, read, y written and read.
  constexpr int accesses = Tile::dim == 3 ? 10 : 6;
  return tensor::device_resources(&lines_kernel<Tile, Number>, Tile::threads,
      LineMemory<Tile>::bytes, accesses * static_cast<int>(sizeof(typename Tile::C)));
}

/// The kernel for tensors of n^dim entries; n is a size (kernels/tensor/sizes.h).
template <typename Number, int dim, int n>
Kernel<Number> line_kernel()
{
  using Tile = tensor::LineTile<Compute<Number>, dim, n>;
  return {&apply_lines<Tile, Number>, &pack_lines<Tile>, &line_resources<Tile, Number>};
}
} // namespace tensormg::nodal
