#include "kernels/laplace/mma_instances.cuh"

namespace tensormg::laplace
{
template Apply<Half> *mma_3d_half_instance<Form::apply>(int);
template KernelResources mma_3d_half_resources<Form::apply>(int, std::int64_t);
} // namespace tensormg::laplace
