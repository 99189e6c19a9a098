#include "tests/support/sipg_oracle.h"

#include <cmath>
#include <limits>
#include <vector>

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_interface_values.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_cartesian.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include "kernels/basis/make_cell_basis.h"

namespace tensormg::test
{
namespace
{
  using Matrix = dealii::FullMatrix<double>;
  using dealii::types::global_dof_index;

  /// Contributions of one cell or face.
  struct LocalMatrix
  {
    Matrix stiffness;
    std::vector<global_dof_index> dofs;
  };

  template <int dim>
  class Assembler
  {
  public:
    Assembler(const Problem &problem, const CellBasis &basis, const CellFunctions &cells)
      : problem_(problem)
      , cells_(cells)
      , fe_(problem.degree)
      , dof_handler_(mesh_)
      , basis_(basis)
    {
      make_mesh();
      dof_handler_.distribute_dofs(fe_);
      stiffness_.reinit(dof_handler_.n_dofs(), dof_handler_.n_dofs());
      mass_.reinit(fe_.n_dofs_per_cell(), fe_.n_dofs_per_cell());
      assemble();
    }

    Matrix modal() const
    {
      const unsigned int per_cell = fe_.n_dofs_per_cell();
      const int n = problem_.degree + 1;
      // Nodal values = phi * modal coefficients.
      Matrix phi(per_cell, per_cell);
      std::vector<double> modes(n);
      for (unsigned int q = 0; q < per_cell; ++q)
        for (unsigned int i = 0; i < per_cell; ++i)
          phi(q, i) = 1.;
      for (unsigned int q = 0; q < per_cell; ++q)
        for (unsigned int d = 0, stride = 1; d < dim; ++d, stride *= n)
        {
          evaluate_modes(basis_, fe_.unit_support_point(q)[d], modes);
          for (unsigned int i = 0; i < per_cell; ++i)
            phi(q, i) *= modes[i / stride % n];
        }
      // phi^-1 M^-1 A phi = (M phi)^-1 (A phi), all cells have the same M but for their volume.
      Matrix left(per_cell, per_cell), block(per_cell, per_cell), a_phi(per_cell, per_cell);
      mass_.mmult(left, phi);
      left.gauss_jordan();

      double reference = std::numeric_limits<double>::max();
      for (int d = 0; d < dim; ++d)
        reference = std::min(reference, problem_.cell_size(d));
      double mean_volume = 1.;
      for (int d = 0; d < dim; ++d)
        mean_volume *= problem_.cell_size(d);
      const double scale =
          reference * reference / problem_.coefficient * (volume_of_mass_ / mean_volume);

      Matrix result(stiffness_.m(), stiffness_.n());
      for (const auto &row_cell : dof_handler_.active_cell_iterators())
        for (const auto &column_cell : dof_handler_.active_cell_iterators())
        {
          const auto rows = dofs_of(row_cell), columns = dofs_of(column_cell);
          block.extract_submatrix_from(stiffness_, rows, columns);
          if (block.linfty_norm() == 0.)
            continue;
          block.mmult(a_phi, phi);
          left.mmult(block, a_phi);
          block *= scale;
          const std::int64_t row = position(row_cell) * per_cell;
          const std::int64_t column = position(column_cell) * per_cell;
          for (unsigned int i = 0; i < per_cell; ++i)
            for (unsigned int j = 0; j < per_cell; ++j)
              result(row + i, column + j) = block(i, j);
        }
      return result;
    }

  private:
    void make_mesh()
    {
      std::vector<std::vector<double>> sizes(dim);
      dealii::Point<dim> lower, upper;
      for (int d = 0; d < dim; ++d)
      {
        for (std::int64_t c = 0; c < problem_.cells(d); ++c)
          sizes[d].push_back(problem_.corner(d, c + 1) - problem_.corner(d, c));
        lower[d] = problem_.lower[d];
        upper[d] = problem_.upper[d];
      }
      dealii::GridGenerator::subdivided_hyper_rectangle(mesh_, sizes, lower, upper, true);
    }

    template <typename Cell>
    std::vector<global_dof_index> dofs_of(const Cell &cell) const
    {
      std::vector<global_dof_index> dofs(fe_.n_dofs_per_cell());
      cell->get_dof_indices(dofs);
      return dofs;
    }

