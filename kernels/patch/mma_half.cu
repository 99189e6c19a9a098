#include "kernels/patch/mma_registers.cuh"
#include "kernels/patch/mma_staged.cuh"

namespace tensormg::patch
{
template <>
DeviceKernel<Half> correct_tensor(int dim, int n)
{
  return n <= 4 ? plane_kernel<mma::M16N8K8<Tf32>, 2, Half>(dim, n)
                : staged_kernel<mma::M16N8K8<Tf32>, 2, Half>(dim, n);
}
} // namespace tensormg::patch
