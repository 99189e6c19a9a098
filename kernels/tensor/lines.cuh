// What the CUDA-core kernels on lines of tensors have in common: lines in global memory, and sums over a line
// with coefficients that all lanes read together.
#pragma once

#include <cstddef>

#include "kernels/device/pack.cuh"
#include "kernels/tensor/line_tile.h"
#include "kernels/tensor/placement.h"

namespace tensormg::tensor
{
/// A thread's lines along direction d in shared memory.
template <typename Tile, int d>
struct Lines
{
  LineIndex line[Tile::lines_per_thread];
  bool active[Tile::lines_per_thread]; ///< false beyond the lines of the block

  __device__ explicit Lines(int thread)
  {
#pragma unroll
    for (int r = 0; r < Tile::lines_per_thread; ++r)
    {
      const int index = thread + r * Tile::threads;
      active[r] = index < Tile::lines;
      line[r] = Tile::line(active[r] ? index : 0);
    }
  }

  /// Entry k of each line; threads without one do not read, since those that have one may write already.
  __device__ void read(
      const typename Tile::C *field, int k, typename Tile::C (&u)[Tile::lines_per_thread]) const
  {
#pragma unroll
    for (int r = 0; r < Tile::lines_per_thread; ++r)
      if (Tile::lines == Tile::threads * Tile::lines_per_thread || active[r])
        u[r] = field[Tile::template offset<d>(line[r], k)];
      else
        u[r] = typename Tile::C(0);
  }

  /// All entries of each line.
  __device__ void write(
      typename Tile::C *field, const typename Tile::C (&u)[Tile::lines_per_thread][Tile::n]) const
  {
#pragma unroll
    for (int r = 0; r < Tile::lines_per_thread; ++r)
      if (active[r])
      {
#pragma unroll
        for (int k = 0; k < Tile::n; ++k)
          field[Tile::template offset<d>(line[r], k)] = u[r][k];
      }
  }
};

/// Global memory of a thread's lines along the slowest direction, lanes side by side along x.
template <typename Tile>
struct GlobalLines
{
  static constexpr int direction = Tile::dim - 1;
  std::int64_t position[Tile::lines_per_thread]; ///< of entry 0; -1: no such line

  /// The lines of the tensors [first, ...) of a box.
  __device__ GlobalLines(const Placement &placement, int box, unsigned first, int thread)
  {
    const unsigned n_tensors = placement.boxes[box].n_tensors();
#pragma unroll
    for (int r = 0; r < Tile::lines_per_thread; ++r)
    {
      const int index = thread + r * Tile::threads;
      const LineIndex line = Tile::line(index);
      const unsigned q = first + static_cast<unsigned>(line.tensor);
      position[r] = index < Tile::lines && q < n_tensors
          ? placement.position(box, q) + line.slow * placement.stride[1] + line.fast
          : -1;
    }
  }

  /// Entries of lines that do not exist are zero.
  template <typename Number>
  __device__ void read(const Placement &placement, const Number *src,
      typename Tile::C (&u)[Tile::lines_per_thread][Tile::n]) const
  {
#pragma unroll
    for (int r = 0; r < Tile::lines_per_thread; ++r)
#pragma unroll
      for (int k = 0; k < Tile::n; ++k)
        u[r][k] = position[r] >= 0
            ? load_pack<1>(src + position[r] + k * placement.stride[direction]).at[0]
            : typename Tile::C(0);
  }

  /// Entry k of each line.
  template <typename Number>
  __device__ void write(const Placement &placement, Number *dst, bool add, int k,
      const typename Tile::C (&u)[Tile::lines_per_thread]) const
  {
    using C = typename Tile::C;
#pragma unroll
    for (int r = 0; r < Tile::lines_per_thread; ++r)
      if (position[r] >= 0)
      {
        Number *to = dst + position[r] + k * placement.stride[direction];
        const C before = add ? load_pack<1>(to).at[0] : C(0);
        store_pack(to, Pack<C, 1>(u[r] + before));
      }
  }
};

/// sum[r][i] += column[i] u[r]: one entry of each line times its column of a matrix. All lanes read the same
/// coefficients, 16 bytes at a time.
template <typename Tile>
__device__ inline void add_column(typename Tile::C (&sum)[Tile::lines_per_thread][Tile::n],
    const typename Tile::C *column, const typename Tile::C (&u)[Tile::lines_per_thread])
{
#pragma unroll
  for (int first = 0; first < Tile::n; first += Tile::width)
  {
    const auto coefficients = load_pack<Tile::width>(column + first);
#pragma unroll
    for (int w = 0; w < Tile::width; ++w)
      if (first + w < Tile::n)
      {
#pragma unroll
        for (int r = 0; r < Tile::lines_per_thread; ++r)
          sum[r][first + w] = fma(coefficients.at[w], u[r], sum[r][first + w]);
      }
  }
}

/// Copies `size` numbers to shared memory with all threads of the block.
template <typename C>
__device__ inline void copy_to_shared(C *to, const C *from, int size)
{
  for (int at = static_cast<int>(threadIdx.x); at < size; at += static_cast<int>(blockDim.x))
    to[at] = from[at];
}
} // namespace tensormg::tensor
