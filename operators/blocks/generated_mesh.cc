#include "operators/blocks/generated_mesh.h"

#include <utility>
#include <vector>

#include <deal.II/base/exceptions.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

#include "operators/blocks/dealii_cells.h"
#include "operators/blocks/generators/argument_rules.h"

namespace tensormg
{
namespace
{
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
  NamedMesh generate(const std::string &name, const std::string &arguments, int degree)
  {
    check_generator_arguments(dim, name, arguments);
    dealii::Triangulation<dim> triangulation;
    try
    {
      dealii::GridGenerator::generate_from_name_and_arguments(triangulation, name, arguments);
    }
    catch (const dealii::ExceptionBase &error)
    {
      throw MeshError(generator_refusal(name, arguments, reason_of(error)));
    }
    if (triangulation.n_active_cells() == 0)
      throw MeshError(generator_refusal(name, arguments, "it would have no cells"));
    return {make_block_mesh(cells_of(triangulation)), geometry_of(triangulation, degree)};
  }
} // namespace

NamedMesh generate_mesh(int dim, const std::string &name, const std::string &arguments, int degree)
{
  return dim == 2 ? generate<2>(name, arguments, degree) : generate<3>(name, arguments, degree);
}
} // namespace tensormg
