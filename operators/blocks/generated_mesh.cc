#include "operators/blocks/generated_mesh.h"

#include <sstream>
#include <utility>
#include <vector>

#include <deal.II/base/exceptions.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

namespace tensormg
{
namespace
{
  template <int dim>
  std::array<double, 3> coordinates_of(const dealii::Point<dim> &point)
  {
    std::array<double, 3> result{};
    for (int d = 0; d < dim; ++d)
      result[d] = point[d];
    return result;
  }

  std::string in_one_line(const std::string &text)
  {
    std::istringstream words(text);
    std::string result, word;
    while (words >> word)
      result += (result.empty() ? "" : " ") + word;
    return result;
  }

  template <int dim>
  MeshCells cells_of(const dealii::Triangulation<dim> &triangulation)
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

  template <int dim>
  BlockGeometry geometry_of(const dealii::Triangulation<dim> &triangulation, int degree)
  {
    const dealii::MappingQ<dim> mapping(static_cast<unsigned>(degree));
    const dealii::Quadrature<dim> nodes(
        dealii::Quadrature<dim>(dealii::QGaussLobatto<dim>(static_cast<unsigned>(degree) + 1)));
    const dealii::FE_Nothing<dim> element;
    dealii::FEValues<dim> values(mapping, element, nodes, dealii::update_quadrature_points);
    std::vector<std::vector<std::array<double, 3>>> blocks;
    for (const auto &cell : triangulation.active_cell_iterators())
    {
      values.reinit(cell);
      auto &of_block = blocks.emplace_back();
      for (const auto &point : values.get_quadrature_points())
        of_block.push_back(coordinates_of(point));
    }
    return {dim, degree, std::move(blocks)};
  }

  template <int dim>
  GeneratedMesh generate(const std::string &name, const std::string &arguments, int degree)
  {
    dealii::Triangulation<dim> triangulation;
    try
    {
      dealii::GridGenerator::generate_from_name_and_arguments(triangulation, name, arguments);
    }
    catch (const dealii::ExceptionBase &error)
    {
      std::ostringstream reason;
      error.print_info(reason);
      throw MeshError("the generator " + name + " makes no mesh of '" + arguments +
          "': " + in_one_line(reason.str()));
    }
    return {make_block_mesh(cells_of(triangulation)), geometry_of(triangulation, degree)};
  }
} // namespace

GeneratedMesh generate_mesh(
    int dim, const std::string &name, const std::string &arguments, int degree)
{
  return dim == 2 ? generate<2>(name, arguments, degree) : generate<3>(name, arguments, degree);
}
} // namespace tensormg
