#include "kernels/laplace/mma_instances.cuh"

namespace tensormg::laplace
{
static_assert(MmaAccurateTile8::n == mma_accurate_degree + 1);

Apply<Half> *mma_accurate_residual() { return &launch_mma<MmaAccurateTile8, Form::residual>; }
KernelResources mma_accurate_residual_resources()
{
  return resources_of_mma<MmaAccurateTile8, Form::residual>();
}
} // namespace tensormg::laplace
