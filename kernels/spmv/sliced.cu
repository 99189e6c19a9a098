#include <bit>
#include <type_traits>

#include <cuda_fp16.h>

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
  constexpr int piece_threads = 1024; ///< a dense row has many pieces
  constexpr int at_once = 8;          ///< blocks whose loads are under way together
  /// Targets of a warp's slices, lane after lane.
  constexpr int target_registers = most_slices_of_warp * slice_rows / warp;
  constexpr int slices_of_register = warp / slice_rows;
  static_assert(target_registers * warp == most_slices_of_warp * slice_rows);
  static_assert(most_slices_of_warp < warp); // one lane per begin, and one for the end

  template <typename Number>
  __device__ Compute<Number> widened(Number x)
  {
    if constexpr (std::is_same_v<Number, Half>)
      return __half2float(std::bit_cast<__half>(x));
    else
      return x;
  }

  /// Read once.
  template <typename Number>
  __device__ Number load_streaming(const Number *from)
  {
    if constexpr (std::is_same_v<Number, Half>)
      return std::bit_cast<Half>(__ldcs(reinterpret_cast<const unsigned short *>(from)));
    else
      return __ldcs(from);
  }

  template <typename Number>
  __device__ Number load_cached(const Number *from)
  {
    if constexpr (std::is_same_v<Number, Half>)
      return std::bit_cast<Half>(__ldg(reinterpret_cast<const unsigned short *>(from)));
    else
      return __ldg(from);
  }

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

  /// The same in FP16: of the eight k two per lane are there, of which the second is zero, as are the lower eight rows.
  struct ByMmaInHalf
  {
    using Number = Half;
    using S = mma::M16N8K8<Half>;
    mma::FragmentC<S> product{};

    __device__ void add(Half value, Half x)
    {
      mma::FragmentA<S> a;
      mma::FragmentB<S> b;
      a.registers[0] = value.bits;
      a.registers[1] = 0;
      b.registers[0] = x.bits;
      mma::mma_sync(product, a, b);
    }
    __device__ bool has_sum(int lane) const { return lane % 4 == lane / 4 / 2; }
    __device__ float sum(int lane) const
    {
      return lane / 4 % 2 == 0 ? product.registers[0] : product.registers[1];
    }
  };
  static_assert(
      mma::entry_of<ByMmaInHalf::S, mma::Operand::c>(4 * 5 + 5 / 2, 5 % 2) == mma::Entry{5, 5});
  static_assert(mma::entry_of<ByMmaInHalf::S, mma::Operand::a>(4 * 5 + 3, 0) == mma::Entry{5, 6} &&
      mma::entry_of<ByMmaInHalf::S, mma::Operand::b>(4 * 5 + 3, 0) == mma::Entry{6, 5});

  /// The same on CUDA cores.
  template <typename Number_>
  struct ByFma
  {
    using Number = Number_;
    Compute<Number> own = 0;

    __device__ void add(Number value, Number x) { own += widened(value) * widened(x); }
    __device__ bool has_sum(int lane) const { return lane % 4 == 0; }
    __device__ Compute<Number> sum(int)
    {
      own += __shfl_xor_sync(all_lanes, own, 1);
      own += __shfl_xor_sync(all_lanes, own, 2);
      return own;
    }
  };

  template <typename Sum>
  __global__ void __launch_bounds__(threads) slice_kernel(Sliced<typename Sum::Number> matrix,
      const typename Sum::Number *__restrict__ x, Compute<typename Sum::Number> *__restrict__ y,
      Compute<typename Sum::Number> *__restrict__ pieces)
  {
    using Number = typename Sum::Number;
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const std::int64_t own = (static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / warp;
    if (own >= matrix.warps)
      return; // the whole warp
    // All that is to be known of the slices at once, lane by lane: a load at the end of each would stop the march.
    const std::int64_t first_slice = matrix.warp_begin[own];
    const int slices = static_cast<int>(matrix.warp_begin[own + 1] - first_slice);
    const std::int32_t begin = matrix.block_begin[first_slice + (lane < slices ? lane : slices)];
    std::int32_t targets[target_registers];
#pragma unroll
    for (int i = 0; i < target_registers; ++i)
      targets[i] = i * warp + lane < slices * slice_rows
          ? matrix.target[first_slice * slice_rows + i * warp + lane]
          : -1;
    // The blocks of neighbouring slices follow each other: one march over all of them.
    const std::int64_t end = __shfl_sync(all_lanes, begin, slices);
    int slice = 0;
    std::int64_t slice_end = __shfl_sync(all_lanes, begin, 1);
    Sum sums{};
    const auto finish_slice = [&] {
      const Compute<Number> sum = sums.sum(lane);
      std::int32_t target = -1;
#pragma unroll
      for (int i = 0; i < target_registers; ++i)
        if (i == slice / slices_of_register)
          target = __shfl_sync(
              all_lanes, targets[i], slice % slices_of_register * slice_rows + lane / 4);
      if (sums.has_sum(lane) && target >= 0)
        (target < matrix.rows ? y[target] : pieces[target - matrix.rows]) = sum;
      sums = Sum{};
      ++slice;
      slice_end = slice < slices ? __shfl_sync(all_lanes, begin, slice + 1) : end + 1;
    };
    for (std::int64_t first = __shfl_sync(all_lanes, begin, 0); first < end; first += at_once)
    {
      Number values[at_once], factors[at_once];
      std::int32_t columns[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i)
      {
        // Beyond the end: the last block once more, which is not added.
        const std::int64_t block = first + i < end ? first + i : end - 1;
        columns[i] = __ldcs(matrix.column + block * block_size + lane);
        values[i] = load_streaming(matrix.value + block * block_size + lane);
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        factors[i] = load_cached(x + columns[i]);
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (first + i < end)
        {
          while (first + i >= slice_end)
            finish_slice();
          sums.add(values[i], factors[i]);
        }
    }
    while (slice < slices)
      finish_slice();
  }

  /// A block per long row: every thread adds some pieces, then all threads, in an order that is always the same.
  template <typename Number>
  __global__ void __launch_bounds__(piece_threads) piece_kernel(Sliced<Number> matrix,
      const Compute<Number> *__restrict__ pieces, Compute<Number> *__restrict__ y)
  {
    using Result = Compute<Number>;
    __shared__ Result warp_sums[piece_threads / warp];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int32_t end = matrix.piece_begin[blockIdx.x + 1];
    Result sum = 0;
#pragma unroll 4
    for (std::int32_t p = matrix.piece_begin[blockIdx.x] + thread; p < end; p += piece_threads)
      sum += pieces[p];
#pragma unroll
    for (int distance = warp / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(all_lanes, sum, distance);
    if (thread % warp == 0)
      warp_sums[thread / warp] = sum;
    __syncthreads();
    if (thread > 0)
      return;
    for (int w = 1; w < piece_threads / warp; ++w)
      sum += warp_sums[w];
    y[matrix.long_row[blockIdx.x]] = sum;
  }

  template <typename Sum, typename Number>
  void run(const Sliced<Number> &matrix, const Number *x, Compute<Number> *y,
      Compute<Number> *pieces, Stream stream)
  {
    if (matrix.slices == 0)
      return;
    constexpr int per_block = threads / warp;
    launch("launching the sparse product in slices", slice_kernel<Sum>,
        dim3(static_cast<unsigned>((matrix.warps + per_block - 1) / per_block)), dim3(threads), 0,
        stream, matrix, x, y, pieces);
    if (matrix.long_rows > 0)
      launch("launching the sums of long rows", piece_kernel<Number>,
          dim3(static_cast<unsigned>(matrix.long_rows)), dim3(piece_threads), 0, stream, matrix,
          static_cast<const Compute<Number> *>(pieces), y);
  }
} // namespace

void cuda_sliced_mma(
    const Sliced<double> &matrix, const double *x, double *y, double *pieces, Stream stream)
{
  run<ByMma>(matrix, x, y, pieces, stream);
}

void cuda_sliced_mma(
    const Sliced<Half> &matrix, const Half *x, float *y, float *pieces, Stream stream)
{
  run<ByMmaInHalf>(matrix, x, y, pieces, stream);
}

template <typename Number>
void cuda_sliced_fma(const Sliced<Number> &matrix, const Number *x, Compute<Number> *y,
    Compute<Number> *pieces, Stream stream)
{
  run<ByFma<Number>>(matrix, x, y, pieces, stream);
}

template void cuda_sliced_fma(const Sliced<double> &, const double *, double *, double *, Stream);
template void cuda_sliced_fma(const Sliced<float> &, const float *, float *, float *, Stream);
template void cuda_sliced_fma(const Sliced<Half> &, const Half *, float *, float *, Stream);
} // namespace tensormg::spmv
