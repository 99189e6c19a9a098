#include "kernels/patch/mma_registers.cuh"
#include "kernels/patch/mma_staged.cuh"

namespace tensormg::patch
{
template <>
DeviceKernel<double> correct_tensor(int dim, int n)
{
  return n <= 4 ? plane_kernel<mma::M8N8K4<double>, 1, double>(dim, n)
                : staged_kernel<mma::M16N8K4<double>, 1, double>(dim, n);
}
} // namespace tensormg::patch
