// The product with a small dense matrix, of coarsest levels.
#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/vector/cuda.h"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  constexpr int threads = 128;

  /// A warp has a row.
  template <typename Number>
  __global__ void __launch_bounds__(threads) dense_kernel(std::int64_t count, const double *matrix,
      const std::int64_t *places, const Number *b, Number *x)
  {
    const std::int64_t row = (std::int64_t(blockIdx.x) * threads + threadIdx.x) / 32;
    const int lane = int(threadIdx.x) % 32;
    if (row >= count)
      return;
    double sum = 0.;
    for (std::int64_t j = lane; j < count; j += 32)
      sum = fma(matrix[row * count + j], double(load_pack<1>(b + places[j]).at[0]), sum);
    for (int step = 16; step > 0; step /= 2)
      sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0)
      store_pack(x + places[row], Pack<Compute<Number>, 1>(static_cast<Compute<Number>>(sum)));
  }
} // namespace

template <typename Number>
void dense_product(std::int64_t count, const double *matrix, const std::int64_t *places,
    const Number *b, Number *x, Stream stream)
{
  launch("launching the product with a dense matrix", dense_kernel<Number>,
      static_cast<unsigned>((32 * count + threads - 1) / threads), threads, 0, stream, count,
      matrix, places, b, x);
}

template void dense_product(
    std::int64_t, const double *, const std::int64_t *, const double *, double *, Stream);
template void dense_product(
    std::int64_t, const double *, const std::int64_t *, const float *, float *, Stream);
template void dense_product(
    std::int64_t, const double *, const std::int64_t *, const Half *, Half *, Stream);
} // namespace tensormg::vector_kernels::cuda
