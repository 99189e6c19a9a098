// Between vectors of different numbers in device memory, and the diagonal of the operator.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/core/divisor.h"
#include "kernels/device/pack.cuh"
#include "kernels/vector/cuda_reduction.cuh"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  constexpr int threads = 256;

  /// Words of a vector that a thread has in flight; eight halves are eight registers.
  template <typename Number>
  constexpr int batch = sizeof(Number) == 2 ? 2 : 4;
  constexpr int units_per_thread = 4;

  int blocks_of(std::int64_t units, int per_thread)
  {
    const int per_block = threads * per_thread;
    return static_cast<int>((units + per_block - 1) / per_block);
  }

  /// The largest power of two that is at most 1 / m, or its inverse; 1 if m is zero or not finite.
  __device__ double power_of_two(double m, bool inverted)
  {
    if (!(m > 0. && m <= std::numeric_limits<double>::max()))
      return 1.;
    const int exponent = ilogb(m);
    const int down = m == ldexp(1., exponent) ? exponent : exponent + 1;
    return ldexp(1., inverted ? down : -down);
  }

  /// Numbers per access: those that fill 16 bytes of the wider type, so that the accesses of a warp are contiguous.
  template <typename To, typename From>
  constexpr int unit = 16 / static_cast<int>(std::max(sizeof(To), sizeof(From)));

  /// What is left of a value that is stored.
  template <typename Number>
  __device__ inline Compute<Number> rounded(Compute<Number> value)
  {
    if constexpr (std::is_same_v<Number, Half>)
      return __half2float(__float2half_rn(value));
    else
      return value;
  }

  __device__ inline double value_of(const Scale &scale)
  {
    return scale.largest == nullptr ? scale.factor
                                    : scale.factor * power_of_two(*scale.largest, scale.inverted);
  }

  template <typename To, int width, typename C>
  __device__ inline Pack<Compute<To>, width> scaled(double factor, const Pack<C, width> &pack)
  {
    Pack<Compute<To>, width> result;
#pragma unroll
    for (int w = 0; w < width; ++w)
      result.at[w] = static_cast<Compute<To>>(factor * pack.at[w]);
    return result;
  }

  template <typename To, typename From>
  __global__ void __launch_bounds__(threads)
      convert_kernel(std::int64_t units, const Scale scale, const From *src, To *dst)
  {
    constexpr int width = unit<To, From>;
    const std::int64_t first =
        std::int64_t(blockIdx.x) * (threads * units_per_thread) + threadIdx.x;
    Pack<Compute<From>, width> loaded[units_per_thread];
#pragma unroll
    for (int w = 0; w < units_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < units)
        loaded[w] = load_pack<width>(src + width * at);
    const double factor = value_of(scale);
#pragma unroll
    for (int w = 0; w < units_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < units)
        store_pack(dst + width * at, scaled<To>(factor, loaded[w]));
  }

  /// A result in FP32 is added in FP32: with a power of two as factor it is rounded once, here as in the end.
  template <typename To, typename From>
  __global__ void __launch_bounds__(threads) convert_sum_kernel(
      std::int64_t units, const Scale scale, const From *x, const From *d, To *dst)
  {
    constexpr int width = unit<To, From>;
    using C = std::conditional_t<sizeof(From) <= 4 && sizeof(To) == 4, float, double>;
    const std::int64_t first =
        std::int64_t(blockIdx.x) * (threads * units_per_thread) + threadIdx.x;
    Pack<Compute<From>, width> of_x[units_per_thread], of_d[units_per_thread];
#pragma unroll
    for (int w = 0; w < units_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < units)
      {
        of_x[w] = load_pack<width>(x + width * at);
        of_d[w] = load_pack<width>(d + width * at);
      }
    const double factor = value_of(scale);
#pragma unroll
    for (int w = 0; w < units_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < units)
      {
        Pack<C, width> sum;
#pragma unroll
        for (int i = 0; i < width; ++i)
          sum.at[i] = C(of_x[w].at[i]) + C(of_d[w].at[i]);
        store_pack(dst + width * at, scaled<To>(factor, sum));
      }
  }

  /// The same vector twice: what a number of `To` holds of it, and what that leaves.
  template <typename To, typename From>
  __global__ void __launch_bounds__(threads)
      convert_to_pair_kernel(std::int64_t units, const From *src, To *x, To *d)
  {
    using C = Compute<To>;
    constexpr int width = unit<To, From>;
    const std::int64_t at = std::int64_t(blockIdx.x) * threads + threadIdx.x;
    if (at >= units)
      return;
    const Pack<Compute<From>, width> value = load_pack<width>(src + width * at);
    Pack<C, width> of_x, of_d;
#pragma unroll
    for (int i = 0; i < width; ++i)
    {
      of_x.at[i] = rounded<To>(C(value.at[i]));
      of_d.at[i] = C(value.at[i]) - of_x.at[i];
    }
    store_pack(x + width * at, of_x);
    store_pack(d + width * at, of_d);
  }

  /// The diagonal of D by modes, and how the mode of a unit of `width` neighbouring cells is found.
  template <typename C>
  struct Diagonal
  {
    C x[max_n], y[max_n], z[max_n];
    Divisor row, line; ///< in units
    Divisor rows_per_plane, n, nz;
  };

  template <typename C>
  __device__ inline C diagonal_at(const Diagonal<C> &diagonal, unsigned at)
  {
    const unsigned r = diagonal.row.quotient(at), plane = diagonal.rows_per_plane.quotient(r);
    const unsigned i = diagonal.line.quotient(diagonal.row.remainder(at, r)),
                   j = diagonal.n.remainder(diagonal.rows_per_plane.remainder(r, plane)),
                   k = diagonal.nz.remainder(plane);
    return diagonal.x[i] + diagonal.y[j] + diagonal.z[k];
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads)
      inverse_diagonal_kernel(const __grid_constant__ Diagonal<Compute<Number>> diagonal,
          unsigned words, Compute<Number> alpha, const Number *b, Number *x)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    const unsigned first = blockIdx.x * (threads * unsigned(batch<Number>)) + threadIdx.x;
    Pack<C, width> loaded[batch<Number>];
