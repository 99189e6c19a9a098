#include <stdexcept>
#include <string>

#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::spmv
{
namespace
{
  constexpr unsigned all_lanes = 0xffffffffu;
  constexpr int threads = 256;

  constexpr int rows_per_group = 4;

  template <int lanes, typename Number>
  __global__ void __launch_bounds__(threads)
      vector_kernel(Csr<Number> matrix, const Number *__restrict__ x, Number *__restrict__ y)
  {
    constexpr int groups = threads / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (groups * rows_per_group) +
        static_cast<int>(threadIdx.x) / lanes;
    // Several rows at once: their loads are under way together.
    std::int32_t begin[rows_per_group], length[rows_per_group], longest = 0;
#pragma unroll
    for (int r = 0; r < rows_per_group; ++r)
    {
      const std::int64_t row = first + r * groups;
      begin[r] = row < matrix.rows ? matrix.row_begin[row] : 0;
      length[r] = row < matrix.rows ? matrix.row_begin[row + 1] - begin[r] : 0;
      longest = length[r] > longest ? length[r] : longest;
    }
    Number sums[rows_per_group]{};
    for (std::int32_t e = lane; e < longest; e += lanes)
    {
      Number values[rows_per_group];
      std::int32_t columns[rows_per_group];
#pragma unroll
      for (int r = 0; r < rows_per_group; ++r)
      {
        columns[r] = e < length[r] ? __ldcs(matrix.column + begin[r] + e) : 0;
        values[r] = e < length[r] ? __ldcs(matrix.value + begin[r] + e) : Number(0);
      }
#pragma unroll
      for (int r = 0; r < rows_per_group; ++r)
        if (e < length[r])
          sums[r] += values[r] * __ldg(x + columns[r]);
    }
#pragma unroll
    for (int r = 0; r < rows_per_group; ++r)
    {
#pragma unroll
      for (int distance = lanes / 2; distance > 0; distance /= 2)
        sums[r] += __shfl_xor_sync(all_lanes, sums[r], distance);
      if (lane == 0 && first + r * groups < matrix.rows)
        y[first + r * groups] = sums[r];
    }
  }

  template <int lanes, typename Number>
  void launch_vector(const Csr<Number> &matrix, const Number *x, Number *y, Stream stream)
  {
    const std::int64_t rows_per_block = threads / lanes * rows_per_group;
    const auto blocks = static_cast<unsigned>((matrix.rows + rows_per_block - 1) / rows_per_block);
    launch("launching the sparse product by rows", vector_kernel<lanes, Number>, dim3(blocks),
        dim3(threads), 0, stream, matrix, x, y);
  }
} // namespace

template <typename Number>
void cuda_vector(
    const Csr<Number> &matrix, std::int32_t, const Number *x, Number *y, int lanes, Stream stream)
{
  if (matrix.rows == 0)
    return;
  switch (lanes)
  {
    case 2:
      return launch_vector<2>(matrix, x, y, stream);
    case 4:
      return launch_vector<4>(matrix, x, y, stream);
    case 8:
      return launch_vector<8>(matrix, x, y, stream);
    case 16:
      return launch_vector<16>(matrix, x, y, stream);
    case 32:
      return launch_vector<32>(matrix, x, y, stream);
    default:
      throw std::invalid_argument(
          std::to_string(lanes) + " threads per row; there are 2, 4, 8, 16, 32");
  }
}

template void cuda_vector(const Csr<double> &, std::int32_t, const double *, double *, int, Stream);
template void cuda_vector(const Csr<float> &, std::int32_t, const float *, float *, int, Stream);
} // namespace tensormg::spmv
