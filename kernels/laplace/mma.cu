#include "kernels/laplace/mma.h"

namespace tensormg::laplace
{
Apply<Half> *mma_instance(Form form, Arithmetic arithmetic, int degree)
{
  switch (form)
  {
    case Form::apply:
      return mma_3d_instance<Form::apply, Arithmetic::fp16>(degree);
    case Form::residual:
      return arithmetic == Arithmetic::fp16x2
          ? mma_3d_instance<Form::residual, Arithmetic::fp16x2>(degree)
          : mma_3d_instance<Form::residual, Arithmetic::fp16>(degree);
    case Form::chebyshev:
      return mma_3d_instance<Form::chebyshev, Arithmetic::fp16>(degree);
  }
  return nullptr;
}

KernelResources mma_resources(Form form, Arithmetic arithmetic, int degree, std::int64_t cells_x)
{
  switch (form)
  {
    case Form::apply:
      return mma_3d_resources<Form::apply, Arithmetic::fp16>(degree, cells_x);
    case Form::residual:
      return arithmetic == Arithmetic::fp16x2
          ? mma_3d_resources<Form::residual, Arithmetic::fp16x2>(degree, cells_x)
          : mma_3d_resources<Form::residual, Arithmetic::fp16>(degree, cells_x);
    case Form::chebyshev:
      return mma_3d_resources<Form::chebyshev, Arithmetic::fp16>(degree, cells_x);
  }
  return {};
}
} // namespace tensormg::laplace
