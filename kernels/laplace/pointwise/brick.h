// What a block of threads of the device kernel of pointwise.h owns, and where it keeps it in shared memory: see cuda_kernel.cuh.
#pragma once

#include <algorithm>
#include <numeric>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

namespace tensormg::laplace
{
/// Cells of a brick.
struct BrickShape
{
  int x, y, z;
  int threads; ///< of a multiprocessor, for which registers are to suffice
  int ahead; ///< accesses of shared memory to a line whose metric is asked for before fluxes are awaited
  int faces_ahead;         ///< directions whose numbers at sides are asked for before V is awaited
  bool prefetches = false; ///< all numbers of the brick are asked for at the beginning
};
/// What a thread works on.
struct BrickPlace
{
  int cell; ///< x + cells_x (y + cells_y z); the number of cells: of nobody, its results go nowhere
  int line; ///< of modes, or points, in a direction; or the point of a side
};

/// Each cell has n^(dim-1) threads, one for each line in a direction. Shared memory, in numbers of the arithmetic: tables, then for each cell
///   U               u, later the result in modes
///   D_0 .. D_dim-1  its derivatives, later what tests them
///   V, F            [slot][point] of sides that neighbours in the brick look at
///   tests           [side, but those in x][tangential direction][point] of derivatives along sides, in place of U; behind all else if that is needed
///                   for the reaction
/// Traces of cells beside the brick are in place of derivatives while these are not there.
template <typename Number_, typename Stored_, int dim_, int modes, BrickShape shape>
struct PointwiseBrick
{
  using Number = Number_;
  using Stored = Stored_;
  using C = Compute<Number>;
  static constexpr int dim = dim_, n = modes, nz = dim == 3 ? n : 1;
  static constexpr int cells_x = shape.x, cells_y = shape.y, cells_z = dim == 3 ? shape.z : 1,
                       rows = cells_y * cells_z, all_cells = cells_x * rows;
  static constexpr int cells(int d) { return d == 0 ? cells_x : d == 1 ? cells_y : cells_z; }
  static constexpr int lines = dim == 3 ? n * n : n; ///< of a cell in a direction; points of a side

  /// Threads of a cell lie in one warp, where there is room; then they meet there.
  static constexpr bool in_warps = lines <= 32;
  static constexpr int of_warp = in_warps ? 32 / lines : 1; ///< cells
  static constexpr int threads =
      in_warps ? (all_cells + of_warp - 1) / of_warp * 32 : (all_cells * lines + 31) / 32 * 32;
  static constexpr int blocks = std::max(1, shape.threads / threads); ///< of a multiprocessor
  static constexpr int ahead = shape.ahead, faces_ahead = shape.faces_ahead;
  static constexpr bool prefetches = shape.prefetches;
  static constexpr bool has_idle = threads > all_cells *lines;
  static constexpr BrickPlace place(int thread)
  {
    if (!in_warps)
      return thread < all_cells * lines ? BrickPlace{thread / lines, thread % lines}
                                        : BrickPlace{all_cells, 0};
    const int in_warp = thread % 32 / lines, cell = thread / 32 * of_warp + in_warp;
    return has_idle && (in_warp >= of_warp || cell >= all_cells)
        ? BrickPlace{all_cells, 0}
        : BrickPlace{cell, thread % 32 % lines};
  }
  /// Where vectors are read and written, neighbouring cells beside each other.
  static constexpr BrickPlace place_in_memory(int thread)
  {
    if (has_idle && thread >= all_cells * lines)
      return {all_cells, 0};
    return {thread % cells_x + thread / (cells_x * lines) * cells_x, thread / cells_x % lines};
  }

