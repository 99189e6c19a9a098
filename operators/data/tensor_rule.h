// Tensor-product points on tiles of cells: projection of functions, evaluation of vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/data/cell_factor.h"
#include "operators/data/functions.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Points of one direction on the reference cell [0, 1], and the modes there.
struct LineRule
{
  int n_modes = 1;
  std::vector<double> points{0.};
  std::vector<double> weights{1.};
  std::vector<double> values{1.};      ///< values[q * n_modes + i] = phi_i(points[q])
  std::vector<double> derivatives{0.}; ///< the same for phi_i', reference scaling
  /// projection[i * n_points + q]: weight of the function's value at point q in coefficient i;
  /// weights[q] phi_i(points[q]) for quadrature in the cell.
  std::vector<double> projection{1.};

  int n_points() const { return static_cast<int>(points.size()); }
};

/// One rule per direction; in 2D the default rule (one point, one mode of value 1) in z.
using TensorRule = std::array<LineRule, 3>;

/// Gauss-Legendre quadrature, exact for degree 2 n_points - 1.
LineRule gauss_rule(const CellBasis &basis, int n_points);
/// Any points, e.g. for output; weights are zero.
LineRule point_rule(const CellBasis &basis, std::span<const double> points);
/// The lower (0) or upper (1) end of the cell with the given factor per mode as projection.
LineRule end_rule(const CellBasis &basis, int end, std::span<const double> factors);
/// `line` in every direction of the block.
TensorRule tensor_rule(const Block &block, const LineRule &line);

/// Local cells begin[d] <= c_d < end[d].
struct CellRange
{
  std::array<std::int64_t, 3> begin{0, 0, 0};
  std::array<std::int64_t, 3> end{0, 0, 0};
};
CellRange all_cells(const Block &block);
/// The layer of cells at side s of the block.
CellRange side_cells(const Block &block, int side);

/// Neighbouring cells of one row, which are worked on together so that loops over x are long.
struct Tile
{
  std::int64_t cx = 0; ///< first cell
  std::int64_t count = 0;
  std::int64_t cy = 0;
  std::int64_t cz = 0;
};

/// Calls f(tile) for tiles that cover the range; their arrays of points fit into the cache.
template <typename F>
void for_each_tile(const CellRange &range, const TensorRule &rule, const F &f)
{
  constexpr std::int64_t points_per_tile = 16384;
  const std::int64_t points_per_cell =
      std::int64_t(rule[0].n_points()) * rule[1].n_points() * rule[2].n_points();
  const std::int64_t step =
      std::max(points_per_tile / points_per_cell / row_granularity, std::int64_t(1)) *
      row_granularity;
  for (std::int64_t cz = range.begin[2]; cz < range.end[2]; ++cz)
    for (std::int64_t cy = range.begin[1]; cy < range.end[1]; ++cy)
      for (std::int64_t cx = range.begin[0]; cx < range.end[0]; cx += step)
        f(Tile{cx, std::min(step, range.end[0] - cx), cy, cz});
}

/// The coordinates of the points of one tile, for ScalarFunction::tensor_values. Arrays over the
/// points of a tile have the order [qz][qy][qx][cell].
struct TilePoints
{
  std::array<std::vector<double>, 3> coordinates;

  void set(const LevelGrid &grid, const TensorRule &rule, const Tile &tile);
  std::size_t size() const
  {
    return coordinates[0].size() * coordinates[1].size() * coordinates[2].size();
  }
  /// out.size() becomes size().
  void evaluate(const ScalarFunction &f, std::vector<double> &out) const;
};

/// values, in the order of the points of a tile, times the factor of their cell.
void multiply_cells(const Tile &tile, const CellFactor &factor, std::vector<double> &values);
/// The sum of the rule's weights times the values at the points of cell c of so many in a tile.
double weighted_sum(
    const TensorRule &rule, const std::vector<double> &values, std::int64_t count, std::int64_t c);
/// u in each cell times its factor.
void multiply_cells(const LevelGrid &level, const CellFactor &factor, Vector<double> &u);

/// u at the points of a tile. direction = -1: the value; 0..2: the derivative in that direction in
/// reference scaling (divide by the cell size).
class TileEvaluator
{
public:
  void evaluate(const Vector<double> &u, const TensorRule &rule, const Tile &tile, int direction,
      std::vector<double> &out);

private:
  std::vector<double> modes_, z_, yz_;
};

/// "(0.5, 1)"
std::string point_text(const std::array<double, 3> &point, int dim);
/// "is infinite at (0.5, 1)", for a value that is not finite.
std::string not_finite_text(double value, const std::array<double, 3> &point, int dim);

/// b_ijk += scale * sum_q P_i(qx) P_j(qy) P_k(qz) f(x_q) for the cells of the range, P the rule's
/// projection; times the cell's factor. Throws ExpressionError naming the point if f is not finite there.
void add_projection(const LevelGrid &grid, const ScalarFunction &f, const CellRange &range,
    const TensorRule &rule, double scale, Vector<double> &b, const CellFactor &factor = {});

/// The sums over cells and points of w f and w |f|, w the rule's weights: integrals in units of the
/// cell (or of the side, with end_rule), times the cell's factor.
struct Integral
{
  double value = 0.;
  double magnitude = 0.;
};
Integral integrate(const LevelGrid &grid, const ScalarFunction &f, const CellRange &range,
    const TensorRule &rule, const CellFactor &factor = {});
} // namespace tensormg
