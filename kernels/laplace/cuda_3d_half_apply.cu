#include "kernels/laplace/cuda_instances.cuh"

namespace tensormg::laplace
{
template Apply<Half> *cuda_3d_instance<Half, Form::apply>(int);
}
