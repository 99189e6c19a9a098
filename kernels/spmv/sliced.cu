#include "kernels/core/launch.cuh"
#include "kernels/mma/instructions.cuh"
#include "kernels/spmv/sliced.h"

namespace tensormg::spmv
{
namespace
{
  constexpr int warp = mma::warp_size;
  constexpr unsigned all_lanes = 0xffffffffu;
  constexpr int threads = 256;
  constexpr int slices_per_warp = 4; ///< short rows give a warp little to do

  /// The sums of a slice by tensor cores: lane 4 g + g / 2 has that of row g.
  struct ByMma
  {
    using Number = double;
    using S = mma::M8N8K4<double>;
    mma::FragmentC<S> product{};

    __device__ void add(double value, double x)
    {
      mma::FragmentA<S> a;
      mma::FragmentB<S> b;
      a.registers[0] = value;
      b.registers[0] = x;
      mma::mma_sync(product, a, b);
    }
    __device__ bool has_sum(int lane) const { return lane % 4 == lane / 4 / 2; }
    __device__ double sum(int lane) const
    {
      return lane / 4 % 2 == 0 ? product.registers[0] : product.registers[1];
    }
  };
  static_assert(mma::entry_of<ByMma::S, mma::Operand::c>(4 * 5 + 5 / 2, 5 % 2) == mma::Entry{5, 5});

  /// The same on CUDA cores.
  template <typename Number_>
  struct ByFma
  {
    using Number = Number_;
    Number own = 0;

    __device__ void add(Number value, Number x) { own += value * x; }
    __device__ bool has_sum(int lane) const { return lane % 4 == 0; }
    __device__ Number sum(int)
    {
      own += __shfl_xor_sync(all_lanes, own, 1);
      own += __shfl_xor_sync(all_lanes, own, 2);
      return own;
    }
  };

  template <typename Sum>
  __global__ void __launch_bounds__(threads)
      slice_kernel(Sliced<typename Sum::Number> matrix, const typename Sum::Number *__restrict__ x,
          typename Sum::Number *__restrict__ y, typename Sum::Number *__restrict__ pieces)
  {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const std::int64_t first =
        (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / warp * slices_per_warp;
    for (std::int64_t slice = first; slice < first + slices_per_warp && slice < matrix.slices;
         ++slice)
    {
      Sum sums{};
      const std::int64_t end = matrix.block_begin[slice + 1];
#pragma unroll 4
      for (std::int64_t block = matrix.block_begin[slice]; block < end; ++block)
      {
        const std::int64_t e = block * block_size + lane;
        sums.add(__ldcs(matrix.value + e), __ldg(x + __ldcs(matrix.column + e)));
      }
      const auto sum = sums.sum(lane);
      const std::int32_t target = matrix.target[slice * slice_rows + lane / 4];
      if (!sums.has_sum(lane) || target < 0)
        continue;
      if (target < matrix.rows)
        y[target] = sum;
      else
        pieces[target - matrix.rows] = sum;
    }
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads)
      piece_kernel(Sliced<Number> matrix, const Number *__restrict__ pieces, Number *__restrict__ y)
  {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (row >= matrix.long_rows)
      return;
    Number sum = 0;
    for (std::int32_t p = matrix.piece_begin[row]; p < matrix.piece_begin[row + 1]; ++p)
      sum += pieces[p];
    y[matrix.long_row[row]] = sum;
  }

  template <typename Sum, typename Number>
  void run(const Sliced<Number> &matrix, const Number *x, Number *y, Number *pieces, Stream stream)
  {
    if (matrix.slices == 0)
      return;
    constexpr int per_block = threads / warp * slices_per_warp;
    launch("launching the sparse product in slices", slice_kernel<Sum>,
        dim3(static_cast<unsigned>((matrix.slices + per_block - 1) / per_block)), dim3(threads), 0,
        stream, matrix, x, y, pieces);
    if (matrix.long_rows > 0)
      launch("launching the sums of long rows", piece_kernel<Number>,
          dim3(static_cast<unsigned>((matrix.long_rows + threads - 1) / threads)), dim3(threads), 0,
          stream, matrix, static_cast<const Number *>(pieces), y);
  }
} // namespace

void cuda_sliced_mma(
    const Sliced<double> &matrix, const double *x, double *y, double *pieces, Stream stream)
{
  run<ByMma>(matrix, x, y, pieces, stream);
}

template <typename Number>
void cuda_sliced_fma(
    const Sliced<Number> &matrix, const Number *x, Number *y, Number *pieces, Stream stream)
{
  run<ByFma<Number>>(matrix, x, y, pieces, stream);
}

template void cuda_sliced_fma(const Sliced<double> &, const double *, double *, double *, Stream);
template void cuda_sliced_fma(const Sliced<float> &, const float *, float *, float *, Stream);
} // namespace tensormg::spmv