#pragma unroll
    for (int w = 0; w < batch<Number>; ++w)
      if (const unsigned at = first + w * threads; at < words)
        loaded[w] = load_pack<width>(b + std::int64_t(at) * width);
#pragma unroll
    for (int w = 0; w < batch<Number>; ++w)
      if (const unsigned at = first + w * threads; at < words)
      {
        const C weight = alpha / diagonal_at(diagonal, at);
        store_pack(x + std::int64_t(at) * width, weight * loaded[w]);
      }
  }

  template <typename Number, typename From>
  __global__ void __launch_bounds__(threads) convert_and_divide_kernel(
      const __grid_constant__ Diagonal<Compute<Number>> diagonal, unsigned units,
      Compute<Number> alpha, const Scale scale, const From *src, Number *b, Number *x)
  {
    using C = Compute<Number>;
    constexpr int width = unit<Number, From>;
    const unsigned first = blockIdx.x * (threads * unsigned(units_per_thread)) + threadIdx.x;
    Pack<Compute<From>, width> loaded[units_per_thread];
#pragma unroll
    for (int w = 0; w < units_per_thread; ++w)
      if (const unsigned at = first + w * threads; at < units)
        loaded[w] = load_pack<width>(src + std::int64_t(at) * width);
    const double factor = value_of(scale);
#pragma unroll
    for (int w = 0; w < units_per_thread; ++w)
      if (const unsigned at = first + w * threads; at < units)
      {
        const C weight = alpha / diagonal_at(diagonal, at);
        Pack<C, width> of_b, of_x;
#pragma unroll
        for (int i = 0; i < width; ++i)
        {
          // As if b had been read again.
          of_b.at[i] = rounded<Number>(static_cast<C>(factor * loaded[w].at[i]));
          of_x.at[i] = weight * of_b.at[i];
        }
        store_pack(b + std::int64_t(at) * width, of_b);
        store_pack(x + std::int64_t(at) * width, of_x);
      }
  }

  template <typename C>
  Diagonal<C> make_diagonal(
      const Block &block, const CellBasis &basis, const std::array<double, 3> &factor, int width)
  {
    Diagonal<C> diagonal{};
    for (int m = 0; m < block.n; ++m)
    {
      diagonal.x[m] = static_cast<C>(factor[0] * basis.lambda[m]);
      diagonal.y[m] = static_cast<C>(factor[1] * basis.lambda[m]);
      diagonal.z[m] = static_cast<C>(block.dim == 3 ? factor[2] * basis.lambda[m] : 0.);
    }
    diagonal.row = Divisor(static_cast<std::uint32_t>(block.row() / width));
    diagonal.line = Divisor(static_cast<std::uint32_t>(block.pitch / width));
    diagonal.rows_per_plane = Divisor(static_cast<std::uint32_t>(block.rows_per_plane()));
    diagonal.n = Divisor(static_cast<std::uint32_t>(block.n));
    diagonal.nz = Divisor(static_cast<std::uint32_t>(block.nz()));
    return diagonal;
  }

  /// Positions are 32-bit numbers: a division of 64 bits takes longer than reading and writing 16 bytes.
  unsigned countable_units(const Block &block, int width)
  {
    const std::int64_t units = block.size() / width;
    if (units > Divisor::largest_dividend)
      throw std::length_error("the inverse diagonal takes vectors of at most " +
          std::to_string(Divisor::largest_dividend) + " units of " + std::to_string(width) +
          " numbers");
    return static_cast<unsigned>(units);
  }
} // namespace

