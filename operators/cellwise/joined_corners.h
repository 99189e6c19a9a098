// Which corners of the cells of a mesh of blocks are one vertex.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/core/block.h"
#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg
{
/// The corner (bit d: its end in direction d) of a side of a cell at place (a, b) in its tangential directions.
int corner_of_side(int side, std::int64_t a, std::int64_t b);

/// Corners are one where sides join them. Parts of a vertex in which a stiff cell each moves almost freely against that of another part are several: where stiff
/// cells, more than 5 times as stiff as all others at the vertex, are connected neither through sides nor through a cell that has sides in common with both.
/// Such are two cells in 3D that meet in nothing but a corner. Discontinuous elements then jump between the soft cells, and continuous ones cannot.
class JoinedCorners
{
public:
  /// `cells`: of all blocks, with two points per direction; `links`: of all sides of the blocks; strengths: of all cells, x fastest, or empty.
  /// Throws std::length_error: more than 2^31 - 1 corners.
  JoinedCorners(const Block &cells, std::int64_t per_direction,
      const std::vector<laplace::BlockLink> &links, const std::vector<double> &strengths);

  /// Numbers from 0 of the vertices, by cell and corner; -1: on a Dirichlet side.
  const std::vector<std::int32_t> &unknowns() const { return unknowns_; }
  std::int32_t size() const { return size_; }
  bool has_splits() const { return has_splits_; }

private:
  using Cell = std::array<std::int64_t, 3>;
  std::int32_t number(const Cell &cell, int corner) const
  {
    return static_cast<std::int32_t>(
               (cell[2] * cells_.cells[1] + cell[1]) * cells_.cells[0] + cell[0]) *
        corners_ +
        corner;
  }
  template <typename Use>
  void for_corners(const Use &use) const;
  void join();
  void split(const std::vector<double> &strengths);
  bool split_vertex(const std::vector<std::int32_t> &at, const std::vector<double> &strengths);
  std::vector<std::vector<std::size_t>> neighbours(const std::vector<std::int32_t> &at) const;
  void count();

  Block cells_;
  std::int64_t per_direction_;
  const std::vector<laplace::BlockLink> &links_;
  int corners_;
  std::vector<std::int32_t> first_; ///< by corner: the least one of its vertex
  std::vector<std::int32_t> unknowns_;
  std::int32_t size_ = 0;
  bool has_splits_ = false;
};
} // namespace tensormg
