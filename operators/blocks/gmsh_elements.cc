#include "operators/blocks/gmsh_elements.h"

#include <cmath>
#include <cstddef>

#include <gmsh.h>

#include "operators/blocks/block_geometry.h"

namespace tensormg
{
namespace
{
  /// A type of elements with the places of its nodes in [-1, 1]^dim.
  struct Properties
  {
    GmshElements elements;
    std::vector<double> nodes;
  };

  Properties properties_of(int type)
  {
    Properties result;
    GmshElements &elements = result.elements;
    int n_nodes = 0, n_corners = 0;
    gmsh::model::mesh::getElementProperties(
        type, elements.name, elements.dim, elements.order, n_nodes, result.nodes, n_corners);
    elements.n_nodes = static_cast<std::size_t>(n_nodes);
    elements.n_corners = static_cast<std::size_t>(n_corners);
    // Simplices, prisms and pyramids have fewer corners.
    if (elements.dim < 1 || n_corners != 1 << elements.dim)
      return result;
    for (int c = 0; c < n_corners; ++c)
    {
      int vertex = 0;
      for (int d = 0; d < elements.dim; ++d)
        vertex |= (result.nodes[c * elements.dim + d] > 0. ? 1 : 0) << d;
      elements.vertex.push_back(vertex);
    }
    return result;
  }

  std::size_t power(std::size_t base, int exponent)
  {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
  }

  /// Of complete elements, whose nodes are a grid: products of polynomials of one coordinate. Gmsh's own values lose digits where the order is high.
  std::vector<double> product_matrix(const Properties &type, const std::vector<double> &line)
  {
    const auto &[elements, nodes] = type;
    const std::size_t n = line.size(), n_points = power(n, elements.dim);
    std::vector<double> grid;
    for (int i = 0; i <= elements.order; ++i)
      grid.push_back(double(i) / elements.order);
    const std::vector<double> values = lagrange_values(grid, line);
    std::vector<double> matrix(n_points * elements.n_nodes, 1.);
    for (std::size_t p = 0; p < n_points; ++p)
      for (std::size_t i = 0; i < elements.n_nodes; ++i)
        for (int d = 0; d < elements.dim; ++d)
        {
          const double at = 0.5 * (1. + nodes[i * elements.dim + d]) * elements.order;
          matrix[p * elements.n_nodes + i] *=
              values[p / power(n, d) % n * grid.size() + std::lround(at)];
        }
    return matrix;
  }

  /// Of elements without nodes inside.
  std::vector<double> gmsh_matrix(int type, int dim, const std::vector<double> &line)
  {
    const std::vector<double> origin{0.5};
    std::vector<double> points, matrix;
    for (const double z : dim > 2 ? line : origin)
      for (const double y : dim > 1 ? line : origin)
        for (const double x : line)
          points.insert(points.end(), {2. * x - 1., 2. * y - 1., 2. * z - 1.});
    int n_components = 0, n_orientations = 0;
    gmsh::model::mesh::getBasisFunctions(
        type, points, "Lagrange", n_components, matrix, n_orientations);
    // Nodes of blocks that are nodes of elements stay what they are to the last digit, so that neighbours agree.
    for (double &value : matrix)
      if (const double whole = std::round(value); std::abs(value - whole) < 1e-12)
        value = whole;
    return matrix;
  }
} // namespace

GmshElements gmsh_elements(int type) { return properties_of(type).elements; }

std::vector<double> gmsh_node_matrix(int type, int degree)
{
  const Properties properties = properties_of(type);
  const auto &[elements, nodes] = properties;
  const bool is_complete =
      elements.n_nodes == power(static_cast<std::size_t>(elements.order) + 1, elements.dim);
  const std::vector<double> line = lobatto_nodes(degree);
  return is_complete ? product_matrix(properties, line) : gmsh_matrix(type, elements.dim, line);
}
} // namespace tensormg
