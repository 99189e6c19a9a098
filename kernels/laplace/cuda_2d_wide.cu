#include "kernels/laplace/cuda_2d_instances.cuh"

namespace tensormg::laplace
{
template Apply<WideFloat> *cuda_2d_instance<WideFloat, Form::apply>(int);
} // namespace tensormg::laplace
