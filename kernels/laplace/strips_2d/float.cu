#include "kernels/laplace/strips_2d/instances.cuh"

namespace tensormg::laplace
{
template Apply<float> *cuda_2d_instance<float, Form::apply>(int);
template Apply<float> *cuda_2d_instance<float, Form::residual>(int);
template Apply<float> *cuda_2d_instance<float, Form::chebyshev>(int);
template KernelResources cuda_2d_resources<float, Form::apply>(int);
template KernelResources cuda_2d_resources<float, Form::residual>(int);
template KernelResources cuda_2d_resources<float, Form::chebyshev>(int);
} // namespace tensormg::laplace
