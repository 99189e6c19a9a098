// Functions of position that are polynomials in the cells of a box, from their values at nodes in a file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operators/data/npy_array.h"
#include "operators/mesh/axis.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// Where the numbers of an array lie: node (i, j, k) of cell (cx, cy, cz) at Axis::coordinate(c, nodes[i]) of each direction.
struct NodalLayout
{
  int dim = 3;
  std::array<double, 3> lower{0., 0., 0.};
  std::array<double, 3> upper{1., 1., 1.};
  std::array<std::int64_t, 3> cells{1, 1, 1}; ///< per direction; entry 2 is 1 in 2D
  /// Where the cells end, cells + 1 numbers from lower to upper; empty: equal cells.
  std::array<std::vector<double>, 3> corners;
  std::vector<double> nodes{0.5}; ///< in [0, 1], increasing; a single one: constant in each cell

  Axis axis(int d) const
  {
    const auto i = static_cast<std::size_t>(d);
    return corners[i].empty() ? Axis(lower[i], upper[i], cells[i]) : Axis(corners[i]);
  }
  /// (cells_z, cells_y, cells_x, n, n, n), in 2D (cells_y, cells_x, n, n), n the number of nodes.
  std::vector<std::int64_t> shape() const;
};

/// The most nodes in a direction.
inline constexpr int most_nodes = 9;

/// The function that has these values at the nodes and is in each cell a polynomial of degree n - 1 in each direction. Where
/// cells meet, up to rounding, that of the upper one; at the upper end of the box that of the last. Reads of the file what it
/// needs. Immutable: any number of threads may evaluate it.
class NodalField
{
public:
  /// Throws DataFileError if the shape of the array is not layout.shape(), or for one node that of the cells. `array`:
  /// not null. `nodes`: at most most_nodes.
  NodalField(std::shared_ptr<const NpyArray> array, NodalLayout layout);

  const NodalLayout &layout() const { return layout_; }
  const NpyArray &array() const { return *array_; }

  /// values[q] = f(x[q], y[q], z[q]), q < n. Throws ExpressionError with this name at a point outside the box, up to rounding.
  void values(const std::string &name, std::size_t n, const double *x, const double *y,
      const double *z, double *values) const;

private:
  /// A coordinate among the cells: l_i is the polynomial that is 1 at node i and 0 at the others.
  struct Place
  {
    std::int64_t cell = 0;
    std::array<double, most_nodes> weights{}; ///< l_i there
  };

  bool find(int direction, double x, Place &place) const;
  double value(const std::array<Place, 3> &place) const;
  std::string box_text() const;

  std::shared_ptr<const NpyArray> array_;
  NodalLayout layout_;
  std::array<Axis, 3> axis_;
  std::array<double, 3> rounding_{};                 ///< of a coordinate, in cells
  std::array<double, most_nodes> inverse_factors_{}; ///< 1 / prod_{j != i} (x_i - x_j)
};

/// That field as a function with this name, for Problem::functions.
Function field_function(std::shared_ptr<const NodalField> field, const std::string &name);
} // namespace tensormg
