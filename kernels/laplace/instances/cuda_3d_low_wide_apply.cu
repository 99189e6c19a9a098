#include "kernels/laplace/cuda_instances.cuh"

namespace tensormg::laplace
{
template Apply<WideFloat> *cuda_3d_instance<WideFloat, Form::apply, Degrees::low>(int);
template KernelResources cuda_3d_resources<WideFloat, Form::apply, Degrees::low>(int, std::int64_t);
} // namespace tensormg::laplace
