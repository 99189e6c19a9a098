#include "operators/constant/laplace_operator.h"

#include "kernels/vector/vector.h"

namespace tensormg
{
template <typename Number>
LaplaceOperator<Number>::LaplaceOperator(
    const LevelGrid &level, const CellBasis &basis, laplace::Backend backend, LineSpectra *exact)
  : level_(level)
  , basis_(basis)
  , backend_(backend)
  , exchange_(level, basis)
  , split_(split_rows(level.block, exchange_.remote()))
{
  for (const laplace::Form form :
      {laplace::Form::apply, laplace::Form::residual, laplace::Form::chebyshev})
    if (laplace::has_every_form<Number> || form == laplace::Form::apply)
      kernels_[static_cast<int>(form)] =
          laplace::select<Number>(backend, form, level.block.dim, level.block.degree());
  arguments_.block = level.block;
  arguments_.basis = &basis;
  arguments_.factor = level.direction_factors();
  arguments_.sides = level.sides;
  arguments_.ghost = exchange_.ghosts();
  if constexpr (laplace::has_every_form<Number>)
    if (exact != nullptr && level.has_exact_directions())
    {
      lines_ = std::make_unique<LineInverse<Number, HostLines>>(level, basis, *exact, HostLines());
      rest_ = make_vector();
    }
}

template <typename Number>
void LaplaceOperator<Number>::run(laplace::Form form, laplace::Arguments<Number> &arguments)
{
  const auto kernel = kernels_[static_cast<int>(form)];
  exchange_.start(arguments.src);
  if (!split_.interior.empty())
  {
    arguments.range = split_.interior;
    arguments.between_layers = exchange_.progress_callback();
    kernel(arguments);
  }
  exchange_.finish();
  arguments.between_layers = {};
  for (const laplace::RowRange &part : split_.boundary)
  {
    arguments.range = part;
    kernel(arguments);
  }
}

template <typename Number>
void LaplaceOperator<Number>::vmult(VectorType &dst, const VectorType &src)
{
  laplace::Arguments<Number> a = arguments_;
  a.src = src.data();
  a.dst = dst.data();
  run(laplace::Form::apply, a);
}

template <typename Number>
void LaplaceOperator<Number>::residual(VectorType &dst, const VectorType &src,
    const VectorType &b) requires laplace::has_every_form<Number>
{
  laplace::Arguments<Number> a = arguments_;
  a.src = src.data();
  a.dst = dst.data();
  a.b = b.data();
  run(laplace::Form::residual, a);
}

template <typename Number>
void LaplaceOperator<Number>::chebyshev_step(VectorType &dst, const VectorType &src,
    const VectorType *old, const VectorType &b, double theta,
    double alpha) requires laplace::has_every_form<Number>
{
  if (lines_ != nullptr)
  {
    residual(rest_, src, b);
    return lines_->step(
        dst.data(), src.data(), old ? old->data() : nullptr, rest_.data(), theta, alpha);
  }
  laplace::Arguments<Number> a = arguments_;
  a.src = src.data();
  a.dst = dst.data();
  a.b = b.data();
  a.old = old ? old->data() : nullptr;
  a.theta = theta;
  a.alpha = alpha;
  run(laplace::Form::chebyshev, a);
}

template <typename Number>
void LaplaceOperator<Number>::inverse_diagonal(VectorType &dst, const VectorType &b,
    double alpha) const requires laplace::has_every_form<Number>
{
  if (lines_ != nullptr)
    return lines_->step(dst.data(), nullptr, nullptr, b.data(), 0., alpha);
  const double factor[3] = {arguments_.factor[0], arguments_.factor[1], arguments_.factor[2]};
  vector_kernels::inverse_diagonal(level_.block, basis_, factor, alpha, b.data(), dst.data());
}

template class LaplaceOperator<double>;
template class LaplaceOperator<float>;
template class LaplaceOperator<Half>;
template class LaplaceOperator<WideFloat>;
} // namespace tensormg
