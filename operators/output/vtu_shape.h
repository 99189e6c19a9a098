// The cells of a VTU file that show one cell of the grid, whose points lie on a lattice.
#pragma once

#include <cstdint>
#include <vector>

namespace tensormg
{
struct VtuShape
{
  std::uint8_t type = 0; ///< VTK's number
  /// Points of all of them, one cell after the other; point i + n (j + n k) of the lattice is that number, n = degree + 1.
  std::vector<int> points;
  int points_per_cell = 0;

  int count() const { return static_cast<int>(points.size()) / points_per_cell; }
};

/// One Lagrange cell of this degree.
VtuShape lagrange_cell(int dim, int degree);

/// degree^dim linear cells.
VtuShape linear_cells(int dim, int degree);
} // namespace tensormg