template <typename To, typename From>
void convert(std::int64_t size, const Scale &scale, const From *src, To *dst, Stream stream)
{
  const std::int64_t units = size / unit<To, From>;
  launch("launching a conversion", &convert_kernel<Stored<To>, Stored<From>>,
      blocks_of(units, units_per_thread), threads, 0, stream, units, scale, stored(src),
      stored(dst));
}

template <typename To, typename From>
void convert_sum(
    std::int64_t size, const Scale &scale, const From *x, const From *d, To *dst, Stream stream)
{
  const std::int64_t units = size / unit<To, From>;
  launch("launching the conversion of a sum", &convert_sum_kernel<Stored<To>, From>,
      blocks_of(units, units_per_thread), threads, 0, stream, units, scale, x, d, stored(dst));
}

template <typename To, typename From>
void convert_to_pair(std::int64_t size, const From *src, To *x, To *d, Stream stream)
{
  const std::int64_t units = size / unit<To, From>;
  launch("launching the conversion to a pair", &convert_to_pair_kernel<To, From>,
      blocks_of(units, 1), threads, 0, stream, units, src, x, d);
}

template <typename Number>
void inverse_diagonal(const Block &block, const CellBasis &basis,
    const std::array<double, 3> &factor, double alpha, const Number *b, Number *x, Stream stream)
{
  constexpr int width = word<Number>;
  const auto diagonal = make_diagonal<Compute<Number>>(block, basis, factor, width);
  const unsigned words = countable_units(block, width);
  launch("launching the inverse diagonal", &inverse_diagonal_kernel<Number>,
      blocks_of(words, batch<Number>), threads, 0, stream, diagonal, words,
      static_cast<Compute<Number>>(alpha), b, x);
}

template <typename Number, typename From>
void convert_and_divide(const Block &block, const CellBasis &basis,
    const std::array<double, 3> &factor, double alpha, const Scale &scale, const From *src,
    Number *b, Number *x, Stream stream)
{
  constexpr int width = unit<Number, From>;
  const auto diagonal = make_diagonal<Compute<Number>>(block, basis, factor, width);
  const unsigned units = countable_units(block, width);
  launch("launching a conversion and the inverse diagonal",
      &convert_and_divide_kernel<Number, Stored<From>>, blocks_of(units, units_per_thread), threads,
      0, stream, diagonal, units, static_cast<Compute<Number>>(alpha), scale, stored(src), b, x);
}

template void convert(std::int64_t, const Scale &, const double *, double *, Stream);
template void convert(std::int64_t, const Scale &, const double *, float *, Stream);
template void convert(std::int64_t, const Scale &, const double *, Half *, Stream);
template void convert(std::int64_t, const Scale &, const double *, WideFloat *, Stream);
template void convert(std::int64_t, const Scale &, const float *, double *, Stream);
template void convert(std::int64_t, const Scale &, const Half *, double *, Stream);
template void convert(std::int64_t, const Scale &, const WideFloat *, double *, Stream);
template void convert(std::int64_t, const Scale &, const WideFloat *, float *, Stream);
template void convert(std::int64_t, const Scale &, const WideFloat *, Half *, Stream);
template void convert(std::int64_t, const Scale &, const float *, WideFloat *, Stream);
template void convert(std::int64_t, const Scale &, const Half *, WideFloat *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const double *, const double *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const float *, const float *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const Half *, const Half *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const double *, const double *, WideFloat *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const float *, const float *, WideFloat *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const Half *, const Half *, WideFloat *, Stream);
template void convert(std::int64_t, const Scale &, const Half *, float *, Stream);
template void convert(std::int64_t, const Scale &, const float *, float *, Stream);
template void convert_to_pair(std::int64_t, const float *, Half *, Half *, Stream);
template void convert_to_pair(std::int64_t, const float *, float *, float *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const Scale &, const double *, double *, double *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const Scale &, const double *, float *, float *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const Scale &, const double *, Half *, Half *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const Scale &, const WideFloat *, double *, double *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const Scale &, const WideFloat *, float *, float *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const Scale &, const WideFloat *, Half *, Half *, Stream);
template void inverse_diagonal(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const double *, double *, Stream);
template void inverse_diagonal(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const float *, float *, Stream);
template void inverse_diagonal(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const Half *, Half *, Stream);
} // namespace tensormg::vector_kernels::cuda
