#include "kernels/laplace/cuda_instances.cuh"

namespace tensormg::laplace
{
template Apply<float> *cuda_3d_instance<float, Form::residual, Degrees::low>(int);
template KernelResources cuda_3d_resources<float, Form::residual, Degrees::low>(int, std::int64_t);
} // namespace tensormg::laplace
