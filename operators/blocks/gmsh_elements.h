// Types of elements of Gmsh, and how their nodes give those of blocks.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace tensormg
{
/// A type of elements.
struct GmshElements
{
  std::string name; ///< Gmsh's, such as "Hexahedron 27"
  int dim = 0;
  int order = 1;
  std::size_t n_nodes = 0;
  std::size_t n_corners = 0; ///< which are the first nodes
  /// Of a line, quadrilateral or hexahedron: vertex (see MeshCells) that each corner is. Of others empty.
  std::vector<int> vertex;

  /// A line, quadrilateral or hexahedron?
  bool is_block() const { return !vertex.empty(); }
};

/// By Gmsh's number of the type. Gmsh must have been started.
GmshElements gmsh_elements(int type);

/// matrix[p * n_nodes + i]: the shape function of node i at point p of the tensor product of degree + 1 Gauss-Lobatto points, x fastest. The element is a
/// block; its order may be lower or higher than the degree, its nodes complete or without those inside.
std::vector<double> gmsh_node_matrix(int type, int degree);
} // namespace tensormg
