// Continuous multilinear functions on the blocks of a mesh: the coarsest space below one cell per block.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/cellwise/vertex_hierarchy.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
class BlockLevels;

/// Numbers of the unknowns. Corners of blocks are one vertex where sides join them, periodic ones, too; corners that meet without a common
/// side are several, between which nothing has to be continuous. A vertex of a Dirichlet side has no unknown.
///
/// P of such a function takes its coefficients in the modes of degree 1, one cell per block. Since it does not jump, and is zero on Dirichlet
/// sides, (P'AP)_ij are sums over cells and their points of w grad phi_i . G grad phi_j, of the reaction and of Robin sides.
class BlockVertices
{
public:
  /// `links`: of all sides of the blocks.
  BlockVertices(int dim, const std::vector<laplace::BlockLink> &links);

  /// Of the unknowns.
  std::int64_t size() const { return size_; }
  /// Of corner v of a block (bit d: its end in direction d); -1: none.
  std::int32_t unknown(std::int64_t block, int corner) const
  {
    return unknowns_[static_cast<std::size_t>(block * corners_ + corner)];
  }

  /// P'AP by rows, columns ascending. A: the numbers of level 0 of `levels`, which has degree 1; links as those of the constructor.
  SparseRows matrix(const BlockLevels &levels) const;
  /// to = P' r and x += P from, vectors of that level.
  void restrict_to(const CellBasis &basis, std::vector<double> &to, const Vector<double> &r) const;
  void add_prolonged(
      const CellBasis &basis, Vector<double> &x, const std::vector<double> &from) const;

private:
  int dim_, corners_;
  std::vector<std::int32_t> unknowns_;
  std::int64_t size_ = 0;
};
} // namespace tensormg
