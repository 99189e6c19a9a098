// The preconditioner for programs with deal.II: its matrix is that of the numbering of a DoFHandler, on any distribution, and it
// serves deal.II's solvers.
// ranks: 1 2
#include "tensormg/dealii.h"

#include <cmath>
#include <numbers>

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <gtest/gtest.h>

#include "tensormg/graded.h"
#include "tensormg/mesh_solver.h"

namespace tensormg
{
namespace
{
  constexpr double pi = std::numbers::pi;
  constexpr int dim = 3;
  using Vector = dealii::LinearAlgebra::distributed::Vector<double>;

  /// The unit cube in 8^3 cells in the numbering of a refined distributed mesh.
  struct Program
  {
    dealii::parallel::distributed::Triangulation<dim> mesh{MPI_COMM_WORLD};
    dealii::FE_DGQ<dim> element;
    dealii::DoFHandler<dim> dofs{mesh};
    Problem problem;

    explicit Program(int degree, int coarse_cells = 2)
      : element(static_cast<unsigned>(degree))
    {
      dealii::GridGenerator::subdivided_hyper_cube(mesh, static_cast<unsigned>(coarse_cells));
      mesh.refine_global(2);
      dofs.distribute_dofs(element);
      problem.degree = degree;
      problem.coarse_cells = {2, 2, 2};
      problem.refinements = 2;
    }
    /// In cells that end there in each direction.
    Program(int degree, const std::vector<double> &corners)
      : element(static_cast<unsigned>(degree))
    {
      std::vector<double> sizes;
      for (std::size_t i = 1; i < corners.size(); ++i)
        sizes.push_back(corners[i] - corners[i - 1]);
      const std::vector<std::vector<double>> all(dim, sizes);
      dealii::GridGenerator::subdivided_hyper_rectangle(
          mesh, all, dealii::Point<dim>(), dealii::Point<dim>(1., 1., 1.));
      dofs.distribute_dofs(element);
      problem.degree = degree;
      problem.coarse_cells = {2, 2, 2};
      problem.refinements = 2;
      problem.corners = {corners, corners, corners};
    }
    Vector vector() const { return Vector(dofs.locally_owned_dofs(), MPI_COMM_WORLD); }
    /// Of 3 pi^2 sin sin sin.
    Vector right_hand_side() const
    {
      Vector b = vector();
      const dealii::QGauss<dim> quadrature(element.degree + 2);
      dealii::FEValues<dim> values(element, quadrature,
          dealii::update_values | dealii::update_JxW_values | dealii::update_quadrature_points);
      std::vector<dealii::types::global_dof_index> indices(element.n_dofs_per_cell());
      for (const auto &cell : dofs.active_cell_iterators())
        if (cell->is_locally_owned())
        {
          values.reinit(cell);
          cell->get_dof_indices(indices);
          for (const unsigned q : values.quadrature_point_indices())
          {
            const auto point = values.quadrature_point(q);
            const double f = 3. * pi * pi * std::sin(pi * point[0]) * std::sin(pi * point[1]) *
                std::sin(pi * point[2]);
            for (const unsigned i : values.dof_indices())
              b(indices[i]) += f * values.shape_value(i, q) * values.JxW(q);
          }
        }
      return b;
    }
    /// The largest error at the nodes of deal.II's element.
    double error(const Vector &u) const
    {
      double largest = 0.;
      const dealii::Quadrature<dim> nodes(element.get_unit_support_points());
      dealii::FEValues<dim> values(element, nodes, dealii::update_quadrature_points);
      std::vector<dealii::types::global_dof_index> indices(element.n_dofs_per_cell());
      for (const auto &cell : dofs.active_cell_iterators())
        if (cell->is_locally_owned())
        {
          values.reinit(cell);
          cell->get_dof_indices(indices);
          for (const unsigned q : values.quadrature_point_indices())
          {
            const auto point = values.quadrature_point(q);
            largest = std::max(largest,
                std::abs(u(indices[q]) -
                    std::sin(pi * point[0]) * std::sin(pi * point[1]) * std::sin(pi * point[2])));
          }
        }
      return dealii::Utilities::MPI::max(largest, MPI_COMM_WORLD);
    }
  };

