#include "kernels/laplace/strips_2d/strips_2d.h"

#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
template <typename Number>
KernelResources cuda_2d_resources(Form form, int degree)
{
  return by_form<Number>(form, [&](auto f) { return cuda_2d_resources<Number, f.value>(degree); });
}

template KernelResources cuda_2d_resources<double>(Form, int);
template KernelResources cuda_2d_resources<float>(Form, int);
template KernelResources cuda_2d_resources<Half>(Form, int);
template KernelResources cuda_2d_resources<WideFloat>(Form, int);
} // namespace tensormg::laplace
