#include "operators/multigrid/vertex_cycle.h"

#include <algorithm>

#include "operators/constant/start_vector.h"
#include "operators/multigrid/eigenvalue_estimate.h"
#include "operators/multigrid/smoothing_choices.h"

namespace tensormg
{
template <typename Number>
CellsAndLines<Number>::CellsAndLines(const LevelGrid &level, const CellBasis &basis,
    laplace::Backend backend, const std::array<bool, 3> &lines)
  : level_(level)
  , basis_(basis)
  , operator_(level, basis, backend)
  , bases_(basis)
  , lines_(lines)
{}

template <typename Number>
void CellsAndLines<Number>::inverse_diagonal(
    VectorType &z, const VectorType &r, double factor) const
{
  int parts = 1;
  for (const bool has_lines : lines_)
    parts += has_lines ? 1 : 0;
  const double weight = factor / parts;
  const auto &numbers = operator_.cell_numbers();
  laplace::apply_cell_inverse(level_.block, basis_, numbers, bases_, weight, r.data(), z.data());
  for (int d = 0; d < level_.block.dim; ++d)
    if (lines_[d])
      laplace::add_line_inverse(
          level_.block, basis_, numbers, level_.sides, d, weight, r.data(), z.data());
}

template <typename Number>
VertexCycle<Number>::VertexCycle(const LevelGrid &level, const CellBasis &basis,
    laplace::Backend backend, const Problem &problem, const MultigridOptions &options,
    const CoarseningChoice &choice)
  : level_(level)
  , basis_(basis)
  , backend_(backend)
  , options_(options)
  , lines_(choice.lines)
  , algebraic_(choice.algebraic)
  , is_singular_(problem.is_singular())
  , space_(level.block, level.communicator)
  , relaxation_(level, basis, backend, lines_)
  , vertices_(level, basis, problem)
  , r_(level.block)
  , z_(level.block)
  , old_(level.block)
{
  make_vertices();
  choose_steps();
}

template <typename Number>
void VertexCycle<Number>::make_vertices()
{
  const CellNumbersOf<double> numbers(level_, basis_);
  multigrid_.reset();
  amg_.reset();
  if (algebraic_)
  {
    vertices_.split(numbers);
    amg_.emplace(vertices_.matrix(numbers), is_singular_);
  }
  else
    multigrid_.emplace(vertices_.matrix(numbers), is_singular_);
}

template <typename Number>
void VertexCycle<Number>::choose_steps()
{
  if (needs_lambda_max(options_))
  {
    CellsAndLines<double> in_double(level_, basis_, backend_, lines_);
    lambda_max_ = options_.eigenvalue_safety *
        lanczos_lambda_max(in_double, space_, pseudo_random_vector(level_, HostContext()),
            options_.eigenvalue_steps);
  }
  steps_ = smoothing_steps(options_, lambda_max_);
}

template <typename Number>
void VertexCycle<Number>::update()
{
  relaxation_.update_cells();
  make_vertices();
  choose_steps();
}

template <typename Number>
std::int64_t VertexCycle<Number>::bytes(const LevelGrid &level, bool algebraic)
{
  double vertices = 1.;
  for (int d = 0; d < level.block.dim; ++d)
    vertices *= static_cast<double>(level.global_cells[d] + 3);
  return 3 * level.block.size() * std::int64_t{sizeof(Number)} +
      static_cast<std::int64_t>(vertices *
          (algebraic ? VertexAmg::bytes_per_vertex()
                     : 8. / 7. * VertexMultigrid::bytes_per_vertex()));
}

template <typename Number>
void VertexCycle<Number>::smooth(Vector<Number> &x, const Vector<Number> &b, bool zero_start)
{
  for (std::size_t k = 0; k < steps_.size(); ++k)
  {
    const auto [theta, alpha] = steps_[k];
    if (zero_start && k == 0)
    {
      relaxation_.inverse_diagonal(x, b, alpha);
      std::fill_n(old_.data(), old_.size(), Number{});
      continue;
    }
    relaxation_.residual(r_, x, b);
    relaxation_.inverse_diagonal(z_, r_, alpha);
    if (theta == 0.)
      std::copy_n(x.data(), x.size(), old_.data());
    laplace::take_step(x.size(), theta, x.data(), z_.data(), old_.data());
    x.swap(old_);
  }
}

template <typename Number>
void VertexCycle<Number>::solve(Vector<Number> &x, const Vector<Number> &b)
{
  smooth(x, b, true);
  relaxation_.residual(r_, x, b);
  vertices_.restrict_to(vertex_b_, r_);
  if (amg_)
    amg_->solve(vertex_x_, vertex_b_);
  else
    multigrid_->cycle(vertex_x_, vertex_b_);
  vertices_.add_prolonged(x, vertex_x_);
  smooth(x, b, false);
}

template class CellsAndLines<double>;
template class CellsAndLines<float>;
template class CellsAndLines<Half>;
template class VertexCycle<double>;
template class VertexCycle<float>;
template class VertexCycle<Half>;
} // namespace tensormg
