#include "kernels/laplace/cuda_instances.cuh"

namespace tensormg::laplace
{
template Apply<Half> *cuda_3d_instance<Half, Form::chebyshev, Degrees::low>(int);
template KernelResources cuda_3d_resources<Half, Form::chebyshev, Degrees::low>(int, std::int64_t);
} // namespace tensormg::laplace
