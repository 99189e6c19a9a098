// A deal.II program with its own matrix, vectors and numbering, and multigrid of tensormg as the preconditioner of its solver.
#include <cmath>
#include <iostream>

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_interface_values.h>
#include <deal.II/fe/mapping_cartesian.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/meshworker/mesh_loop.h>

#include <tensormg/dealii.h>

constexpr int dim = 2, degree = 3;
using Vector = dealii::LinearAlgebra::distributed::Vector<double>;
using Matrix = dealii::SparseMatrix<double>;

struct Program
{
  dealii::Triangulation<dim> mesh;
  dealii::MappingCartesian<dim> mapping;
  dealii::FE_DGQ<dim> element{degree};
  dealii::DoFHandler<dim> dofs{mesh};
  dealii::SparsityPattern pattern;
  Matrix matrix;
  Vector b, u;

  Program()
  {
    dealii::GridGenerator::hyper_cube(mesh);
    mesh.refine_global(5);
    dofs.distribute_dofs(element);
    dealii::DynamicSparsityPattern dynamic(dofs.n_dofs());
    dealii::DoFTools::make_flux_sparsity_pattern(dofs, dynamic);
    pattern.copy_from(dynamic);
    matrix.reinit(pattern);
    b.reinit(dofs.n_dofs());
    u.reinit(dofs.n_dofs());
  }

  void add_cells()
  {
    dealii::FEValues<dim> fe(mapping, element, dealii::QGauss<dim>(degree + 1),
        dealii::update_values | dealii::update_gradients | dealii::update_JxW_values);
    for (const auto &cell : dofs.active_cell_iterators())
    {
      fe.reinit(cell);
      std::vector<dealii::types::global_dof_index> indices(element.n_dofs_per_cell());
      cell->get_dof_indices(indices);
      for (const unsigned q : fe.quadrature_point_indices())
        for (const unsigned i : fe.dof_indices())
        {
          b(indices[i]) += fe.shape_value(i, q) * fe.JxW(q); // f = 1
          for (const unsigned j : fe.dof_indices())
            matrix.add(
                indices[i], indices[j], fe.shape_grad(i, q) * fe.shape_grad(j, q) * fe.JxW(q));
        }
    }
  }

  // Symmetric interior penalty with degree (degree + 1) / h, twice that on the boundary (u = 0).
  void add_face(const dealii::FEInterfaceValues<dim> &fe, double penalty)
  {
    const auto indices = fe.get_interface_dof_indices();
    const double boundary = fe.at_boundary() ? 2. : 1.;
    for (const unsigned q : fe.quadrature_point_indices())
      for (unsigned i = 0; i < indices.size(); ++i)
        for (unsigned j = 0; j < indices.size(); ++j)
        {
          const auto n = fe.normal(q);
          const double jump_i = fe.jump_in_shape_values(i, q),
                       jump_j = fe.jump_in_shape_values(j, q);
          matrix.add(indices[i], indices[j],
              fe.JxW(q) *
                  (boundary * penalty * jump_i * jump_j -
                      jump_i * (fe.average_of_shape_gradients(j, q) * n) -
                      jump_j * (fe.average_of_shape_gradients(i, q) * n)));
        }
  }
  void add_faces()
  {
    dealii::FEInterfaceValues<dim> fe(mapping, element, dealii::QGauss<dim - 1>(degree + 1),
        dealii::update_values | dealii::update_gradients | dealii::update_JxW_values |
            dealii::update_normal_vectors);
    for (const auto &cell : dofs.active_cell_iterators())
      for (const unsigned f : cell->face_indices())
      {
        const double penalty = degree * (degree + 1) / cell->extent_in_direction(f / 2);
        if (cell->at_boundary(f))
          fe.reinit(cell, f);
        else if (cell->index() < cell->neighbor(f)->index())
          fe.reinit(cell, f, dealii::numbers::invalid_unsigned_int, cell->neighbor(f),
              cell->neighbor_of_neighbor(f), dealii::numbers::invalid_unsigned_int);
        else
          continue;
        add_face(fe, penalty);
      }
  }
};

int main(int argc, char **argv)
{
  const dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  Program program;
  program.add_cells();
  program.add_faces();

  tensormg::Problem problem; // the box that the mesh divides
  problem.dim = dim;
  problem.degree = degree;
  problem.refinements = 5;
  const tensormg::DealiiPreconditioner<dim> multigrid(program.dofs, problem);

  dealii::SolverControl control(50, 1e-10 * program.b.l2_norm());
  dealii::SolverCG<Vector> solver(control);
  solver.solve(program.matrix, program.u, program.b, multigrid);

  // The matrix of the library is the one assembled here.
  Vector difference(program.u), product(program.u);
  program.matrix.vmult(product, program.u);
  multigrid.multiply(difference, program.u);
  difference -= product;
  std::cout << program.dofs.n_dofs() << " unknowns, " << control.last_step()
            << " iterations, largest u " << program.u.linfty_norm() << ", matrices differ by "
            << difference.linfty_norm() / product.linfty_norm() << '\n';
  return difference.linfty_norm() < 1e-10 * product.linfty_norm() && control.last_step() < 15 ? 0
                                                                                              : 1;
}
