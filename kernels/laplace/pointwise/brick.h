// What a block of threads of the device kernel of pointwise.h owns, and where it keeps it in shared memory: see cuda_kernel.cuh.
#pragma once

#include <algorithm>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

namespace tensormg::laplace
{
/// Cells of a brick: neighbours in x are lanes.
struct BrickShape
{
  int x, y, z;
};

/// Each cell has n^(dim-1) threads, one for each line of modes, or points, in a direction; a thread is (line, cell), the cells of a row being the fastest. Shared
/// memory, in numbers of the arithmetic, each line of `cells_x` of them side by side:
///   lines    [array][cell in z, y][z][y][x], 1 + dim arrays: u and its derivatives, or what tests them; rows are padded to an odd number, so that
///            neighbouring lines in every direction lie in different banks
///   traces   [cell in z, y][side][V, F][point]
///   tests    [cell in z, y][side, but those in x][tangential direction][point]
template <typename Number_, typename Stored_, int dim_, int modes, BrickShape shape>
struct PointwiseBrick
{
  using Number = Number_;
  using Stored = Stored_;
  using C = Compute<Number>;
  static constexpr int dim = dim_, n = modes, nz = dim == 3 ? n : 1;
  static constexpr int cells_x = shape.x, cells_y = shape.y, cells_z = dim == 3 ? shape.z : 1,
                       rows = cells_y * cells_z;
  static constexpr int cells(int d) { return d == 0 ? cells_x : d == 1 ? cells_y : cells_z; }
  static constexpr int lines = dim == 3 ? n * n : n; ///< of a cell in a direction; points of a side
  static constexpr int threads = cells_x * lines * rows;

  static constexpr int padded = n % 2 == 1 ? n : n + 1;
  /// From point to point in a direction, in lines of `cells_x`.
  static constexpr int stride(int d) { return d == 0 ? 1 : d == 1 ? padded : padded * n; }
  /// Point 0 of a line in direction d; its places are those in the two other directions.
  static constexpr int first_of_line(int d, int line)
  {
    const int a = stride(d == 0 ? 1 : 0), b = stride(d == 2 ? 1 : 2);
    return line % n * a + line / n * b;
  }
  static constexpr int cell_numbers = padded * n * nz;
  static constexpr int arrays = 1 + dim, sides = 2 * dim, tangents = dim - 1;
  static constexpr int line_numbers = rows * cell_numbers * cells_x; ///< of an array
  static constexpr int trace_numbers = rows * sides * 2 * lines * cells_x;
  static constexpr int test_numbers = rows * (sides - 2) * tangents * lines * cells_x;
  static constexpr int traces_offset = arrays * line_numbers;
  static constexpr int tests_offset = traces_offset + trace_numbers;
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
  /// Of the traces of a side on their way from modes to points: V and slope of modes; V, its derivative and slope between.
  static constexpr int end_arrays = 5;
  static constexpr int end_numbers(int ends) { return rows * ends * end_arrays * lines * cells_x; }
  // There is no line before all halos are known.
  static constexpr int shared_bytes =
      std::max(tests_offset + test_numbers, end_numbers(halos)) * int(sizeof(C));
};
/// Of 200 to 400 threads. A row of its cells is a sector of memory, 32 bytes, where registers leave room for more than one row.
constexpr BrickShape brick_shape(int dim, int n, int bytes)
{
  if (dim == 2)
    return {8, 4, 1};
  if (n <= 3)
    return {8, n == 2 ? 4 : 2, 2};
  if (bytes == 8)
    return {4, n <= 6 ? 2 : 1, n == 4 ? 2 : 1};
  return {n <= 6 ? 8 : 4, n == 4 ? 2 : 1, 1};
}

template <typename Number, typename Stored, int dim, int degree>
using PointwiseBrickOf = PointwiseBrick<Number, Stored, dim, degree + 1,
    brick_shape(dim, degree + 1, int(sizeof(Compute<Number>)))>;
} // namespace tensormg::laplace
