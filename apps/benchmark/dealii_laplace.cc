#include "apps/benchmark/dealii_laplace.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/mapping_q_cache.h>
#include <deal.II/fe/mapping_q_generic.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/matrix_free/fe_evaluation.h>
#include <deal.II/matrix_free/matrix_free.h>

namespace tensormg
{
/// What does not depend on the degree at compile time.
class DealiiLaplace::Implementation
{
public:
  using Vector = dealii::LinearAlgebra::distributed::Vector<double>;
  using Data = dealii::MatrixFree<3, double>;

  Implementation(int degree, std::int64_t cells, const std::function<Point(const Point &)> &map)
    : cells_(cells)
    , element_(static_cast<unsigned>(degree))
    , mapping_(static_cast<unsigned>(degree))
    , handler_(triangulation_)
  {
    dealii::GridGenerator::subdivided_hyper_cube(triangulation_, static_cast<unsigned>(cells));
    mapping_.initialize(
        dealii::MappingQGeneric<3>(static_cast<unsigned>(degree)), triangulation_,
        [&map](const auto & /*cell*/, const dealii::Point<3> &x) {
          const Point moved = map({x[0], x[1], x[2]});
          return dealii::Point<3>(moved[0], moved[1], moved[2]);
        },
        false);
    handler_.distribute_dofs(element_);
    Data::AdditionalData options;
    options.tasks_parallel_scheme = Data::AdditionalData::none;
    options.mapping_update_flags = dealii::update_gradients | dealii::update_JxW_values;
    options.mapping_update_flags_inner_faces =
        options.mapping_update_flags | dealii::update_normal_vectors;
    options.mapping_update_flags_boundary_faces = options.mapping_update_flags_inner_faces;
    dealii::AffineConstraints<double> none;
    none.close();
    data_.reinit(
        mapping_, handler_, none, dealii::QGauss<1>(static_cast<unsigned>(degree) + 1), options);
    data_.initialize_dof_vector(u_);
    data_.initialize_dof_vector(result_);
  }
  virtual ~Implementation() = default;
  virtual void apply() = 0;

  void set(const Lines &u) { fill(u, u_); }
  double product_with(const Lines &v) const
  {
    Vector values = u_;
    fill(v, values);
    return values * result_;
  }

protected:
  const Data &data() const { return data_; }
  Vector u_, result_;

private:
  void fill(const Lines &u, Vector &values) const
  {
    std::vector<dealii::types::global_dof_index> numbers(element_.n_dofs_per_cell());
    for (const auto &cell : handler_.active_cell_iterators())
    {
      cell->get_dof_indices(numbers);
      std::array<std::array<double, 2>, 3> ends{};
      for (int d = 0; d < 3; ++d)
        ends[d] = u(d, std::llround(cell->vertex(0)[d] * static_cast<double>(cells_)));
      for (unsigned i = 0; i < numbers.size(); ++i)
      {
        double product = 1.;
        for (int d = 0; d < 3; ++d)
        {
          const double xi = element_.get_unit_support_points()[i][d];
          product *= (1. - xi) * ends[d][0] + xi * ends[d][1];
        }
        values[numbers[i]] = product;
      }
    }
  }

  std::int64_t cells_;
  dealii::Triangulation<3> triangulation_;
  dealii::FE_DGQ<3> element_;
  dealii::MappingQCache<3> mapping_;
  dealii::DoFHandler<3> handler_;
  Data data_;
};

namespace
{
  template <int degree>
  class OfDegree : public DealiiLaplace::Implementation
  {
  public:
    using DealiiLaplace::Implementation::Implementation;

    void apply() override
    {
      data().loop(&OfDegree::cells, &OfDegree::faces, &OfDegree::boundary, this, result_, u_, true,
          Data::DataAccessOnFaces::gradients, Data::DataAccessOnFaces::gradients);
    }

  private:
    using Cells = dealii::FEEvaluation<3, degree, degree + 1, 1, double>;
    using Faces = dealii::FEFaceEvaluation<3, degree, degree + 1, 1, double>;
    using Range = std::pair<unsigned, unsigned>;
    static constexpr double penalty = degree * (degree + 1.);

