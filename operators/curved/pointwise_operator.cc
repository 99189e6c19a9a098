#include "operators/curved/pointwise_operator.h"

#include <utility>

#include "kernels/vector/cuda.h"
#include "operators/curved/device_pointwise_kernel.h"
#include "operators/curved/pointwise_kernel.h"

namespace tensormg
{
namespace
{
  template <typename Number, typename Context>
  std::unique_ptr<BlockKernel<Number>> make_kernel(
      const BlockLevels::Level &level, [[maybe_unused]] const Context &context)
  {
    if constexpr (Context::on_device)
      return std::make_unique<DevicePointwiseKernel<Number>>(level, context);
    else
      return std::make_unique<PointwiseKernel<Number>>(level);
  }
} // namespace

template <typename Number, typename Context>
PointwiseOperator<Number, Context>::PointwiseOperator(const BlockLevels &levels, std::size_t l,
    std::shared_ptr<const LevelRelaxation> relaxation, std::unique_ptr<BlockKernel<Number>> kernel,
    Context context)
  : level_(levels.levels()[l])
  , context_(std::move(context))
  , kernel_(kernel ? std::move(kernel) : make_kernel<Number>(level_, context_))
{
  if (relaxation == nullptr || relaxation->numbers == nullptr)
  {
    make_inverse_diagonal();
    return;
  }
  if constexpr (Context::on_device)
    relaxation_.emplace(levels, l, std::move(relaxation), context_.stream);
  else
    relaxation_.emplace(levels, l, std::move(relaxation));
  rest_ = make_vector();
  correction_ = make_vector();
}

template <typename Number, typename Context>
void PointwiseOperator<Number, Context>::make_inverse_diagonal()
{
  const Block &block = level_.grid.block;
  Array<C> inverse(block.size());
  for (std::int64_t at = 0; at < block.size(); ++at)
    if (const double entry = level_.diagonal[at]; entry > 0.) // padding stays zero
      inverse[at] = static_cast<C>(1. / entry);
  if constexpr (Context::on_device)
  {
    inverse_diagonal_ = DeviceArray<C>(block.size(), Unset());
    inverse_diagonal_.copy_from_host(inverse.data(), context_.stream);
    device::synchronize(context_.stream); // what lies on the host goes
  }
  else
    inverse_diagonal_ = std::move(inverse);
}

template <typename Number, typename Context>
void PointwiseOperator<Number, Context>::vmult(VectorType &y, const VectorType &x)
{
  kernel_->run({.src = x.data(), .dst = y.data()});
}

template <typename Number, typename Context>
void PointwiseOperator<Number, Context>::residual(
    VectorType &r, const VectorType &x, const VectorType &b)
{
  kernel_->run({.src = x.data(), .dst = r.data(), .b = b.data()});
}

template <typename Number, typename Context>
void PointwiseOperator<Number, Context>::chebyshev_step(VectorType &y, const VectorType &x,
    const VectorType *old, const VectorType &b, double theta, double alpha)
{
  if (!relaxation_)
    return kernel_->run({.src = x.data(),
        .dst = y.data(),
        .b = b.data(),
        .inverse_diagonal = inverse_diagonal_.data(),
        .old = old != nullptr ? old->data() : nullptr,
        .theta = static_cast<C>(theta),
        .alpha = static_cast<C>(alpha)});
  residual(rest_, x, b);
  relaxation_->apply(correction_, rest_, alpha);
  add_correction(y, x, old, theta);
}

template <typename Number, typename Context>
void PointwiseOperator<Number, Context>::add_correction(
    VectorType &y, const VectorType &x, const VectorType *old, double theta)
{
  if constexpr (Context::on_device)
    vector_kernels::cuda::add_to_step(y.size(), theta, x.data(),
        old != nullptr ? std::as_const(*old).data() : nullptr, std::as_const(correction_).data(),
        y.data(), context_.stream);
  else
    for (std::int64_t at = 0; at < y.size(); ++at)
    {
      const C value = static_cast<C>(x[at]),
              before = old != nullptr ? static_cast<C>((*old)[at]) : C(0);
      y[at] = Number(
          value + static_cast<C>(theta) * (value - before) + static_cast<C>(correction_[at]));
    }
}

template <typename Number, typename Context>
void PointwiseOperator<Number, Context>::inverse_diagonal(
    VectorType &x, const VectorType &b, double alpha) const
{
  if (relaxation_)
    return relaxation_->apply(x, b, alpha);
  if constexpr (Context::on_device)
    vector_kernels::cuda::multiply_by_diagonal(
        x.size(), alpha, inverse_diagonal_.data(), b.data(), x.data(), context_.stream);
  else
    for (std::int64_t at = 0; at < x.size(); ++at)
      x[at] = Number(static_cast<C>(alpha) * inverse_diagonal_[at] * static_cast<C>(b[at]));
}

template class PointwiseOperator<double>;
template class PointwiseOperator<float>;
template class PointwiseOperator<Half>;
template class PointwiseOperator<double, DeviceContext>;
template class PointwiseOperator<float, DeviceContext>;
template class PointwiseOperator<Half, DeviceContext>;
} // namespace tensormg