  /// Numbers of a line in x that one access of shared memory takes.
  static constexpr int vector = std::gcd(n, 16 / int(sizeof(C)));
  static constexpr int row_numbers = n == 8 ? n + vector : n; ///< of a line in x, with padding
  /// From point to point in a direction.
  static constexpr int stride(int d)
  {
    return d == 0 ? 1 : d == 1 ? row_numbers : n == 4 ? 20 : n == 6 ? 38 : row_numbers * n;
  }
  /// Point 0 of a line in direction d; its places are those in the two other directions.
  static constexpr int first_of_line(int d, int line)
  {
    const int a = stride(d == 0 ? 1 : 0), b = stride(d == 2 ? 1 : 2);
    return line % n * a + line / n * b;
  }
  static constexpr int padded(int numbers) { return (numbers + vector - 1) / vector * vector; }
  static constexpr int array_numbers = padded(dim == 3 ? stride(2) * n : row_numbers * n);
  static constexpr int sides = 2 * dim, tangents = dim - 1;

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
  /// Sides behind which a cell of the brick may be: of two cells the one.
  static constexpr int slots(int d) { return std::min(cells(d) - 1, 2); }
  static constexpr int first_slot(int d)
  {
    int sum = 0;
    for (int before = 0; before < d; ++before)
      sum += slots(before);
    return sum;
  }

  /// Numbers of a trace on its way from modes to points: V, its derivative and slope at the points of the first direction, and, behind those of all halos, V and
  /// slope of modes.
  static constexpr int half_way = 3 * lines + n,
                       of_modes = 2 * lines + vector; // padding: no conflicts
  static constexpr int test_numbers = padded((sides - 2) * tangents * lines);
  static constexpr int u_numbers = std::max(array_numbers, test_numbers);
  static constexpr int ends_offset = u_numbers;
  static constexpr int end_modes_offset(int ends) { return ends_offset + half_way * ends; }
  static constexpr int ends_numbers(int ends) { return end_modes_offset(ends) + of_modes * ends; }
  /// Of the derivatives; the last one is written while traces are read half-way, in 2D from their beginning.
  static constexpr int derivative_offset(int d)
  {
    const int least = u_numbers + d * array_numbers;
    return d < dim - 1 ? least
                       : std::max(least, dim == 3 ? end_modes_offset(halos) : ends_numbers(halos));
  }
  static constexpr int v_offset = derivative_offset(dim - 1) + array_numbers;
  static constexpr int f_offset = v_offset + first_slot(dim) * lines;
  static constexpr int used_numbers =
      padded(std::max(f_offset + first_slot(dim) * lines, ends_numbers(halos)));
  /// Of a cell: one cell begins where the banks of the lines of the one before end.
  static constexpr int cell_numbers(int used)
  {
    constexpr int banks = 128 / int(sizeof(C)),
                  first = padded(n == 4 && sizeof(C) == 8 ? n : lines) % banks;
    return in_warps ? used + (banks + first - used % banks) % banks : used;
  }
  static constexpr int end_table = 2 * n * row_numbers; ///< behind rows of values and derivatives
  static constexpr int table_numbers = end_table + n;
  static constexpr int shared_bytes(int of_cell)
  {
    return (padded(table_numbers) + (all_cells + (has_idle ? 1 : 0)) * of_cell) * int(sizeof(C));
  }
};

/// Measured: small blocks, whose waits for each other overlap, and as many of them as registers suffice for. In FP32 eight cells are a sector of memory,
/// and registers are left to ask for more at once.
constexpr BrickShape brick_shape(int dim, int n, int bytes)
{
  const int ahead = n <= 4 ? n : 2;
  if (dim == 2)
    return {8, 4, 1, bytes == 8 ? 512 : 768, ahead, 2, false};
  if (n == 2)
    return {8, 2, 2, bytes == 8 ? 512 : 1024, ahead, bytes == 8 ? 1 : 3, true};
  if (bytes == 8)
    return {n <= 8 ? 4 : 2, n <= 4 ? 2 : 1, 1,
        n == 6       ? 480
            : n == 7 ? 448
            : n == 9 ? 384
                     : 512,
        ahead, 1, false};
  return {n <= 4 || n == 6 ? 8 : 4, n == 6 || n >= 8 ? 1 : 2, 1,
      n == 6       ? 864
          : n == 7 ? 832
          : n == 8 ? 512
          : n == 9 ? 704
                   : 768,
      ahead, n <= 6 ? 3 : 2, n == 4};
}

template <typename Number, typename Stored, int dim, int degree>
using PointwiseBrickOf = PointwiseBrick<Number, Stored, dim, degree + 1,
    brick_shape(dim, degree + 1, int(sizeof(Compute<Number>)))>;
} // namespace tensormg::laplace
