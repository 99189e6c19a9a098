#include "kernels/laplace/cuda_2d_instances.cuh"

namespace tensormg::laplace
{
template Apply<float> *cuda_2d_instance<float, Form::apply>(int);
template Apply<float> *cuda_2d_instance<float, Form::residual>(int);
template Apply<float> *cuda_2d_instance<float, Form::chebyshev>(int);
} // namespace tensormg::laplace