    template <typename Cell>
    std::int64_t position(const Cell &cell) const
    {
      std::int64_t at = 0;
      for (int d = dim - 1; d >= 0; --d)
      {
        std::int64_t c = 0;
        while (problem_.corner(d, c + 1) < cell->center()[d])
          ++c;
        at = at * problem_.cells(d) + c;
      }
      return at;
    }

    template <typename Cell>
    static std::array<double, 3> center(const Cell &cell)
    {
      std::array<double, 3> result{};
      for (int d = 0; d < dim; ++d)
        result[d] = cell->center()[d];
      return result;
    }

    /// Consistency, symmetry and penalty terms of the face that `fe` is set to; k: coefficients on its sides.
    LocalMatrix face_terms(const dealii::FEInterfaceValues<dim> &fe, double penalty,
        const std::array<double, 2> &k) const
    {
      std::vector<global_dof_index> dofs = fe.get_interface_dof_indices();
      const std::size_t size = dofs.size();
      LocalMatrix local{Matrix(size, size), std::move(dofs)};
      std::vector<double> jump(size), flux(size);
      const unsigned n_sides = fe.at_boundary() ? 1 : 2;
      for (const unsigned int q : fe.quadrature_point_indices())
      {
        for (unsigned int i = 0; i < size; ++i)
        {
          jump[i] = fe.jump_in_shape_values(i, q);
          flux[i] = 0.;
          const auto of_sides = fe.interface_dof_to_dof_indices(i);
          for (unsigned s = 0; s < n_sides; ++s)
            if (of_sides[s] != dealii::numbers::invalid_unsigned_int)
              flux[i] += k[s] / n_sides *
                  (fe.get_fe_face_values(s).shape_grad(of_sides[s], q) * fe.normal(q));
        }
        for (unsigned int i = 0; i < size; ++i)
          for (unsigned int j = 0; j < size; ++j)
            local.stiffness(i, j) +=
                fe.JxW(q) * (penalty * jump[i] * jump[j] - flux[i] * jump[j] - jump[i] * flux[j]);
      }
      return local;
    }

    void add(const LocalMatrix &local)
    {
      for (std::size_t i = 0; i < local.dofs.size(); ++i)
        for (std::size_t j = 0; j < local.dofs.size(); ++j)
          stiffness_(local.dofs[i], local.dofs[j]) += local.stiffness(i, j);
    }

    /// r u v on the face that `fe` is set to.
    static LocalMatrix robin_terms(const dealii::FEInterfaceValues<dim> &fe, double r)
    {
      std::vector<global_dof_index> dofs = fe.get_interface_dof_indices();
      LocalMatrix local{Matrix(dofs.size(), dofs.size()), std::move(dofs)};
      for (const unsigned int q : fe.quadrature_point_indices())
        for (unsigned int i = 0; i < local.dofs.size(); ++i)
          for (unsigned int j = 0; j < local.dofs.size(); ++j)
            local.stiffness(i, j) += r * fe.JxW(q) * fe.get_fe_face_values(0).shape_value(i, q) *
                fe.get_fe_face_values(0).shape_value(j, q);
      return local;
    }

    /// Stiffness and mass matrix of the cell that `fe` is set to.
    LocalMatrix cell_terms(const dealii::FEValues<dim> &fe, std::vector<global_dof_index> dofs,
        const std::array<double, 3> &at)
    {
      const double reaction = cells_.reaction(at);
      LocalMatrix local{Matrix(dofs.size(), dofs.size()), std::move(dofs)};
      mass_ = 0.;
      volume_of_mass_ = fe.get_cell()->measure();
      for (const unsigned int q : fe.quadrature_point_indices())
        for (const unsigned int i : fe.dof_indices())
          for (const unsigned int j : fe.dof_indices())
          {
            for (int d = 0; d < dim; ++d)
              local.stiffness(i, j) +=
                  cells_.k(d, at) * fe.shape_grad(i, q)[d] * fe.shape_grad(j, q)[d] * fe.JxW(q);
            local.stiffness(i, j) +=
                reaction * fe.shape_value(i, q) * fe.shape_value(j, q) * fe.JxW(q);
            mass_(i, j) += fe.shape_value(i, q) * fe.shape_value(j, q) * fe.JxW(q);
          }
      return local;
    }

