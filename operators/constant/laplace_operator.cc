#include "operators/constant/laplace_operator.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/laplace/cellwise/cuda.h"
#include "kernels/vector/cuda.h"
#include "kernels/vector/vector.h"

namespace tensormg
{
namespace
{
  constexpr std::array<laplace::Form, 3> forms{
      laplace::Form::apply, laplace::Form::residual, laplace::Form::chebyshev};

  constexpr const char *name_of(laplace::Form form)
  {
    return form == laplace::Form::apply   ? "B u"
        : form == laplace::Form::residual ? "b - B u"
                                          : "Chebyshev step";
  }

  laplace::Backend for_memory(laplace::Backend backend, bool on_device)
  {
    if (laplace::is_device_backend(backend) != on_device)
      throw std::invalid_argument(std::string("backend ") + laplace::to_string(backend) +
          " does not work on vectors in " + (on_device ? "device" : "host") + " memory");
    return backend;
  }
} // namespace

template <typename Number, typename Context>
LaplaceOperator<Number, Context>::LaplaceOperator(const LevelGrid &level, const CellBasis &basis,
    laplace::Backend backend, Context context, const StepOptions &steps)
  : level_(level)
  , basis_(basis)
  , backend_(for_memory(backend, Context::on_device))
  , context_(std::move(context))
  , sides_(level, basis, context_, arguments_)
{
  for (const laplace::Form form : forms)
    if (laplace::has_every_form<Number> || form == laplace::Form::apply)
      kernels_[static_cast<std::size_t>(form)] =
          laplace::choose<Number>(backend, form, level.block.dim, level.block.degree(),
              form == laplace::Form::chebyshev ? steps.arithmetic : std::nullopt);
  if (level.cells != nullptr)
    take_cells();
  arguments_.block = level.block;
  arguments_.basis = &basis;
  arguments_.factor = level.direction_factors();
  arguments_.sides = level.sides;
  if constexpr (laplace::has_every_form<Number>)
    if (steps.exact != nullptr && level.has_exact_directions() && level.cells == nullptr)
    {
      lines_ = std::make_unique<LineInverse<Number, Context>>(level, basis, *steps.exact, context_);
      rest_ = make_vector();
    }
}

template <typename Number, typename Context>
void LaplaceOperator<Number, Context>::take_cells()
{
  if constexpr (Context::on_device)
    numbers_ = std::make_unique<CellNumbersHere>(level_, basis_, context_.stream);
  else
    numbers_ = std::make_unique<CellNumbersHere>(level_, basis_);
  const laplace::Backend backend = Context::on_device ? laplace::Backend::cuda : backend_;
  for (const laplace::Form form : forms)
    if (laplace::has_every_form<Number> || form == laplace::Form::apply)
      cellwise_kernels_[static_cast<std::size_t>(form)] =
          laplace::select_cellwise<Number>(backend, form, level_.block.dim, level_.block.degree());
}

template <typename Number, typename Context>
void LaplaceOperator<Number, Context>::update_cells()
{
  if (numbers_ != nullptr)
    numbers_->update(level_, basis_);
}

template <typename Number, typename Context>
void LaplaceOperator<Number, Context>::run(
    laplace::Form form, const laplace::Arguments<Number> &arguments)
{
  const laplace::Choice<Number> &kernel = kernels_[static_cast<std::size_t>(form)];
  const double vectors =
      2. + (arguments.b != nullptr ? 1. : 0.) + (arguments.old != nullptr ? 1. : 0.);
  const double of_cells =
      numbers_ == nullptr ? 0. : static_cast<double>(CellNumbersOf<Compute<Number>>::bytes(level_));
  const typename Context::Operation operation(context_,
      vectors * static_cast<double>(level_.block.dofs()) * sizeof(Number) + of_cells, name_of(form),
      laplace::to_string(kernel.backend));
  if (numbers_ == nullptr)
    return sides_.run(kernel.apply, arguments);
  const auto apply = cellwise_kernels_[static_cast<std::size_t>(form)];
  sides_.run([&](const laplace::Arguments<Number> &a) { apply({a, numbers_->view()}); }, arguments);
}

template <typename Number, typename Context>
void LaplaceOperator<Number, Context>::vmult(VectorType &dst, const VectorType &src)
{
  laplace::Arguments<Number> a = arguments_;
  a.src = src.data();
  a.dst = dst.data();
  run(laplace::Form::apply, a);
}

template <typename Number, typename Context>
void LaplaceOperator<Number, Context>::residual(VectorType &dst, const VectorType &src,
    const VectorType &b) requires laplace::has_every_form<Number>
{
  laplace::Arguments<Number> a = arguments_;
  a.src = src.data();
  a.dst = dst.data();
  a.b = b.data();
  run(laplace::Form::residual, a);
}

template <typename Number, typename Context>
void LaplaceOperator<Number, Context>::chebyshev_step(VectorType &dst, const VectorType &src,
    const VectorType *old, const VectorType &b, double theta,
    double alpha) requires laplace::has_every_form<Number>
{
  if (lines_ != nullptr)
  {
    residual(rest_, src, b);
    const typename Context::Operation operation(
        context_, (old != nullptr ? 4. : 3.) * dst.bytes(), "lines of a step");
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

template <typename Number, typename Context>
void LaplaceOperator<Number, Context>::inverse_diagonal(VectorType &dst, const VectorType &b,
    double alpha) const requires laplace::has_every_form<Number>
{
  const typename Context::Operation operation(context_, dst.bytes() + b.bytes(), "a D^-1 b");
  if (lines_ != nullptr)
    return lines_->step(dst.data(), nullptr, nullptr, b.data(), 0., alpha);
  if constexpr (Context::on_device)
  {
    if (numbers_ != nullptr)
      laplace::cellwise_inverse_diagonal_cuda(
          level_.block, basis_, numbers_->view(), alpha, b.data(), dst.data(), context_.stream);
    else
      vector_kernels::cuda::inverse_diagonal(
          level_.block, basis_, factors(), alpha, b.data(), dst.data(), context_.stream);
  }
  else if (numbers_ != nullptr)
    laplace::cellwise_inverse_diagonal(
        level_.block, basis_, numbers_->view(), alpha, b.data(), dst.data());
  else
    vector_kernels::inverse_diagonal(level_.block, basis_, factors(), alpha, b.data(), dst.data());
}

template <typename Number, typename Context>
template <typename From>
void LaplaceOperator<Number, Context>::convert_and_divide(double alpha, Scale scale,
    const Vector<From> &src, VectorType &b,
    VectorType &x) const requires laplace::has_every_form<Number>
{
  const typename Context::Operation operation(
      context_, src.bytes() + b.bytes() + x.bytes(), "conversion and a D^-1 b");
  if constexpr (Context::on_device)
    vector_kernels::cuda::convert_and_divide(level_.block, basis_, factors(), alpha, scale,
        src.data(), b.data(), x.data(), context_.stream);
  else
    vector_kernels::convert_and_divide(
        level_.block, basis_, factors(), alpha, scale, src.data(), b.data(), x.data());
}

template <typename Number, typename Context>
std::int64_t LaplaceOperator<Number, Context>::bytes(const LevelGrid &level)
{
  if (!level.has_exact_directions())
    return 0;
  const std::int64_t vector = level.block.size() * std::int64_t{sizeof(Number)};
  return vector + LineInverse<StepNumber<Number>, Context>::bytes(level);
}

template class LaplaceOperator<double, HostContext>;
template class LaplaceOperator<float, HostContext>;
template class LaplaceOperator<Half, HostContext>;
template class LaplaceOperator<WideFloat, HostContext>;
template class LaplaceOperator<double, DeviceContext>;
template class LaplaceOperator<float, DeviceContext>;
template class LaplaceOperator<Half, DeviceContext>;
template class LaplaceOperator<WideFloat, DeviceContext>;
template void LaplaceOperator<double, HostContext>::convert_and_divide(
    double, double, const Vector<double> &, Vector<double> &, Vector<double> &) const;
template void LaplaceOperator<double, HostContext>::convert_and_divide(
    double, double, const Vector<WideFloat> &, Vector<double> &, Vector<double> &) const;
template void LaplaceOperator<float, HostContext>::convert_and_divide(
    double, double, const Vector<double> &, Vector<float> &, Vector<float> &) const;
template void LaplaceOperator<float, HostContext>::convert_and_divide(
    double, double, const Vector<WideFloat> &, Vector<float> &, Vector<float> &) const;
template void LaplaceOperator<Half, HostContext>::convert_and_divide(
    double, double, const Vector<double> &, Vector<Half> &, Vector<Half> &) const;
template void LaplaceOperator<Half, HostContext>::convert_and_divide(
    double, double, const Vector<WideFloat> &, Vector<Half> &, Vector<Half> &) const;
template void LaplaceOperator<double, DeviceContext>::convert_and_divide(double,
    DeviceVectorSpace::Scale, const DeviceVector<double> &, DeviceVector<double> &,
    DeviceVector<double> &) const;
template void LaplaceOperator<double, DeviceContext>::convert_and_divide(double,
    DeviceVectorSpace::Scale, const DeviceVector<WideFloat> &, DeviceVector<double> &,
    DeviceVector<double> &) const;
template void LaplaceOperator<float, DeviceContext>::convert_and_divide(double,
    DeviceVectorSpace::Scale, const DeviceVector<double> &, DeviceVector<float> &,
    DeviceVector<float> &) const;
template void LaplaceOperator<float, DeviceContext>::convert_and_divide(double,
    DeviceVectorSpace::Scale, const DeviceVector<WideFloat> &, DeviceVector<float> &,
    DeviceVector<float> &) const;
template void LaplaceOperator<Half, DeviceContext>::convert_and_divide(double,
    DeviceVectorSpace::Scale, const DeviceVector<double> &, DeviceVector<Half> &,
    DeviceVector<Half> &) const;
template void LaplaceOperator<Half, DeviceContext>::convert_and_divide(double,
    DeviceVectorSpace::Scale, const DeviceVector<WideFloat> &, DeviceVector<Half> &,
    DeviceVector<Half> &) const;
} // namespace tensormg