  struct Matrix
  {
    const DealiiPreconditioner<dim> &library;
    void vmult(Vector &y, const Vector &x) const { library.multiply(y, x); }
  };

  Execution on_host()
  {
    Execution execution;
    execution.backend = "cpu";
    return execution;
  }

  template <typename Method>
  int iterations(const Program &program, const DealiiPreconditioner<dim> &library, double limit)
  {
    const Vector b = program.right_hand_side();
    Vector u = program.vector();
    dealii::SolverControl control(30, 1e-9 * b.l2_norm());
    Method method(control);
    method.solve(Matrix{library}, u, b, library);
    EXPECT_LT(program.error(u), limit);
    return static_cast<int>(control.last_step());
  }

  TEST(DealiiPreconditioner, ServesItsSolvers)
  {
    for (const auto &[degree, limit] : {std::pair(1, 4e-2), {2, 1e-3}, {4, 1e-6}})
    {
      const Program program(degree);
      const DealiiPreconditioner<dim> library(program.dofs, program.problem, {}, on_host());
      EXPECT_LE(iterations<dealii::SolverCG<Vector>>(program, library, limit), 12);
      EXPECT_LE(iterations<dealii::SolverFGMRES<Vector>>(program, library, limit), 12);
    }
  }

  TEST(DealiiPreconditioner, GradedCells)
  {
    const std::vector<double> corners = geometric_corners(0., 1., 8, 5., FineEnd::both);
    const Program program(2, corners);
    const DealiiPreconditioner<dim> library(program.dofs, program.problem, {}, on_host());
    EXPECT_LE(iterations<dealii::SolverCG<Vector>>(program, library, 5e-3), 14);
    Problem other = program.problem;
    other.corners[1][3] += 1e-3;
    EXPECT_THROW(DealiiPreconditioner<dim>(program.dofs, other, {}, on_host()), ArgumentError);
  }

  TEST(DealiiPreconditioner, RefusesOtherMeshesAndElements)
  {
    Program program(2);
    program.problem.degree = 3;
    EXPECT_THROW(
        DealiiPreconditioner<dim>(program.dofs, program.problem, {}, on_host()), ArgumentError);
    const Program other(2, 3); // 12^3 cells
    EXPECT_THROW(
        DealiiPreconditioner<dim>(other.dofs, other.problem, {}, on_host()), ArgumentError);
  }

  // Manifolds give the cells their shape, and unknowns lie where FE_DGQ has them.
  TEST(DealiiTriangulation, IsAMeshOfCurvedCells)
  {
    constexpr int degree = 3;
    dealii::Triangulation<2> shell;
    dealii::GridGenerator::hyper_shell(shell, dealii::Point<2>(), 0.5, 1., 5, true);
    shell.refine_global(1);
    const dealii::MappingQ<2> mapping(degree);
    Problem problem;
    problem.dim = 2;
    problem.degree = degree;
    problem.refinements = 0;
    problem.right_hand_side = "0";
    MeshOptions mesh;
    mesh.type = MeshType::arrays;
    mesh.arrays = mesh_arrays(shell, mapping, degree);
    mesh.conditions = {
        {"0", {BoundaryKind::dirichlet, "log(0.5)"}}, {"1", {BoundaryKind::neumann, "1"}}};
    Execution execution;
    execution.nodes = Nodes::gauss_lobatto;
    MeshSolver solver(problem, mesh, {}, execution);
    std::vector<double> u(static_cast<std::size_t>(solver.size())), x(u.size()), y(u.size());
    solver.coordinates(x, y, {});
    EXPECT_TRUE(solver.solve(u).converged());
    const dealii::FE_DGQ<2> element(degree);
    std::size_t at = 0;
    for (const auto &cell : shell.active_cell_iterators())
      for (const auto &node : element.get_unit_support_points())
      {
        const auto point = mapping.transform_unit_to_real_cell(cell, node);
        ASSERT_NEAR(x[at], point[0], 1e-12);
        ASSERT_NEAR(y[at], point[1], 1e-12);
        EXPECT_NEAR(u[at++], std::log(point.norm()), 1e-3);
      }
    EXPECT_EQ(at, u.size());
  }
} // namespace
} // namespace tensormg