    void cells(const Data &data, Vector &dst, const Vector &src, const Range &range) const
    {
      Cells cell(data);
      for (unsigned c = range.first; c < range.second; ++c)
      {
        cell.reinit(c);
        cell.gather_evaluate(src, dealii::EvaluationFlags::gradients);
        for (unsigned q = 0; q < cell.n_q_points; ++q)
          cell.submit_gradient(cell.get_gradient(q), q);
        cell.integrate_scatter(dealii::EvaluationFlags::gradients, dst);
      }
    }

    /// Of the cells of a batch: the reciprocal of their length across the face.
    static auto across(const Faces &face)
    {
      return std::abs((face.get_normal_vector(0) * face.inverse_jacobian(0))[2]);
    }

    void faces(const Data &data, Vector &dst, const Vector &src, const Range &range) const
    {
      const auto both = dealii::EvaluationFlags::values | dealii::EvaluationFlags::gradients;
      Faces inner(data, true), outer(data, false);
      for (unsigned f = range.first; f < range.second; ++f)
      {
        inner.reinit(f);
        inner.gather_evaluate(src, both);
        outer.reinit(f);
        outer.gather_evaluate(src, both);
        const auto sigma = 0.5 * penalty * (across(inner) + across(outer));
        for (unsigned q = 0; q < inner.n_q_points; ++q)
        {
          const auto jump = inner.get_value(q) - outer.get_value(q);
          const auto flux = 0.5 * (inner.get_normal_derivative(q) + outer.get_normal_derivative(q));
          const auto value = jump * sigma - flux;
          inner.submit_value(value, q);
          outer.submit_value(-value, q);
          inner.submit_normal_derivative(-0.5 * jump, q);
          outer.submit_normal_derivative(-0.5 * jump, q);
        }
        inner.integrate_scatter(both, dst);
        outer.integrate_scatter(both, dst);
      }
    }

    void boundary(const Data &data, Vector &dst, const Vector &src, const Range &range) const
    {
      const auto both = dealii::EvaluationFlags::values | dealii::EvaluationFlags::gradients;
      Faces face(data, true);
      for (unsigned f = range.first; f < range.second; ++f)
      {
        face.reinit(f);
        face.gather_evaluate(src, both);
        const auto sigma = penalty * across(face);
        for (unsigned q = 0; q < face.n_q_points; ++q)
        {
          const auto value = face.get_value(q);
          face.submit_value(2. * sigma * value - face.get_normal_derivative(q), q);
          face.submit_normal_derivative(-value, q);
        }
        face.integrate_scatter(both, dst);
      }
    }
  };

  using Make = std::unique_ptr<DealiiLaplace::Implementation> (*)(int degree, std::int64_t cells,
      const std::function<DealiiLaplace::Point(const DealiiLaplace::Point &)> &map);
  template <int degree>
  std::unique_ptr<DealiiLaplace::Implementation> make(int given, std::int64_t cells,
      const std::function<DealiiLaplace::Point(const DealiiLaplace::Point &)> &map)
  {
    return std::make_unique<OfDegree<degree>>(given, cells, map);
  }
} // namespace

DealiiLaplace::DealiiLaplace(
    int degree, std::int64_t cells, const std::function<Point(const Point &)> &map)
{
  constexpr std::array<Make, max_degree> by_degree{
      make<1>, make<2>, make<3>, make<4>, make<5>, make<6>, make<7>};
  if (degree < 1 || degree > max_degree)
    throw std::invalid_argument(
        "degree " + std::to_string(degree) + ": allowed are 1 to " + std::to_string(max_degree));
  implementation_ = by_degree[static_cast<std::size_t>(degree) - 1](degree, cells, map);
}
DealiiLaplace::~DealiiLaplace() = default;

void DealiiLaplace::set(const Lines &u) { implementation_->set(u); }
void DealiiLaplace::apply() { implementation_->apply(); }
double DealiiLaplace::product_with(const Lines &v) const
{
  return implementation_->product_with(v);
}
} // namespace tensormg
