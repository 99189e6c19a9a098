#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/fast_diagonalisation/fast_diagonalisation.h"

namespace tensormg::fast_diagonalisation
{
namespace
{
  constexpr int threads = 256;

  /// One line in x per block and step.
  __global__ void __launch_bounds__(threads)
      divide_kernel(std::int64_t nx, std::int64_t ny, std::int64_t lines, const double *lambda_x,
          const double *lambda_y, const double *lambda_z, double *u)
  {
    for (std::int64_t line = blockIdx.x; line < lines; line += gridDim.x)
    {
      const double of_line = lambda_z[line / ny] + lambda_y[line % ny];
      for (std::int64_t x = threadIdx.x; x < nx; x += threads)
      {
        const double lambda = of_line + lambda_x[x];
        double &value = u[line * nx + x];
        value = lambda == 0. ? 0. : value / lambda;
      }
    }
  }
} // namespace

void divide_cuda(const std::array<std::int64_t, 3> &lengths,
    const std::array<const double *, 3> &eigenvalues, double *u, Stream stream)
{
  const std::int64_t lines = lengths[1] * lengths[2];
  launch("launching the division by eigenvalues", &divide_kernel,
      static_cast<unsigned>(std::min<std::int64_t>(lines, 1 << 20)), threads, 0, stream, lengths[0],
      lengths[1], lines, eigenvalues[0], eigenvalues[1], eigenvalues[2], u);
}
} // namespace tensormg::fast_diagonalisation
