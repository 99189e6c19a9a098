// Integrals over curved cells and their sides: geometry and modes at tensor products of Gauss points.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/data/tensor_rule.h"
#include "operators/pointwise/cell_map.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// One cell of a level.
struct CellPlace
{
  std::int64_t block = 0;             ///< of all of the mesh
  std::array<std::int64_t, 3> cell{}; ///< within the block
};

/// Calls use(place) for the cells of a level that this rank has, block by block, x fastest.
template <typename Use>
void for_each_cell(const BlockGeometry &geometry, const BlockLevel &level, const Use &use)
{
  const std::int64_t n = level.per_direction;
  for (std::int64_t block = level.first; block < level.end(geometry); ++block)
    for (std::int64_t z = 0; z < (geometry.dim() == 3 ? n : 1); ++z)
      for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x)
          use(CellPlace{block, {x, y, z}});
}

/// The numbers of a cell in a vector, x fastest.
std::vector<double> modes_of_cell(
    const Vector<double> &u, const BlockLevel &level, const CellPlace &place);
/// Adds to them.
void add_to_cell(const std::vector<double> &modes, const BlockLevel &level, const CellPlace &place,
    Vector<double> &u);

/// Points of the cell itself (side = -1) or of one of its sides, 2 d + s, those of the lower tangential direction fastest.
class CellQuadrature
{
public:
  /// By points of [0, 1] with weights; `geometry` must outlive the object.
  CellQuadrature(const BlockGeometry &geometry, const BlockLevel &level, const CellBasis &basis,
      const LineRule &line);
  /// So many Gauss points per direction.
  CellQuadrature(
      const BlockGeometry &geometry, const BlockLevel &level, const CellBasis &basis, int n_points);

  CellPoints points(const CellPlace &place, int side = -1) const;
  /// Weight of point q on the reference cell or its side.
  double weight(std::size_t q, int side = -1) const;
  /// sum_i modes_i phi_i, or its derivative in a reference direction, at the points.
  std::vector<double> values(
      const std::vector<double> &modes, int side = -1, int derivative = -1) const;
  /// The transpose: sum_q values_q phi_i, without the weights.
  std::vector<double> tested(std::vector<double> values, int side = -1, int derivative = -1) const;

private:
  /// Of one direction.
  struct Line
  {
    LineRule rule;
    LinePoints nodes;
  };
  Line make_line(const LineRule &rule) const;
  const Line &line(int d, int side) const
  {
    return side >= 0 && side / 2 == d ? ends_[side % 2] : inside_;
  }

  int dim_;
  int mapping_degree_;
  CellNodes nodes_;
  CellMap map_;
  Line inside_;
  std::array<Line, 2> ends_;
};
} // namespace tensormg
