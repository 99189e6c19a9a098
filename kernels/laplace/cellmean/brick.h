// The cells that a block of threads of the device kernel of cellmean.h owns, and where it keeps them in shared memory: see cuda_kernel.cuh.
#pragma once

#include <algorithm>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/shared_memory_limit.h"

namespace tensormg::laplace
{
/// Cells of a brick: neighbours in x are lanes.
struct CellMeanShape
{
  int x, y, z;
};

/// Each cell has n^(dim-1) threads, one for each line of modes in a direction, or for each mode of a side; a thread is (line, cell), the cells of a row being
/// the fastest. Shared memory, in numbers of the arithmetic, each line of `cells_x` of them side by side:
///   arrays   [direction][cell in z, y][z][y][x]: d_a u, or what tests it; rows are padded to an odd number, so that neighbouring lines in every
///            direction lie in different banks. The first one also has u before and the result afterwards
///   traces   [cell in z, y][side][V, F][mode]
/// and before all that the traces of the cells beside the brick, on their way from modes.
template <typename Number_, int dim_, int modes, CellMeanShape shape>
struct CellMeanBrick
{
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int dim = dim_, n = modes, nz = dim == 3 ? n : 1;
  static constexpr int cells_x = shape.x, cells_y = shape.y, cells_z = dim == 3 ? shape.z : 1,
                       rows = cells_y * cells_z;
  static constexpr int cells(int d) { return d == 0 ? cells_x : d == 1 ? cells_y : cells_z; }
  static constexpr int lines = n * nz; ///< of a cell in a direction; modes of a side
  static constexpr int threads = cells_x * lines * rows;
  /// Of a thread: nearly what the compiler takes by itself; with more it would keep more, and fewer blocks would fit.
  static constexpr int registers = sizeof(C) == 4 ? 64 : n <= (dim == 2 ? 7 : 4) ? 80 : 128;
  /// On a multiprocessor.
  static constexpr int blocks = std::max(65536 / (threads * registers), 1);

  static constexpr int padded = n % 2 == 1 ? n : n + 1;
  /// From mode to mode in a direction, in lines of `cells_x`.
  static constexpr int stride(int d) { return d == 0 ? 1 : d == 1 ? padded : padded * n; }
  /// Mode 0 of a line in direction d; its places are those in the two other directions.
  static constexpr int first_of_line(int d, int line)
  {
    const int a = stride(d == 0 ? 1 : 0), b = stride(d == 2 ? 1 : 2);
    return line % n * a + line / n * b;
  }
  static constexpr int cell_numbers = padded * n * nz;
  static constexpr int array_numbers = rows * cell_numbers * cells_x;
  static constexpr int sides = 2 * dim, traces_offset = dim * array_numbers;
  static constexpr int trace_numbers = rows * sides * 2 * lines * cells_x;

  /// Sides of a cell in a direction behind which a cell of another brick may be: of a brick of one cell both.
  static constexpr int halo_sides(int d) { return cells(d) == 1 ? 2 : 1; }
  /// The number of the first of them.
  static constexpr int first_halo(int d)
  {
    int sum = 0;
    for (int before = 0; before < d; ++before)
      sum += halo_sides(before);
    return sum;
  }
  static constexpr int halos = first_halo(dim);
  static constexpr int halo_numbers(int ends) { return rows * ends * lines * cells_x; }
  static constexpr int shared_bytes =
      std::max(traces_offset + trace_numbers, halo_numbers(halos)) * int(sizeof(C));
  static_assert(shared_bytes <= shared_memory_limit::of_block);
};

/// Of 200 to 400 threads. A row of its cells is a sector of memory, 32 bytes, in FP64 and FP32, so that with FP32 there are up to 648 in 3D.
constexpr CellMeanShape cell_mean_shape(int dim, int n, int bytes)
{
  if (dim == 2)
    return {8, 4, 1};
  if (n <= 3)
    return {8, n == 2 ? 4 : 2, 2};
  if (bytes == 8)
    return {4, n <= 6 ? 2 : 1, n == 4 ? 2 : 1};
  return {8, n == 4 ? 2 : 1, 1};
}

template <typename Number, int dim, int degree>
using CellMeanBrickOf = CellMeanBrick<Number, dim, degree + 1,
    cell_mean_shape(dim, degree + 1, int(sizeof(Compute<Number>)))>;
} // namespace tensormg::laplace
