#include "kernels/laplace/strips_2d/instances.cuh"

namespace tensormg::laplace
{
template Apply<Half> *cuda_2d_instance<Half, Form::apply>(int);
template Apply<Half> *cuda_2d_instance<Half, Form::residual>(int);
template Apply<Half> *cuda_2d_instance<Half, Form::chebyshev>(int);
template KernelResources cuda_2d_resources<Half, Form::apply>(int);
template KernelResources cuda_2d_resources<Half, Form::residual>(int);
template KernelResources cuda_2d_resources<Half, Form::chebyshev>(int);
} // namespace tensormg::laplace
