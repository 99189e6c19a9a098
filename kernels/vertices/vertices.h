// Between the elements of a block and linear elements on the vertices of its cells, in device memory.
//
// A hat function is, in each direction of a cell, 1 - x at its lower and x at its upper vertex; hats[end][i] are its coefficients in the
// basis of the cell. Unknowns: number x + count[0] (y + count[1] z) of vertex (x, y, z), for each cell around it, but for cells that a
// split gives another one: number vertices() + the split. Of a block that is part of a box restrict_to() gives the part of the sums that
// its own cells have.
// Bytes: one pass over the vector of the elements each. Oracle: operators/cellwise/vertex_space.h. Test:
// tests/operators/cellwise/device_vertex_test.cu.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/stream.h"

namespace tensormg::vertices
{
/// Whether two cells around a vertex share a face or are one; by octants, bit d: above it in direction d.
constexpr bool share_face(int a, int b)
{
  const int difference = a ^ b;
  return (difference & (difference - 1)) == 0;
}

struct Layout
{
  Block block;
  std::array<std::int64_t, 3> offset{};       ///< of the first cell of the block in the box
  std::array<std::int64_t, 3> count{1, 1, 1}; ///< of vertices of the box
  std::array<bool, 3> periodic{};
  std::array<bool, 6> fixed{}; ///< sides on which vertices have no unknown
  double hats[2][max_n] = {};
  /// By vertex its split or -1, and by split the octant whose cell, with those that share a face with it, has another unknown. Device
  /// memory; nullptr: none is split.
  const std::int32_t *splits = nullptr;
  const std::int32_t *octants = nullptr;

  constexpr std::int64_t vertices() const { return count[0] * count[1] * count[2]; }
  constexpr int corners() const { return 1 << block.dim; }
  /// Numbers of the sums of cells.
  constexpr std::int64_t sums() const
  {
    return corners() * block.pitch * block.cells[1] * block.cells[2];
  }
};

/// to[unknown] = sum over cells of the products of r with the hat functions: P' r; unknowns that are fixed become zero. sums: scratch of
/// Layout::sums() numbers.
template <typename Number>
TENSORMG_CUDA_FUNCTION void restrict_to(
    const Layout &layout, const Number *r, double *sums, double *to, Stream stream);

/// x += P from
template <typename Number>
TENSORMG_CUDA_FUNCTION void add_prolonged(
    const Layout &layout, const double *from, Number *x, Stream stream);
} // namespace tensormg::vertices
