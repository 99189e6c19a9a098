// Continuous linear elements on the cells of a level: their matrix, and transfer to the elements of the level.
#pragma once

#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/cellwise/vertex_multigrid.h"
#include "operators/mesh/cell_numbers.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Every rank holds all vertices of the box. Vertices on Dirichlet sides have no unknown. All functions but add_prolonged() are collective.
class VertexSpace
{
public:
  /// `level`, whose cells have numbers, and `basis` must outlive the object.
  VertexSpace(const LevelGrid &level, const CellBasis &basis, const Problem &problem);

  const VertexGrid &grid() const { return grid_; }
  /// P'BP, P the embedding into the elements: with no jumps, of c_a and m of the cells alone.
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
  void sum_over_ranks(std::vector<double> &numbers) const;

  const LevelGrid &level_;
  std::array<BoundaryKind, 6> boundary_;
  VertexGrid grid_;
  std::vector<double> hats_[2]; ///< coefficients of 1 - x and x
};
} // namespace tensormg
