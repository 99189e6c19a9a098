#include "kernels/laplace/strips_2d/instances.cuh"

namespace tensormg::laplace
{
template Apply<WideFloat> *cuda_2d_instance<WideFloat, Form::apply>(int);
template KernelResources cuda_2d_resources<WideFloat, Form::apply>(int);
} // namespace tensormg::laplace
