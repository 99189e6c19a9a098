#include "kernels/laplace/mma.h"

#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
Apply<Half> *mma_instance(Form form, Arithmetic arithmetic, int degree)
{
  if (arithmetic == Arithmetic::fp16x2)
    return mma_3d_instance<Form::residual, Arithmetic::fp16x2>(degree);
  return by_form<Half>(
      form, [&](auto f) { return mma_3d_instance<f.value, Arithmetic::fp16>(degree); });
}

KernelResources mma_resources(Form form, Arithmetic arithmetic, int degree, std::int64_t cells_x)
{
  if (arithmetic == Arithmetic::fp16x2)
    return mma_3d_resources<Form::residual, Arithmetic::fp16x2>(degree, cells_x);
  return by_form<Half>(
      form, [&](auto f) { return mma_3d_resources<f.value, Arithmetic::fp16>(degree, cells_x); });
}
} // namespace tensormg::laplace
