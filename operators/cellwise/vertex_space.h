// Continuous linear elements on the cells of a level: their matrix, and transfer to the elements of the level.
#pragma once

#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/vertices/vertices.h"
#include "operators/cellwise/vertex_multigrid.h"
#include "operators/cellwise/vertex_splits.h"
#include "operators/mesh/cell_numbers.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// A vertex may have two unknowns (vertex_splits.h), the second one of which is number grid().size() + the number of the split.
/// Every rank holds all vertices of the box. Vertices on Dirichlet sides have no unknown. All functions but add_prolonged() are collective.
class VertexSpace
{
public:
  /// `level`, whose cells have numbers, and `basis` must outlive the object.
  VertexSpace(const LevelGrid &level, const CellBasis &basis, const Problem &problem);

  const VertexGrid &grid() const { return grid_; }
  /// Gives vertices two unknowns where these cells ask for it, and only there.
  void split(const CellNumbersOf<double> &numbers);
  std::int64_t n_splits() const { return splits_.size(); }
  /// For kernels, of the cells of this rank: without splits, and these.
  vertices::Layout layout() const;
  std::vector<std::int32_t> splits() const;
  const std::vector<std::int32_t> &octants() const { return splits_.octants(); }
  /// P'BP, P the embedding into the elements: but for split vertices there are no jumps, and c_a, m and the Robin numbers of the cells alone
  /// count.
  VertexMatrix matrix(const CellNumbersOf<double> &numbers) const;
  /// to = P' r
  template <typename Number>
  void restrict_to(std::vector<double> &to, const Vector<Number> &r) const;
  /// x += P from
  template <typename Number>
  void add_prolonged(Vector<Number> &x, std::vector<double> &from) const;

private:
  bool has_unknown(const std::array<std::int64_t, 3> &vertex) const;
  std::int64_t place(std::int64_t cx, std::int64_t cy, std::int64_t cz, int corner) const;
  /// kappa of the cell behind its lower or upper end in direction d, zero where no side of the block is.
  double behind_end(const std::array<std::int64_t, 3> &cell,
      const laplace::CellNumbers<double> &cells, int d, int end) const;
  void sum_over_ranks(std::vector<double> &numbers) const;
  void add_cell(VertexMatrix &to, const laplace::CellNumbers<double> &cells,
      const std::array<std::int64_t, 3> &cell) const;
  void add_jumps(VertexMatrix &to, const laplace::CellNumbers<double> &cells,
      const std::array<std::int64_t, 3> &cell, int d) const;
  void gather(std::vector<VertexMatrix::Entry> &entries) const;
  void add(VertexMatrix &to, const std::array<std::int64_t, 2> &places, int neighbour,
      double value) const;

  const LevelGrid &level_;
  double penalty_;
  std::array<BoundaryKind, 6> boundary_;
  VertexGrid grid_;
  VertexSplits splits_;
  std::vector<double> hats_[2]; ///< coefficients of 1 - x and x
};
} // namespace tensormg
