#include "kernels/laplace/cuda_instances.cuh"

namespace tensormg::laplace
{
template Apply<double> *cuda_3d_instance<double, Form::apply, Degrees::high>(int);
template KernelResources cuda_3d_resources<double, Form::apply, Degrees::high>(int, std::int64_t);
} // namespace tensormg::laplace
