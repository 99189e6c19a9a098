// For programs with deal.II: a preconditioner for FE_DGQ on a subdivided box, with vectors and numbering of their own; triangulations of curved cells.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <deal.II/base/mpi_noncontiguous_partitioner.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/la_parallel_vector.h>

#include "tensormg/mesh.h"
#include "tensormg/mpi.h"
#include "tensormg/solver.h"

namespace tensormg
{
/// One multigrid cycle for the matrix of the symmetric interior penalty method (tensormg/solver.h) in the basis of FE_DGQ.
/// vmult() serves deal.II's SolverCG and SolverFGMRES, from any distribution of the cells over processes.
template <int dim>
class DealiiPreconditioner
{
public:
  using VectorType = dealii::LinearAlgebra::distributed::Vector<double>;

  /// `dof_handler`: FE_DGQ of the degree of `problem` on active cells that are those of the problem's box, each once, in any order.
  /// execution.nodes and execution.communicator are set here. Throws ArgumentError where the mesh is another one.
  DealiiPreconditioner(const dealii::DoFHandler<dim> &dof_handler, const Problem &problem,
      const SolverOptions &options = {}, Execution execution = {})
    : solver_(problem, options, checked(dof_handler, problem, execution))
    , ours_(solver_.size())
  {
    partition(dof_handler, problem);
  }

  /// z = M^-1 r
  void vmult(VectorType &z, const VectorType &r) const
  {
    gather(r);
    solver_.precondition(ours_, ours_);
    scatter(z);
  }
  /// y = A x
  void multiply(VectorType &y, const VectorType &x) const
  {
    gather(x);
    solver_.multiply(ours_, ours_);
    scatter(y);
  }
  Solver &solver() { return solver_; }

private:
  using Index = dealii::types::global_dof_index;

  static Execution checked(
      const dealii::DoFHandler<dim> &dof_handler, const Problem &problem, Execution execution)
  {
    if (problem.dim != dim)
      throw ArgumentError("problem.dim = " + std::to_string(problem.dim) +
          "; allowed: " + std::to_string(dim) + ", that of the DoFHandler");
    const auto &element = dof_handler.get_fe();
    if (dynamic_cast<const dealii::FE_DGQ<dim> *>(&element) == nullptr ||
        static_cast<int>(element.degree) != problem.degree)
      throw ArgumentError("the element is " + element.get_name() +
          "; allowed: FE_DGQ of degree problem.degree = " + std::to_string(problem.degree));
    execution.nodes = Nodes::gauss_lobatto;
    execution.communicator = communicator(dof_handler.get_communicator());
    return execution;
  }

  /// The number of a cell of the box by its centre.
  static std::int64_t cell_number(const dealii::Point<dim> &center, const Problem &problem)
  {
    std::int64_t number = 0;
    for (int d = dim - 1; d >= 0; --d)
    {
      // The last cell that begins below the centre.
      std::int64_t cell = 0, end = problem.cells(d);
      while (end - cell > 1)
        (problem.corner(d, (cell + end) / 2) <= center[d] ? cell : end) = (cell + end) / 2;
      const double begin = problem.corner(d, cell), size = problem.corner(d, cell + 1) - begin;
      if (!(std::abs((center[d] - begin) / size - 0.5) <= 1e-6))
        throw ArgumentError(
            "a cell of the triangulation is none of the box of the problem: its centre is at " +
            std::to_string(center[d]) + " in direction " + std::to_string(d));
      number = number * problem.cells(d) + cell;
    }
    return number;
  }

