#include <bit>
#include <type_traits>

#include <cuda_fp16.h>

#include "kernels/device/compiled_for.cuh"
#include "kernels/device/dependent.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/spmv/device_parts.cuh"
#include "kernels/diagnostics/spmv/sliced.h"
#include "kernels/mma/instructions.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::spmv
{
namespace
{
  constexpr int piece_threads = 128;

  /// How warps work on groups: `ahead` loads a quad before the products of the one before, `parts` warps share the quads
  /// of a group.
  template <bool ahead_, int parts_>
  struct Way
  {
    static constexpr bool ahead = ahead_;
    static constexpr int parts = parts_;
    /// Small blocks, so that new warps come soon after short rows.
    static constexpr int threads = parts == 1 ? 2 * warp : parts * warp;
    static constexpr int groups_per_block = threads / (parts * warp);
  };
  using ForShortRows = Way<false, 1>;
  using ForLongRows = Way<true, 1>;
  using ForFewGroups = Way<true, 4>; ///< fewer than there are warps at once, or not many more
  constexpr std::int32_t long_on_average = 16, few_groups = 12'000;
  constexpr int most_singles = quad_entries - 1;
  static_assert(warp == mma::warp_size && group_rows == warp && slices_per_group == quad_entries);

  /// A lane's entries of a quad, one of each slice.
  template <typename Number>
  __device__ Four<Number> load_quad(const Number *quad, int lane)
  {
    static_assert(place_in_quad<double>(3, 2) == 2 * group_rows + 2 * 3);
    if constexpr (sizeof(Number) == 8)
      return load_two_pairs(quad + 2 * lane, quad + 2 * group_rows + 2 * lane);
    else
      return load_four(quad + quad_entries * lane);
  }

  /// Of the diagonals of four products, in which lane 4 g + g / 2 has entry g: lane 4 g + t gets entry g of product t.
  template <typename Result>
  __device__ Result own_of_diagonals(const Result (&even)[4], const Result (&odd)[4], int lane)
  {
    const int row = lane / 4;
    Result own = 0;
#pragma unroll
    for (int slice = 0; slice < slices_per_group; ++slice)
    {
      const Result sum =
          __shfl_sync(all_lanes, row % 2 == 0 ? even[slice] : odd[slice], 4 * row + row / 2);
      own = lane % 4 == slice ? sum : own;
    }
    return own;
  }

  /// The sums of a group by tensor cores: lane 4 g + t gets that of row g of slice t.
  struct ByMma
  {
    using Number = double;
    using S = mma::M8N8K4<double>;
    mma::FragmentC<S> products[slices_per_group]{};

    __device__ void add(const Four<double> &value, const Four<double> &x)
    {
#pragma unroll
      for (int slice = 0; slice < slices_per_group; ++slice)
      {
        mma::FragmentA<S> a;
        mma::FragmentB<S> b;
        a.registers[0] = value.of[slice];
        b.registers[0] = x.of[slice];
        mma::mma_sync(products[slice], a, b);
      }
    }
    __device__ double sum(int lane) const
    {
      double even[slices_per_group], odd[slices_per_group];
#pragma unroll
      for (int slice = 0; slice < slices_per_group; ++slice)
      {
        even[slice] = products[slice].registers[0];
        odd[slice] = products[slice].registers[1];
      }
      return own_of_diagonals(even, odd, lane);
    }
  };
  static_assert(mma::entry_of<ByMma::S, mma::Operand::c>(4 * 5 + 5 / 2, 5 % 2) == mma::Entry{5, 5});

  /// The same by m16n8k4: A has two slices, B the x of one of them, and half of the sums are nobody's.
  struct ByLargeMma
  {
    using Number = double;
    using S = mma::M16N8K4<double>;
    mma::FragmentC<S> products[slices_per_group]{};

    __device__ void add(const Four<double> &value, const Four<double> &x)
    {
      if constexpr (!mma::is_available<S>)
        return compiled_for::stop();
      else
#pragma unroll
        for (int slice = 0; slice < slices_per_group; ++slice)
        {
          mma::FragmentA<S> a;
          mma::FragmentB<S> b;
          a.registers[0] = value.of[slice / 2 * 2];
          a.registers[1] = value.of[slice / 2 * 2 + 1];
          b.registers[0] = x.of[slice];
          mma::mma_sync(products[slice], a, b);
        }
    }
    __device__ double sum(int lane) const
    {
      double even[slices_per_group], odd[slices_per_group];
#pragma unroll
      for (int slice = 0; slice < slices_per_group; ++slice)
      {
        even[slice] = products[slice].registers[slice % 2 * 2];
        odd[slice] = products[slice].registers[slice % 2 * 2 + 1];
      }
      return own_of_diagonals(even, odd, lane);
    }
  };
  static_assert(
      mma::entry_of<ByLargeMma::S, mma::Operand::c>(4 * 5 + 5 / 2, 5 % 2) == mma::Entry{5, 5} &&
      mma::entry_of<ByLargeMma::S, mma::Operand::c>(4 * 5 + 5 / 2, 2 + 5 % 2) == mma::Entry{13, 5});
  static_assert(mma::entry_of<ByLargeMma::S, mma::Operand::a>(4 * 5 + 3, 0) == mma::Entry{5, 3} &&
      mma::entry_of<ByLargeMma::S, mma::Operand::a>(4 * 5 + 3, 1) == mma::Entry{13, 3} &&
      mma::entry_of<ByLargeMma::S, mma::Operand::b>(4 * 5 + 3, 0) == mma::Entry{3, 5});

  /// The same in FP16, two slices per product: of the two k of a lane the first belongs to the even slice, which has the
  /// upper eight rows, the second to the odd slice and the lower rows; elsewhere A is zero.
  struct ByMmaInHalf
  {
    using Number = Half;
    using S = mma::M16N8K8<Half>;
    mma::FragmentC<S> products[slices_per_group / 2]{};

    __device__ void add(const Four<Half> &value, const Four<Half> &x)
    {
      const auto of = std::bit_cast<Words>(value), factors = std::bit_cast<Words>(x);
#pragma unroll
      for (int pair = 0; pair < slices_per_group / 2; ++pair)
      {
        mma::FragmentA<S> a;
        mma::FragmentB<S> b;
        a.registers[0] = of.pair[pair] & 0x0000ffffu;
        a.registers[1] = of.pair[pair] & 0xffff0000u;
        b.registers[0] = factors.pair[pair];
        mma::mma_sync(products[pair], a, b);
      }
    }
    __device__ float sum(int lane) const
    {
      float even[slices_per_group], odd[slices_per_group];
#pragma unroll
      for (int slice = 0; slice < slices_per_group; ++slice)
      {
        even[slice] = products[slice / 2].registers[slice % 2 * 2];
        odd[slice] = products[slice / 2].registers[slice % 2 * 2 + 1];
      }
      return own_of_diagonals(even, odd, lane);
    }

  private:
    struct Words
    {
      std::uint32_t pair[slices_per_group / 2];
    };
  };
  static_assert(
      mma::entry_of<ByMmaInHalf::S, mma::Operand::c>(4 * 5 + 5 / 2, 5 % 2) == mma::Entry{5, 5} &&
      mma::entry_of<ByMmaInHalf::S, mma::Operand::c>(4 * 5 + 5 / 2, 2 + 5 % 2) ==
          mma::Entry{13, 5});
  static_assert(mma::entry_of<ByMmaInHalf::S, mma::Operand::a>(4 * 5 + 3, 1) == mma::Entry{5, 7} &&
      mma::entry_of<ByMmaInHalf::S, mma::Operand::a>(4 * 5 + 3, 3) == mma::Entry{13, 7} &&
      mma::entry_of<ByMmaInHalf::S, mma::Operand::b>(4 * 5 + 3, 1) == mma::Entry{7, 5});

  /// The same on CUDA cores.
  template <typename Number_>
  struct ByFma
  {
    using Number = Number_;
    Compute<Number> sums[slices_per_group]{};

    __device__ void add(const Four<Number> &value, const Four<Number> &x)
    {
#pragma unroll
      for (int slice = 0; slice < slices_per_group; ++slice)
        sums[slice] += widened(value.of[slice]) * widened(x.of[slice]);
    }
    /// Each exchange halves the slices that a lane still has.
    __device__ Compute<Number> sum(int lane) const
    {
      const bool upper = lane % 4 >= 2, odd = lane % 2 == 1;
      const auto exchanged = [](Compute<Number> kept, Compute<Number> given, int distance) {
        return kept + __shfl_xor_sync(all_lanes, given, distance);
      };
      const Compute<Number> first =
                                exchanged(upper ? sums[2] : sums[0], upper ? sums[0] : sums[2], 2),
                            second =
                                exchanged(upper ? sums[3] : sums[1], upper ? sums[1] : sums[3], 2);
      return exchanged(odd ? second : first, odd ? first : second, 1);
    }
  };

  /// Blocks per multiprocessor that registers are to leave room for.
  template <typename Sum, typename W>
  constexpr int resident()
  {
    constexpr bool is_double = sizeof(typename Sum::Number) > 4;
    constexpr int of_two_warps = W::ahead ? (is_double ? 16 : 24) : (is_double ? 20 : 28);
    constexpr int blocks = of_two_warps * 2 * warp / W::threads;
    return std::is_same_v<Sum, ByLargeMma> ? blocks * 3 / 4 : blocks; // twice as many sums
  }

  /// One warp per group, or several. It does not announce its end to the kernel that adds pieces: its blocks are so short that
  /// the announcement of each would take longer than they do.
  template <typename Sum, typename W>
  __global__ void __launch_bounds__(W::threads, resident<Sum, W>())
      group_kernel(Sliced<typename Sum::Number> matrix, const typename Sum::Number *__restrict__ x,
          Compute<typename Sum::Number> *__restrict__ y,
          Compute<typename Sum::Number> *__restrict__ pieces)
  {
    using Number = typename Sum::Number;
    using Result = Compute<Number>;
    const int lane = static_cast<int>(threadIdx.x) % warp,
              part = static_cast<int>(threadIdx.x) / warp % W::parts;
    const std::int32_t own = static_cast<std::int32_t>(blockIdx.x) * W::groups_per_block +
        static_cast<std::int32_t>(threadIdx.x) / (W::parts * warp);
    if (own >= matrix.groups)
      return; // the whole warp, or the whole block if it has one group
    const std::int32_t begin = matrix.block_begin[own],
                       blocks = matrix.block_begin[own + 1] - begin,
                       all_quads = blocks / slices_per_group,
                       quads = (all_quads + W::parts - 1 - part) / W::parts,
                       singles = part == W::parts - 1 ? blocks % slices_per_group : 0;
    const std::int32_t target = matrix.target[static_cast<std::int64_t>(own) * group_rows + lane];

    // The loads of short rows are under way together. Places are numbers of 32 bits to save registers, of which few leave
    // room for many warps.
    std::int32_t quad = begin * block_size + part * quad_size;
    Four<std::int32_t> columns;
    Four<Number> values, factors;
    const auto load = [&] {
      columns = load_quad(matrix.column + quad, lane);
      values = load_quad(matrix.value + quad, lane);
      quad += W::parts * quad_size;
    };
    const std::int32_t first_single = begin * block_size + all_quads * quad_size + lane;
    if (quads > 0)
      load();
    std::int32_t single_columns[most_singles];
    Number single_values[most_singles], single_factors[most_singles];
#pragma unroll
    for (int s = 0; s < most_singles; ++s)
      if (s < singles)
      {
        single_columns[s] = __ldcs(matrix.column + (first_single + s * block_size));
        single_values[s] = load_streaming(matrix.value + (first_single + s * block_size));
      }
#pragma unroll
    for (int s = 0; s < most_singles; ++s)
      if (s < singles)
        single_factors[s] = load_cached(x + single_columns[s]);
    Result sum = 0;
    if (quads > 0)
    {
      Sum sums;
#pragma unroll 1
      for (std::int32_t left = quads - 1;; --left)
      {
        factors = gather(x, columns);
        const Four<Number> of = values;
        if (W::ahead && left > 0)
          load();
        sums.add(of, factors);
        if (left == 0)
          break;
        if (!W::ahead)
          load();
      }
      sum = sums.sum(lane);
    }
#pragma unroll
    for (int s = 0; s < most_singles; ++s)
      if (s < singles)
        sum += widened(single_values[s]) * widened(single_factors[s]);
    if constexpr (W::parts > 1)
    {
      __shared__ Result of_parts[W::parts][warp];
      of_parts[part][lane] = sum;
      __syncthreads();
      if (part > 0)
        return;
#pragma unroll
      for (int other = 1; other < W::parts; ++other)
        sum += of_parts[other][lane];
    }
    if (own < matrix.chunks)
      sum = warp_sum(sum);
    if (target >= 0)
      (target < matrix.rows ? y[target] : pieces[target - matrix.rows]) = sum;
  }

  /// A block per long row: every thread adds some pieces, then all threads, in an order that is always the same.
  template <typename Number>
  __global__ void __launch_bounds__(piece_threads)
      piece_kernel(Sliced<Number> matrix, const Compute<Number> *pieces, Compute<Number> *y)
  {
    using Result = Compute<Number>;
    __shared__ Result warp_sums[piece_threads / warp];
    const int thread = static_cast<int>(threadIdx.x);
    const std::int32_t end = matrix.piece_begin[blockIdx.x + 1];
    Result sum = 0;
    dependent::wait_for_kernel_before();
#pragma unroll 4
    for (std::int32_t p = matrix.piece_begin[blockIdx.x] + thread; p < end; p += piece_threads)
      sum += pieces[p];
    sum = warp_sum(sum);
    if (thread % warp == 0)
      warp_sums[thread / warp] = sum;
    __syncthreads();
    if (thread > 0)
      return;
    for (int w = 1; w < piece_threads / warp; ++w)
      sum += warp_sums[w];
    y[matrix.long_row[blockIdx.x]] = sum;
  }

  template <typename Sum, typename W, typename Number>
  void launch_groups(const Sliced<Number> &matrix, const Number *x, Compute<Number> *y,
      Compute<Number> *pieces, Stream stream)
  {
    constexpr int per_block = W::groups_per_block;
    launch("launching the sparse product in slices", group_kernel<Sum, W>,
        dim3(static_cast<unsigned>((matrix.groups + per_block - 1) / per_block)), dim3(W::threads),
        0, stream, matrix, x, y, pieces);
  }

  template <typename Sum, typename Number>
  void run(const Sliced<Number> &matrix, const Number *x, Compute<Number> *y,
      Compute<Number> *pieces, Stream stream)
  {
    if (matrix.groups == 0)
      return;
    if (matrix.blocks / matrix.groups < long_on_average)
      launch_groups<Sum, ForShortRows>(matrix, x, y, pieces, stream);
    else if (matrix.groups < few_groups)
      launch_groups<Sum, ForFewGroups>(matrix, x, y, pieces, stream);
    else
      launch_groups<Sum, ForLongRows>(matrix, x, y, pieces, stream);
    if (matrix.long_rows > 0)
      dependent::launch("launching the sums of long rows", piece_kernel<Number>,
          dim3(static_cast<unsigned>(matrix.long_rows)), dim3(piece_threads), 0, stream, matrix,
          static_cast<const Compute<Number> *>(pieces), y);
  }
} // namespace

void cuda_sliced_mma(
    const Sliced<double> &matrix, const double *x, double *y, double *pieces, Stream stream)
{
  run<ByMma>(matrix, x, y, pieces, stream);
}

void cuda_sliced_mma_m16n8k4(
    const Sliced<double> &matrix, const double *x, double *y, double *pieces, Stream stream)
{
  tensor::require_compiled_for(
      ByLargeMma::S::min_capability, group_kernel<ByLargeMma, ForShortRows>);
  run<ByLargeMma>(matrix, x, y, pieces, stream);
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
