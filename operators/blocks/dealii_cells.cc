#include "operators/blocks/dealii_cells.h"

#include <sstream>

namespace tensormg
{
template <int dim>
std::array<double, 3> coordinates_of(const dealii::Point<dim> &point)
{
  std::array<double, 3> result{};
  for (int d = 0; d < dim; ++d)
    result[d] = point[d];
  return result;
}

template <int dim, int spacedim>
MeshCells cells_of(const dealii::Triangulation<dim, spacedim> &triangulation)
{
  MeshCells mesh;
  mesh.dim = dim;
  for (const auto &vertex : triangulation.get_vertices())
    mesh.vertices.push_back(coordinates_of(vertex));
  for (const auto &cell : triangulation.active_cell_iterators())
  {
    auto &vertices = mesh.cells.emplace_back();
    for (const unsigned v : cell->vertex_indices())
      vertices[v] = cell->vertex_index(v);
    mesh.material.push_back(static_cast<int>(cell->material_id()));
    for (const unsigned f : cell->face_indices())
      if (cell->at_boundary(f))
      {
        std::array<std::int64_t, 4> face{};
        for (const unsigned v : cell->face(f)->vertex_indices())
          face[v] = cell->face(f)->vertex_index(v);
        mesh.boundary.emplace_back(face, static_cast<int>(cell->face(f)->boundary_id()));
      }
  }
  return mesh;
}

std::string joined_words(const std::string &text)
{
  std::istringstream words(text);
  std::string result, word;
  while (words >> word)
    result += (result.empty() ? "" : " ") + word;
  return result;
}

std::string reason_of(const dealii::ExceptionBase &error)
{
  std::ostringstream text;
  error.print_info(text);
  return joined_words(text.str());
}

template std::array<double, 3> coordinates_of(const dealii::Point<2> &);
template std::array<double, 3> coordinates_of(const dealii::Point<3> &);
template MeshCells cells_of(const dealii::Triangulation<2> &);
template MeshCells cells_of(const dealii::Triangulation<2, 3> &);
template MeshCells cells_of(const dealii::Triangulation<3> &);
} // namespace tensormg
