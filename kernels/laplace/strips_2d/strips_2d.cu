#include "kernels/laplace/strips_2d/strips_2d.h"

namespace tensormg::laplace
{
template <typename Number>
KernelResources cuda_2d_resources(Form form, int degree)
{
  switch (form)
  {
    case Form::apply:
      return cuda_2d_resources<Number, Form::apply>(degree);
    case Form::residual:
      if constexpr (has_every_form<Number>)
        return cuda_2d_resources<Number, Form::residual>(degree);
      break;
    case Form::chebyshev:
      if constexpr (has_every_form<Number>)
        return cuda_2d_resources<Number, Form::chebyshev>(degree);
      break;
  }
  return {};
}

template KernelResources cuda_2d_resources<double>(Form, int);
template KernelResources cuda_2d_resources<float>(Form, int);
template KernelResources cuda_2d_resources<Half>(Form, int);
template KernelResources cuda_2d_resources<WideFloat>(Form, int);
} // namespace tensormg::laplace