  void partition(const dealii::DoFHandler<dim> &dof_handler, const Problem &problem)
  {
    // Unknowns are exchanged by their number in the box; each process lists those that it has here and those it has there.
    const unsigned per_cell = dof_handler.get_fe().n_dofs_per_cell();
    std::vector<Index> have, want, dofs(per_cell);
    const Index first = dof_handler.n_locally_owned_dofs() > 0
        ? dof_handler.locally_owned_dofs().nth_index_in_set(0)
        : 0;
    have.resize(dof_handler.n_locally_owned_dofs());
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
      {
        const auto number = static_cast<Index>(cell_number(cell->center(), problem));
        cell->get_dof_indices(dofs);
        for (unsigned i = 0; i < per_cell; ++i)
          have.at(dofs[i] - first) = number * per_cell + i;
      }
    const LocalCells cells = solver_.cells();
    for (std::int64_t z = cells.begin[2]; z < cells.end[2]; ++z)
      for (std::int64_t y = cells.begin[1]; y < cells.end[1]; ++y)
        for (std::int64_t x = cells.begin[0]; x < cells.end[0]; ++x)
          for (unsigned i = 0; i < per_cell; ++i)
            want.push_back(
                static_cast<Index>((z * cells.box[1] + y) * cells.box[0] + x) * per_cell + i);
    const MPI_Comm mpi = dof_handler.get_communicator();
    const auto all = dealii::Utilities::MPI::sum(static_cast<std::uint64_t>(want.size()), mpi);
    if (all != dof_handler.n_dofs() ||
        dof_handler.n_dofs() !=
            per_cell *
                static_cast<Index>(
                    problem.cells(0) * problem.cells(1) * (dim == 3 ? problem.cells(2) : 1)))
      throw ArgumentError(
          "the triangulation has not the cells of the box of the problem, or there are more processes than the box "
          "can be divided among");
    to_ours_ = std::make_unique<dealii::Utilities::MPI::NoncontiguousPartitioner>(have, want, mpi);
    to_theirs_ =
        std::make_unique<dealii::Utilities::MPI::NoncontiguousPartitioner>(want, have, mpi);
  }

  void gather(const VectorType &from) const
  {
    to_ours_->export_to_ghosted_array(
        dealii::ArrayView<const double>(from.begin(), from.locally_owned_size()),
        dealii::ArrayView<double>(ours_.data(), ours_.size()));
  }
  void scatter(VectorType &to) const
  {
    to_theirs_->export_to_ghosted_array(dealii::ArrayView<const double>(ours_.data(), ours_.size()),
        dealii::ArrayView<double>(to.begin(), to.locally_owned_size()));
  }

  mutable Solver solver_;
  mutable std::vector<double> ours_;
  std::unique_ptr<dealii::Utilities::MPI::NoncontiguousPartitioner> to_ours_, to_theirs_;
};

/// The active cells of a triangulation, in the order of its iterators, as mesh.arrays of tensormg/mesh_solver.h: shaped as the mapping has them at the nodes of this
/// degree, with the triangulation's numbers of materials and boundaries. With problem.refinements = 0 and Nodes::gauss_lobatto a vector of one process has the
/// unknowns of each cell in the order of FE_DGQ. Throws ArgumentError where this process does not have all cells.
template <int dim>
MeshArrays mesh_arrays(const dealii::Triangulation<dim> &triangulation,
    const dealii::Mapping<dim> &mapping, int degree)
{
  if (triangulation.n_active_cells() != triangulation.n_global_active_cells())
    throw ArgumentError("the triangulation has " +
        std::to_string(triangulation.n_global_active_cells()) + " cells, and this process " +
        std::to_string(triangulation.n_active_cells()) + "; allowed: all on each process");
  MeshArrays mesh;
  mesh.degree = degree;
  mesh.points.resize(triangulation.n_vertices());
  const auto point_of = [](const dealii::Point<dim> &point) {
    std::array<double, 3> result{};
    for (int d = 0; d < dim; ++d)
      result[static_cast<std::size_t>(d)] = point[static_cast<unsigned>(d)];
    return result;
  };
  const dealii::QGaussLobatto<dim> nodes(static_cast<unsigned>(degree) + 1);
  for (const auto &cell : triangulation.active_cell_iterators())
  {
    for (const auto &node : nodes.get_points())
    {
      unsigned vertex = 0, ends = 0; // of directions at whose ends the node is
      for (unsigned d = 0; d < dim; ++d)
      {
        vertex += node[d] > 0.5 ? 1U << d : 0U;
        ends += std::abs(node[d] - 0.5) > 0.5 - 1e-12 ? 1 : 0;
      }
      const std::size_t number = ends == dim ? cell->vertex_index(vertex) : mesh.points.size();
      if (ends < dim)
        mesh.points.emplace_back();
      mesh.points[number] = point_of(mapping.transform_unit_to_real_cell(cell, node));
      mesh.cells.push_back(static_cast<std::int64_t>(number));
    }
    mesh.material.push_back(static_cast<int>(cell->material_id()));
    for (const unsigned f : cell->face_indices())
      if (cell->at_boundary(f))
      {
        auto &face = mesh.faces.emplace_back();
        for (const unsigned v : cell->face(f)->vertex_indices())
          face[v] = cell->face(f)->vertex_index(v);
        mesh.boundary.push_back(static_cast<int>(cell->face(f)->boundary_id()));
      }
  }
  return mesh;
}
} // namespace tensormg
