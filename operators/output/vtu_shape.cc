#include "operators/output/vtu_shape.h"

namespace tensormg
{
namespace
{
  /// VTK's number of the point (i, j, k) of a Lagrange cell: corners, then edges, faces, the inside. In files of
  /// version 0.1, which every reader knows, the two last edges along k are in the order of the first versions of VTK.
  int lagrange_number_3d(int i, int j, int k, int degree)
  {
    const bool ends_i = i == 0 || i == degree, ends_j = j == 0 || j == degree,
               ends_k = k == 0 || k == degree;
    const int inner = degree - 1, ends = int(ends_i) + int(ends_j) + int(ends_k);
    if (ends == 3)
      return (i > 0 ? (j > 0 ? 2 : 1) : (j > 0 ? 3 : 0)) + (k > 0 ? 4 : 0);
    int first = 8;
    if (ends == 2)
    {
      if (!ends_i)
        return first + i - 1 + (j > 0 ? 2 * inner : 0) + (k > 0 ? 4 * inner : 0);
      if (!ends_j)
        return first + j - 1 + (i > 0 ? inner : 3 * inner) + (k > 0 ? 4 * inner : 0);
      return first + 8 * inner + k - 1 + inner * (i > 0 ? (j > 0 ? 3 : 1) : (j > 0 ? 2 : 0));
    }
    first += 12 * inner;
    const int face = inner * inner;
    if (ends == 1)
    {
      if (ends_i)
        return first + j - 1 + inner * (k - 1) + (i > 0 ? face : 0);
      if (ends_j)
        return first + 2 * face + i - 1 + inner * (k - 1) + (j > 0 ? face : 0);
      return first + 4 * face + i - 1 + inner * (j - 1) + (k > 0 ? face : 0);
    }
    return first + 6 * face + i - 1 + inner * (j - 1 + inner * (k - 1));
  }

  int lagrange_number_2d(int i, int j, int degree)
  {
    const bool ends_i = i == 0 || i == degree, ends_j = j == 0 || j == degree;
    const int inner = degree - 1;
    if (ends_i && ends_j)
      return i > 0 ? (j > 0 ? 2 : 1) : (j > 0 ? 3 : 0);
    if (!ends_i && ends_j)
      return 4 + i - 1 + (j > 0 ? 2 * inner : 0);
    if (ends_i)
      return 4 + j - 1 + (i > 0 ? inner : 3 * inner);
    return 4 + 4 * inner + i - 1 + inner * (j - 1);
  }
} // namespace

VtuShape lagrange_cell(int dim, int degree)
{
  constexpr std::uint8_t quadrilateral = 70, hexahedron = 72;
  const int n = degree + 1, nz = dim == 3 ? n : 1;
  VtuShape cells;
  cells.type = dim == 3 ? hexahedron : quadrilateral;
  cells.points_per_cell = n * n * nz;
  cells.points.resize(static_cast<std::size_t>(cells.points_per_cell));
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
      {
        const int number =
            dim == 3 ? lagrange_number_3d(i, j, k, degree) : lagrange_number_2d(i, j, degree);
        cells.points[static_cast<std::size_t>(number)] = i + n * (j + n * k);
      }
  return cells;
}

VtuShape linear_cells(int dim, int degree)
{
  constexpr std::uint8_t quadrilateral = 9, hexahedron = 12;
  const int n = degree + 1;
  VtuShape cells;
  cells.type = dim == 3 ? hexahedron : quadrilateral;
  cells.points_per_cell = 1 << dim;
  for (int k = 0; k < (dim == 3 ? degree : 1); ++k)
    for (int j = 0; j < degree; ++j)
      for (int i = 0; i < degree; ++i)
        for (int layer = 0; layer < dim - 1; ++layer)
        {
          const int corner = i + n * (j + n * (k + layer));
          for (const int step : {0, 1, n + 1, n})
            cells.points.push_back(corner + step);
        }
  return cells;
}
} // namespace tensormg
