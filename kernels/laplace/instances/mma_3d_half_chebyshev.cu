#include "kernels/laplace/mma_instances.cuh"

namespace tensormg::laplace
{
template Apply<Half> *mma_3d_half_instance<Form::chebyshev>(int);
template KernelResources mma_3d_half_resources<Form::chebyshev>(int, std::int64_t);
} // namespace tensormg::laplace
