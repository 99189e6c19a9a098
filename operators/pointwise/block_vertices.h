// Continuous multilinear functions on the cells of a mesh of blocks: the space below the coarsest level.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/cellwise/vertex_hierarchy.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
class BlockLevels;

/// Numbers of the unknowns are those of JoinedCorners (operators/cellwise/joined_corners.h). A vertex of a Dirichlet side has no unknown.
///
/// P of such a function takes its coefficients in the modes of degree 1. Where it does not jump, and since it is zero on Dirichlet
/// sides, (P'AP)_ij are sums over cells and their points of w grad phi_i . G grad phi_j, of the reaction and of Robin sides; where vertices are split
/// also of the terms of the sides that are torn there.
class BlockVertices
{
public:
  /// `links`: of all sides of the blocks, which have so many cells in each direction. strengths: of all cells, by which vertices are split; empty: none
  /// is. Throws as JoinedCorners.
  BlockVertices(int dim, const std::vector<laplace::BlockLink> &links,
      std::int64_t per_direction = 1, const std::vector<double> &strengths = {});

  /// Of the unknowns.
  std::int64_t size() const { return size_; }
  /// P'AP by rows, columns ascending. A: the numbers of level 0 of `levels`, which has degree 1 and these cells. Where its blocks are divided
  /// among ranks all of them get the same matrix. Collective.
  SparseRows matrix(const BlockLevels &levels) const;
  /// to = P' r and x += P from, vectors of that level; `first`: what is in x before the vector's cells. On ranks with parts of the blocks P' r is the sum of
  /// what they get.
  void restrict_to(const CellBasis &basis, std::vector<double> &to, const Vector<double> &r,
      std::int64_t first = 0) const;
  void add_prolonged(const CellBasis &basis, Vector<double> &x, const std::vector<double> &from,
      std::int64_t first = 0) const;

  /// What it holds, and the matrix.
  static double bytes(std::int64_t cells, int dim);

private:
  using Cell = std::array<std::int64_t, 3>;
  /// Of a cell, where functions jump.
  struct TornSide
  {
    Cell cell;
    int side;
    std::array<std::int32_t, 4> behind; ///< unknowns at the places of the side
  };
  void add_if_torn(const std::vector<laplace::BlockLink> &links, std::int64_t per_direction,
      const Cell &cell, int side);
  /// Of the 8 corners of the cell, and behind the side.
  std::vector<std::int32_t> unknowns_of(const TornSide &torn) const;
  /// Entries of the matrix, in order.
  std::vector<std::pair<std::int32_t, std::int32_t>> torn_places() const;
  /// The unknowns of the corners of a cell (bit d: its end in direction d), -1: none.
  const std::int32_t *of_cell(const Cell &cell) const
  {
    return &unknowns_[static_cast<std::size_t>(place(cell) * corners_)];
  }
  std::int64_t place(const Cell &cell) const
  {
    return (cell[2] * cells_.cells[1] + cell[1]) * cells_.cells[0] + cell[0];
  }
  /// Zeros where cells have entries.
  SparseRows pattern() const;

  int corners_;
  Block cells_; ///< of all blocks, with two points per direction
  std::vector<std::int32_t> unknowns_;
  std::vector<TornSide> torn_;
  std::int32_t size_ = 0;
};
} // namespace tensormg