    void assemble()
    {
      using namespace dealii;
      const double sigma = problem_.degree * (problem_.degree + 1.);
      const unsigned int none = numbers::invalid_unsigned_int;
      const UpdateFlags flags = update_values | update_gradients | update_JxW_values;
      FEValues<dim> values(mapping_, fe_, QGauss<dim>(problem_.degree + 1), flags);
      FEInterfaceValues<dim> face_values(
          mapping_, fe_, QGauss<dim - 1>(problem_.degree + 1), flags | update_normal_vectors);
      for (const auto &cell : dof_handler_.active_cell_iterators())
      {
        values.reinit(cell);
        add(cell_terms(values, dofs_of(cell), center(cell)));
        for (const unsigned int face : cell->face_indices())
        {
          const int d = static_cast<int>(face) / 2;
          const double k = cells_.k(d, center(cell));
          const auto penalty = [&](const auto &of) {
            return sigma * cells_.k(d, center(of)) / of->extent_in_direction(d);
          };
          if (cell->at_boundary(face))
          {
            const unsigned side = cell->face(face)->boundary_id();
            if (problem_.boundary[side] != BoundaryKind::dirichlet &&
                problem_.boundary[side] != BoundaryKind::robin)
              continue;
            face_values.reinit(cell, face);
            if (problem_.boundary[side] == BoundaryKind::robin)
              add(robin_terms(face_values, cells_.robin(static_cast<int>(side), center(cell))));
            else
              add(face_terms(face_values, 2. * penalty(cell), {k, 0.}));
          }
          else if (const auto other = cell->neighbor(face);
                   cell->active_cell_index() < other->active_cell_index())
          {
            face_values.reinit(cell, face, none, other, cell->neighbor_of_neighbor(face), none);
            const double other_k = cells_.k(d, center(other));
            add(face_terms(face_values, 0.5 * (penalty(cell) + penalty(other)), {k, other_k}));
          }
        }
      }

      std::vector<GridTools::PeriodicFacePair<typename DoFHandler<dim>::cell_iterator>> pairs;
      for (int d = 0; d < dim; ++d)
        if (problem_.boundary[2 * d] == BoundaryKind::periodic)
          GridTools::collect_periodic_faces(dof_handler_, 2 * d, 2 * d + 1, d, pairs);
      for (const auto &pair : pairs)
      {
        const unsigned int face = pair.face_idx[0];
        face_values.reinit(pair.cell[0], face, none, pair.cell[1], pair.face_idx[1], none);
        const int d = static_cast<int>(face) / 2;
        const double k = cells_.k(d, center(pair.cell[0])),
                     other_k = cells_.k(d, center(pair.cell[1]));
        const double penalty = sigma *
            (k / pair.cell[0]->extent_in_direction(d) +
                other_k / pair.cell[1]->extent_in_direction(d));
        add(face_terms(face_values, 0.5 * penalty, {k, other_k}));
      }
    }

    const Problem &problem_;
    const CellFunctions &cells_;
    dealii::Triangulation<dim> mesh_;
    dealii::FE_DGQ<dim> fe_;
    dealii::MappingCartesian<dim> mapping_;
    dealii::DoFHandler<dim> dof_handler_;
    const CellBasis &basis_;
    Matrix stiffness_; ///< A on the nodal basis, deal.II's numbering
    Matrix mass_;      ///< of one cell
    double volume_of_mass_ = 1.;
  };
} // namespace

dealii::FullMatrix<double> assemble_sipg(const Problem &problem, const CellBasis &basis)
{
  return assemble_sipg(problem, basis,
      {[&](int, const auto &) { return problem.coefficient; }, [](const auto &) { return 0.; }});
}

dealii::FullMatrix<double> assemble_sipg(
    const Problem &problem, const CellBasis &basis, const CellFunctions &cells)
{
  return problem.dim == 2 ? Assembler<2>(problem, basis, cells).modal()
                          : Assembler<3>(problem, basis, cells).modal();
}
} // namespace tensormg::test
