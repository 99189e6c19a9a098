#include "operators/library/array_mesh.h"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "operators/blocks/mesh_checks.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;

  std::size_t power(std::size_t base, int exponent)
  {
    std::size_t result = 1;
    for (int i = 0; i < exponent; ++i)
      result *= base;
    return result;
  }

  [[noreturn]] void refuse_arrays(
      const std::string &name, const std::string &found, const std::string &allowed)
  {
    throw std::invalid_argument("mesh.arrays." + name + ' ' + found + "; allowed: " + allowed);
  }

  void check_entries(const std::string &name, std::size_t found, std::size_t wanted)
  {
    if (found != wanted)
      refuse_arrays(name, "has " + std::to_string(found) + " entries", std::to_string(wanted));
  }

  /// Returns the number of cells.
  std::size_t checked_cells(int dim, const MeshArrays &arrays)
  {
    if (arrays.degree < 1 || arrays.degree > 12)
      refuse_arrays("degree", "= " + std::to_string(arrays.degree), "1 to 12");
    const std::size_t per_cell = power(static_cast<std::size_t>(arrays.degree) + 1, dim);
    if (arrays.cells.empty() || arrays.cells.size() % per_cell != 0)
      refuse_arrays("cells", "has " + std::to_string(arrays.cells.size()) + " entries",
          std::to_string(per_cell) + " for each cell, of which there is at least one");
    for (const std::int64_t number : arrays.cells)
      if (number < 0 || number >= std::ssize(arrays.points))
        refuse_arrays("cells", "has the number " + std::to_string(number),
            "0 to " + std::to_string(std::ssize(arrays.points) - 1) + ", those of the points");
    for (const Point &point : arrays.points)
      for (int d = 0; d < dim; ++d)
        if (!std::isfinite(point[static_cast<std::size_t>(d)]))
          refuse_arrays("points", "has coordinates that are not finite", "numbers");
    const std::size_t n_cells = arrays.cells.size() / per_cell;
    if (!arrays.material.empty())
      check_entries("material", arrays.material.size(), n_cells);
    check_entries("boundary", arrays.boundary.size(), arrays.faces.size());
    return n_cells;
  }

  MeshCells cells_of_arrays(int dim, const MeshArrays &arrays, std::size_t n_cells)
  {
    MeshCells mesh;
    mesh.dim = dim;
    mesh.vertices = arrays.points;
    if (dim == 2)
      for (Point &vertex : mesh.vertices)
        vertex[2] = 0.;
    mesh.material = arrays.material;
    const auto n = static_cast<std::size_t>(arrays.degree) + 1;
    for (std::size_t c = 0; c < n_cells; ++c)
    {
      auto &cell = mesh.cells.emplace_back();
      for (std::size_t v = 0; v < std::size_t{1} << dim; ++v)
        cell[v] =
            arrays.cells[c * power(n, dim) + (n - 1) * (v % 2 + n * (v / 2 % 2 + n * (v / 4)))];
    }
    for (std::size_t f = 0; f < arrays.faces.size(); ++f)
      mesh.boundary.emplace_back(arrays.faces[f], arrays.boundary[f]);
    return mesh;
  }

  std::vector<double> equidistant_nodes(int degree)
  {
    std::vector<double> nodes;
    for (int i = 0; i <= degree; ++i)
      nodes.push_back(static_cast<double>(i) / degree);
    return nodes;
  }
} // namespace

NamedMesh make_array_mesh(int dim, const MeshArrays &arrays)
{
  const std::size_t n_cells = checked_cells(dim, arrays);
  const MeshCells cells = cells_of_arrays(dim, arrays, n_cells);
  BlockMesh blocks = make_block_mesh(cells);
  const auto n = static_cast<std::size_t>(arrays.degree) + 1;
  const std::vector<double> to_lobatto =
      lagrange_values(equidistant_nodes(arrays.degree), lobatto_nodes(arrays.degree));
  std::vector<std::vector<Point>> nodes(n_cells);
  for (std::size_t c = 0, at = 0; c < n_cells; ++c)
  {
    for (std::size_t i = 0; i < power(n, dim); ++i, ++at)
      nodes[c].push_back(cells.vertices[static_cast<std::size_t>(arrays.cells[at])]);
    if (arrays.places == CellNodePlaces::equidistant)
      for (int d = 0; d < dim; ++d)
        nodes[c] = contracted(nodes[c], to_lobatto, power(n, d), n);
  }
  BlockGeometry geometry(dim, arrays.degree, std::move(nodes));
  check_geometry(blocks, geometry);
  return {std::move(blocks), std::move(geometry), arrays.boundary_names, {}};
}
} // namespace tensormg
