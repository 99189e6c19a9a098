#include "kernels/laplace/cuda_instances.cuh"

namespace tensormg::laplace
{
template Apply<float> *cuda_3d_instance<float, Form::residual>(int);
}
