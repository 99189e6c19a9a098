#include "kernels/laplace/strips_2d/instances.cuh"

namespace tensormg::laplace
{
template Apply<double> *cuda_2d_instance<double, Form::apply>(int);
template Apply<double> *cuda_2d_instance<double, Form::residual>(int);
template Apply<double> *cuda_2d_instance<double, Form::chebyshev>(int);
template KernelResources cuda_2d_resources<double, Form::apply>(int);
template KernelResources cuda_2d_resources<double, Form::residual>(int);
template KernelResources cuda_2d_resources<double, Form::chebyshev>(int);
} // namespace tensormg::laplace
