#include "operators/multigrid/cells_and_lines.h"

#include <algorithm>

#include "kernels/laplace/cellwise/relaxation_cuda.h"

namespace tensormg
{
template <typename Number, typename Context>
CellsAndLines<Number, Context>::CellsAndLines(const LevelGrid &level, const CellBasis &basis,
    laplace::Backend backend, const std::array<bool, 3> &lines, const Context &context)
  : level_(level)
  , basis_(basis)
  , context_(context)
  , operator_(level, basis, backend, context)
  , lines_(lines)
  , bases_(basis)
{
  if (!Context::on_device || has_lines())
    z_ = make_vector();
  if constexpr (Context::on_device)
  {
    using C = Compute<Number>;
    vectors_ = DeviceArray<C>(std::ssize(bases_.vectors), Unset());
    quotients_ = DeviceArray<C>(std::ssize(bases_.quotients), Unset());
    vectors_.copy_from_host(bases_.vectors.data(), context.stream);
    quotients_.copy_from_host(bases_.quotients.data(), context.stream);
    std::int64_t size = 0;
    for (int d = 0; d < level.block.dim; ++d)
      if (lines[d])
        size = std::max(size, laplace::line_work_size(level.block, d));
    work_ = DeviceArray<C>(size, Unset());
  }
}

template <typename Number, typename Context>
void CellsAndLines<Number, Context>::inverse_diagonal(
    VectorType &z, const VectorType &r, double factor)
{
  step(z, nullptr, r, 0., factor);
}

template <typename Number, typename Context>
void CellsAndLines<Number, Context>::step(
    VectorType &old, const VectorType *x, const VectorType &r, double theta, double alpha)
{
  const double weight = alpha / parts();
  if constexpr (Context::on_device)
    return step_on_device(old, x, r, theta, weight);
  else
  {
    const auto &numbers = operator_.cell_numbers();
    VectorType &z = x != nullptr ? z_ : old;
    laplace::apply_cell_inverse(level_.block, basis_, numbers, bases_, weight, r.data(), z.data());
    for (int d = 0; d < level_.block.dim; ++d)
      if (lines_[d])
        laplace::add_line_inverse(
            level_.block, basis_, numbers, level_.sides, d, weight, r.data(), z.data());
    if (x == nullptr)
      return;
    if (theta == 0.)
      std::copy_n(x->data(), x->size(), old.data());
    laplace::take_step(x->size(), theta, x->data(), z.data(), old.data());
  }
}

template <typename Number, typename Context>
void CellsAndLines<Number, Context>::add_lines(const VectorType &r, double weight)
{
  if constexpr (Context::on_device)
  {
    laplace::LineRelaxation<Number> a;
    a.block = level_.block;
    a.basis = &basis_;
    a.cells = operator_.cell_numbers();
    a.sides = level_.sides;
    a.weight = weight;
    a.r = r.data();
    a.z = z_.data();
    a.work = work_.data();
    for (a.d = 0; a.d < level_.block.dim; ++a.d)
      if (lines_[a.d])
      {
        const typename Context::Operation operation(
            context_, (a.adds ? 3. : 2.) * r.bytes(), "inverses of lines");
        laplace::line_inverse_cuda(a, context_.stream);
        a.adds = true;
      }
  }
}

template <typename Number, typename Context>
void CellsAndLines<Number, Context>::step_on_device(
    VectorType &old, const VectorType *x, const VectorType &r, double theta, double weight)
{
  if constexpr (Context::on_device)
  {
    if (has_lines())
      add_lines(r, weight);
    const double vectors = 2. + int{has_lines()} + int{x != nullptr} + int{theta != 0.};
    const typename Context::Operation operation(context_, vectors * r.bytes(), "inverses of cells");
    laplace::CellRelaxation<Number> a;
    a.block = level_.block;
    a.basis = &basis_;
    a.cells = operator_.cell_numbers();
    a.vectors = vectors_.data();
    a.quotients = quotients_.data();
    a.weight = weight;
    a.theta = theta;
    a.r = r.data();
    a.lines = has_lines() ? z_.data() : nullptr;
    a.x = x != nullptr ? x->data() : nullptr;
    a.old = old.data();
    laplace::relax_cells_cuda(a, context_.stream);
  }
}

template <typename Number, typename Context>
std::int64_t CellsAndLines<Number, Context>::bytes(
    const LevelGrid &level, const std::array<bool, 3> &lines)
{
  std::int64_t work = 0;
  bool has_lines = false;
  for (int d = 0; d < level.block.dim; ++d)
    if (lines[d])
    {
      has_lines = true;
      if (Context::on_device)
        work = std::max(work, laplace::line_work_size(level.block, d));
    }
  return (!Context::on_device || has_lines ? level.block.size() * std::int64_t{sizeof(Number)}
                                           : 0) +
      work * std::int64_t{sizeof(Compute<Number>)};
}

template class CellsAndLines<double, HostContext>;
template class CellsAndLines<float, HostContext>;
template class CellsAndLines<Half, HostContext>;
template class CellsAndLines<double, DeviceContext>;
template class CellsAndLines<float, DeviceContext>;
template class CellsAndLines<Half, DeviceContext>;
} // namespace tensormg
