// What a block of the device kernel of cellwise.h owns, and where it keeps it in shared memory: see cuda_kernel.cuh.
#pragma once

#include <algorithm>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/shared_memory_limit.h"
#include "kernels/core/wide_float.h"

namespace tensormg::laplace
{
/// What is chosen for it.
struct CellwiseShape
{
  int lanes; ///< of a row
  int width; ///< cells of a lane, neighbours in x
  int rows;  ///< of cells in y; in 2D: strips in x
};

/// A unit of `lanes` threads has the modes j of a row of cells in y (2D: all of a strip), and marches along z (2D: y). Two more warps
/// bring what the units need. Shared memory:
///   u       [2 layers][units][n modes k][n modes i][cells_x]
///   sums    [units][n modes k][n modes i][cells_x], what the faces in y add; in 3D alone
///   halo    [lower, upper][n modes j][n modes k][n modes i][cells_x], the rows beside the tile; in 3D alone
///   edges   [2 layers][units][left, right][n modes k][V, D], traces of the cells beside the row
template <typename Number_, int dim_, int modes, CellwiseShape shape>
struct CellwiseTile
{
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int dim = dim_, n = modes;
  static constexpr int lanes = shape.lanes, width = shape.width, rows = shape.rows;
  static constexpr int cells_x = lanes * width;
  static constexpr int units_there = dim == 3 ? rows * n : rows;
  /// Of whole warps.
  static constexpr int unit_threads = (units_there * lanes + 31) / 32 * 32;
  static constexpr int units = unit_threads / lanes;
  static constexpr int service_threads = 64;
  static constexpr int threads = unit_threads + service_threads;
  /// The warps that bring take lines in y, too.
  static constexpr int all_units = units + service_threads / lanes;

  static constexpr int unit_numbers = n * n * cells_x;
  static constexpr int layer_numbers = units_there * unit_numbers;
  static constexpr int halo_numbers = dim == 3 ? 2 * n * unit_numbers : 0;
  static constexpr int unit_edges = 4 * n;
  static constexpr int layer_edges = units_there * unit_edges;
  static constexpr int sums_offset = 2 * layer_numbers * int(sizeof(Number));
  static constexpr int halo_offset = sums_offset + (dim == 3 ? layer_numbers * int(sizeof(C)) : 0);
  static constexpr int edges_offset = halo_offset + halo_numbers * int(sizeof(Number));
  static constexpr int shared_bytes = edges_offset + 2 * layer_edges * int(sizeof(C));

  /// That registers leave room for: with two modes a thread needs half of them.
  static constexpr int blocks = n == 2 ? 2 : 1;

  static_assert(row_granularity % width == 0 && 32 % lanes == 0);
  static_assert(cells_x * int(sizeof(Number)) % 16 == 0, "copies have 16 bytes");
  static_assert(shared_bytes <= shared_memory_limit::of_block);
};

template <typename Number, int dim>
constexpr int cellwise_shared_bytes(int n, CellwiseShape s)
{
  constexpr int in = sizeof(Number), out = sizeof(Compute<Number>);
  const int units = dim == 3 ? s.rows * n : s.rows;
  const int of_unit = n * n * s.lanes * s.width;
  return units * (of_unit * (2 * in + (dim == 3 ? out : 0)) + 8 * n * out) +
      (dim == 3 ? 2 * n * of_unit * in : 0);
}

/// Lanes have 16 bytes of computing numbers and up to 255 registers; where less than two rows find room, and for n > 6 than one, half of
/// that, and half as many lanes as often as that is too much. As many rows as find room and registers.
template <typename Number, int dim>
constexpr CellwiseShape cellwise_shape(int n, int limit = shared_memory_limit::of_block)
{
  constexpr int full = 16 / int(sizeof(Compute<Number>));
  const int of_row = dim == 3 ? n : 1, least = dim == 3 && n <= 6 ? 2 : 1;
  const auto most_rows = [&](int lanes, int width) {
    int rows = std::max((width == full ? 12 : 20) * 16 / lanes / of_row, 1);
    while (rows > 0 && cellwise_shared_bytes<Number, dim>(n, {lanes, width, rows}) > limit)
      --rows;
    return rows;
  };
  CellwiseShape shape{16, full, 0};
  shape.rows = most_rows(shape.lanes, shape.width);
  if (shape.rows < least)
    shape.width = full / 2;
  // A copy has 16 bytes.
  for (shape.rows = most_rows(shape.lanes, shape.width);
       shape.rows < 1 && shape.lanes * shape.width * int(sizeof(Number)) > 16;
       shape.rows = most_rows(shape.lanes, shape.width))
    shape.lanes /= 2;
  return shape;
}

template <typename Number, int dim, int degree>
using CellwiseTileOf =
    CellwiseTile<Number, dim, degree + 1, cellwise_shape<Number, dim>(degree + 1)>;
} // namespace tensormg::laplace
