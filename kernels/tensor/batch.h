// Many small tensors of N^dim numbers inside one vector: which there are and where their entries lie.
//
//   tensor (a, b, c), entry (i, j, k)  at  first + a step[0] + b step[1] + c step[2]
//                                              + i stride[0] + j stride[1] + k stride[2]
//
// with i, a along x and stride[0] = 1. Two kinds are made here, in 2D without z:
//
//   make_cell_batch    N = n = degree + 1, tensors one after the other: u[cell][k][j][i].
//   make_patch_batch   N = 2 n, the 2^dim cells around a vertex of a Cartesian mesh whose vector is
//                      lexicographic, u[z][y][x] with n cells[d] numbers in direction d (cell after cell,
//                      its n nodes side by side). One call takes the patches of one colour: those with the
//                      lower cell colour[d] + 2 q, q = 0, 1, ... in direction d. They have no cell in common.
//
// A tensor may lie at an end of the mesh; its one-dimensional matrices then are others. `End` says which,
// separately for each direction.
#pragma once

#include <array>
#include <cstdint>

namespace tensormg::tensor
{
/// Ends of the mesh that a tensor touches along one direction.
enum class End : std::uint8_t
{
  none,
  lower,
  upper,
  both
};
inline constexpr int n_ends = 4;

/// Largest N: two cells of degree 8.
inline constexpr int max_size = 18;

struct Batch
{
  int dim = 3;
  int n = 2;                                   ///< N, entries per direction
  std::array<std::int64_t, 3> count{1, 1, 1};  ///< tensors per direction
  std::int64_t first = 0;                      ///< position of entry 0 of tensor (0, 0, 0)
  std::array<std::int64_t, 3> step{0, 0, 0};   ///< from tensor to tensor
  std::array<std::int64_t, 3> stride{1, 0, 0}; ///< from entry to entry
  std::array<bool, 3> at_lower{};              ///< the first tensors touch the lower end
  std::array<bool, 3> at_upper{};              ///< the last tensors touch the upper end

  constexpr std::int64_t n_tensors() const { return count[0] * count[1] * count[2]; }
  /// Numbers per tensor.
  constexpr std::int64_t size() const { return dim == 3 ? n * n * n : n * n; }
  /// Numbers in all tensors together.
  constexpr std::int64_t entries() const { return n_tensors() * size(); }

  constexpr std::int64_t position(
      const std::array<std::int64_t, 3> &tensor, const std::array<int, 3> &entry) const
  {
    std::int64_t at = first;
    for (int d = 0; d < dim; ++d)
      at += tensor[d] * step[d] + entry[d] * stride[d];
    return at;
  }

  /// What tensor number q of direction d touches.
  constexpr End end(int d, std::int64_t q) const
  {
    const bool lower = at_lower[d] && q == 0;
    const bool upper = at_upper[d] && q == count[d] - 1;
    return lower ? (upper ? End::both : End::lower) : (upper ? End::upper : End::none);
  }
};

/// `cells` tensors one after the other; none touches an end. Throws std::invalid_argument if a number is
/// out of range.
Batch make_cell_batch(int dim, int degree, std::int64_t cells);

/// The patches of one colour (0 or 1 per direction) of a mesh with cells[d] >= 2 cells, cells[2] = 1 and
/// colour[2] = 0 in 2D. There may be none. Throws std::invalid_argument if a number is out of range.
Batch make_patch_batch(int dim, int degree, const std::array<std::int64_t, 3> &cells,
    const std::array<int, 3> &colour);

/// Numbers in the vector of a mesh.
constexpr std::int64_t mesh_size(int dim, int degree, const std::array<std::int64_t, 3> &cells)
{
  std::int64_t size = 1;
  for (int d = 0; d < dim; ++d)
    size *= cells[d] * (degree + 1);
  return size;
}
} // namespace tensormg::tensor
