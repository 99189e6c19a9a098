#include "kernels/laplace/mma.h"

namespace tensormg::laplace
{
Apply<Half> *mma_instance(Form form, int degree)
{
  switch (form)
  {
    case Form::apply:
      return mma_3d_half_instance<Form::apply>(degree);
    case Form::residual:
      return mma_3d_half_instance<Form::residual>(degree);
    case Form::chebyshev:
      return mma_3d_half_instance<Form::chebyshev>(degree);
  }
  return nullptr;
}

KernelResources mma_resources(Form form, int degree, std::int64_t cells_x)
{
  switch (form)
  {
    case Form::apply:
      return mma_3d_half_resources<Form::apply>(degree, cells_x);
    case Form::residual:
      return mma_3d_half_resources<Form::residual>(degree, cells_x);
    case Form::chebyshev:
      return mma_3d_half_resources<Form::chebyshev>(degree, cells_x);
  }
  return {};
}
} // namespace tensormg::laplace
