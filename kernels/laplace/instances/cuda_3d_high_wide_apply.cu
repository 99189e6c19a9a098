#include "kernels/laplace/cuda_instances.cuh"

namespace tensormg::laplace
{
template Apply<WideFloat> *cuda_3d_instance<WideFloat, Form::apply, Degrees::high>(int);
template KernelResources cuda_3d_resources<WideFloat, Form::apply, Degrees::high>(
    int, std::int64_t);
} // namespace tensormg::laplace
