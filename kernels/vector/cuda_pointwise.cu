// Vector kernels in device memory that need no sums over the grid, or know modes and cells.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kernels/core/pack.cuh"
#include "kernels/vector/cuda_reduction.cuh"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  constexpr int threads = 256;

  /// Numbers in 16 bytes.
  template <typename Number>
  constexpr int word = 16 / static_cast<int>(sizeof(Number));

  /// Words of a vector that a thread has in flight; eight halves are eight registers.
  template <typename Number>
  constexpr int batch = sizeof(Number) == 2 ? 2 : 4;
  constexpr int pairs_per_thread = 4;

  int blocks_of(std::int64_t units, int per_thread)
  {
    const int per_block = threads * per_thread;
    return static_cast<int>((units + per_block - 1) / per_block);
  }

  template <typename Number, bool reads_y>
  __global__ void __launch_bounds__(threads) axpby_kernel(
      std::int64_t words, Compute<Number> a, const Number *x, Compute<Number> b, Number *y)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    const std::int64_t first = std::int64_t(blockIdx.x) * (threads * batch<Number>)+threadIdx.x;
    Pack<C, width> px[batch<Number>], py[batch<Number>];
#pragma unroll
    for (int w = 0; w < batch<Number>; ++w)
      if (const std::int64_t at = first + w * threads; at < words)
      {
        px[w] = load_pack<width>(x + at * width);
        if constexpr (reads_y)
          py[w] = load_pack<width>(y + at * width);
      }
#pragma unroll
    for (int w = 0; w < batch<Number>; ++w)
      if (const std::int64_t at = first + w * threads; at < words)
      {
        Pack<C, width> result = a * px[w];
        if constexpr (reads_y)
          add_product(result, b, py[w]);
        store_pack(y + at * width, result);
      }
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

  /// Two numbers per access: with pairs the accesses of a warp are contiguous for all widths of number.
  template <typename To, typename From>
  __global__ void __launch_bounds__(threads)
      convert_kernel(std::int64_t pairs, const Scale scale, const From *src, To *dst)
  {
    const std::int64_t first =
        std::int64_t(blockIdx.x) * (threads * pairs_per_thread) + threadIdx.x;
    Pack<Compute<From>, 2> loaded[pairs_per_thread];
#pragma unroll
    for (int w = 0; w < pairs_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < pairs)
        loaded[w] = load_pack<2>(src + 2 * at);
    const double factor = scale.largest == nullptr
        ? scale.factor
        : scale.factor * power_of_two(*scale.largest, scale.inverted);
#pragma unroll
    for (int w = 0; w < pairs_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < pairs)
      {
        Pack<Compute<To>, 2> result;
        result.at[0] = static_cast<Compute<To>>(factor * loaded[w].at[0]);
        result.at[1] = static_cast<Compute<To>>(factor * loaded[w].at[1]);
        store_pack(dst + 2 * at, result);
      }
  }

  template <typename From>
  __global__ void __launch_bounds__(threads) convert_sum_kernel(
      std::int64_t pairs, const Scale scale, const From *x, const From *d, double *dst)
  {
    const std::int64_t first =
        std::int64_t(blockIdx.x) * (threads * pairs_per_thread) + threadIdx.x;
    Pack<Compute<From>, 2> of_x[pairs_per_thread], of_d[pairs_per_thread];
#pragma unroll
    for (int w = 0; w < pairs_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < pairs)
      {
        of_x[w] = load_pack<2>(x + 2 * at);
        of_d[w] = load_pack<2>(d + 2 * at);
      }
    const double factor = scale.largest == nullptr
        ? scale.factor
        : scale.factor * power_of_two(*scale.largest, scale.inverted);
#pragma unroll
    for (int w = 0; w < pairs_per_thread; ++w)
      if (const std::int64_t at = first + w * threads; at < pairs)
      {
        Pack<double, 2> result;
        result.at[0] = factor * (double(of_x[w].at[0]) + double(of_d[w].at[0]));
        result.at[1] = factor * (double(of_x[w].at[1]) + double(of_d[w].at[1]));
        store_pack(dst + 2 * at, result);
      }
  }

  /// The lines of a block (all cells of one mode in x of one row), and numbers per mode.
  template <typename C>
  struct Lines
  {
    C x[max_n], y[max_n], z[max_n];
    int n, nz;
    int row, line; ///< in words
    int threads_x; ///< of a block side by side in a row
    std::int64_t rows, rows_per_plane;
    std::int64_t cells; ///< in x
  };

  template <typename Number, typename C>
  Lines<C> lines_of(const Block &block)
  {
    Lines<C> lines{};
    lines.n = block.n;
    lines.nz = block.nz();
    lines.row = static_cast<int>(block.row() / word<Number>);
    lines.line = static_cast<int>(block.pitch / word<Number>);
    lines.rows_per_plane = block.rows_per_plane();
    lines.rows = lines.rows_per_plane * block.planes();
    lines.cells = block.cells[0];
    lines.threads_x = 8;
    while (lines.threads_x < threads && lines.threads_x < lines.row)
      lines.threads_x *= 2;
    return lines;
  }

  /// f(position of a word, i, j, k) for the words of the rows of this thread; the modes of its line.
  template <typename C, typename F>
  __device__ void for_each_word_of_rows(const Lines<C> &lines, const F &f)
  {
    const int rows_at_once = threads / lines.threads_x;
    const int x = threadIdx.x % lines.threads_x, y = threadIdx.x / lines.threads_x;
    for (std::int64_t r = std::int64_t(blockIdx.x) * rows_at_once + y; r < lines.rows;
         r += std::int64_t(gridDim.x) * rows_at_once)
    {
      const int j = static_cast<int>(r % lines.rows_per_plane % lines.n),
                k = static_cast<int>(r / lines.rows_per_plane % lines.nz);
      for (int w = x; w < lines.row; w += lines.threads_x)
        f(r * lines.row + w, w / lines.line, j, k);
    }
  }

  /// x, y, z of `lines`: the parts of the diagonal. Positions are 32-bit numbers: a division of 64 bits takes
  /// longer than reading and writing a word.
  template <typename Number>
  __global__ void __launch_bounds__(threads)
      inverse_diagonal_kernel(const __grid_constant__ Lines<Compute<Number>> lines, unsigned words,
          Compute<Number> alpha, const Number *b, Number *x)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    const unsigned first = blockIdx.x * (threads * unsigned(batch<Number>)) + threadIdx.x;
    Pack<C, width> loaded[batch<Number>];
#pragma unroll
    for (int w = 0; w < batch<Number>; ++w)
      if (const unsigned at = first + w * threads; at < words)
        loaded[w] = load_pack<width>(b + std::int64_t(at) * width);
    const auto row = static_cast<unsigned>(lines.row), line = static_cast<unsigned>(lines.line),
               n = static_cast<unsigned>(lines.n), nz = static_cast<unsigned>(lines.nz),
               rows_per_plane = static_cast<unsigned>(lines.rows_per_plane);
#pragma unroll
    for (int w = 0; w < batch<Number>; ++w)
      if (const unsigned at = first + w * threads; at < words)
      {
        const unsigned r = at / row, plane = r / rows_per_plane;
        const unsigned i = (at - r * row) / line, j = (r - plane * rows_per_plane) % n,
                       k = plane % nz;
        const C weight = alpha / (lines.x[i] + lines.y[j] + lines.z[k]);
        store_pack(x + std::int64_t(at) * width, weight * loaded[w]);
      }
  }

  /// x, y, z of `lines`: the factors of the constant's coefficients.
  template <typename Number>
  __global__ void __launch_bounds__(threads)
      add_constant_kernel(const __grid_constant__ Lines<double> lines, double shift, Number *u)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    for_each_word_of_rows(lines, [&](std::int64_t at, int i, int j, int k) {
      const C value = static_cast<C>(shift * (lines.x[i] * lines.y[j] * lines.z[k]));
      if (value == 0)
        return;
      Pack<C, width> pack = load_pack<width>(u + at * width);
      const int cell = static_cast<int>(at % lines.line) * width;
#pragma unroll
      for (int w = 0; w < width; ++w)
        if (cell + w < lines.cells)
          pack.at[w] += value;
      store_pack(u + at * width, pack);
    });
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads) sum_of_means_kernel(
      const __grid_constant__ Lines<double> lines, const Number *u, double *partial)
  {
    constexpr int width = word<Number>;
    double sum[1] = {0.};
    for_each_word_of_rows(lines, [&](std::int64_t at, int i, int j, int k) {
      const double weight = lines.x[i] * lines.y[j] * lines.z[k];
      if (weight == 0.) // odd modes have mean zero
        return;
      const Pack<Compute<Number>, width> pack = load_pack<width>(u + at * width);
      double line = 0.;
#pragma unroll
      for (int w = 0; w < width; ++w)
        line += double(pack.at[w]);
      sum[0] = fma(weight, line, sum[0]);
    });
    reduce_block<Sum>(sum, partial + blockIdx.x, 1);
  }

  template <typename Number>
  Lines<double> constant_lines(const Block &block, const CellBasis &basis)
  {
    Lines<double> lines = lines_of<Number, double>(block);
    for (int m = 0; m < block.n; ++m)
    {
      lines.x[m] = lines.y[m] = basis.legendre[m];
      lines.z[m] = block.dim == 3 ? basis.legendre[m] : 1.;
    }
    return lines;
  }

  template <typename C>
  int blocks_of_rows(const Lines<C> &lines, int most)
  {
    const int rows = threads / lines.threads_x;
    return static_cast<int>(std::min<std::int64_t>((lines.rows + rows - 1) / rows, most));
  }

  constexpr int any_number_of_blocks = 1 << 20;
} // namespace

template <typename Number>
void axpby(std::int64_t size, double a, const Number *x, double b, Number *y, Stream stream)
{
  using C = Compute<Number>;
  const std::int64_t words = size / word<Number>;
  launch("launching a x + b y",
      b == 0. ? &axpby_kernel<Number, false> : &axpby_kernel<Number, true>,
      blocks_of(words, batch<Number>), threads, 0, stream, words, static_cast<C>(a), x,
      static_cast<C>(b), y);
}

template <typename To, typename From>
void convert(std::int64_t size, const Scale &scale, const From *src, To *dst, Stream stream)
{
  launch("launching a conversion", &convert_kernel<To, From>, blocks_of(size / 2, pairs_per_thread),
      threads, 0, stream, size / 2, scale, src, dst);
}

template <typename From>
void convert_sum(
    std::int64_t size, const Scale &scale, const From *x, const From *d, double *dst, Stream stream)
{
  launch("launching the conversion of a sum", &convert_sum_kernel<From>,
      blocks_of(size / 2, pairs_per_thread), threads, 0, stream, size / 2, scale, x, d, dst);
}

template <typename Number>
void inverse_diagonal(const Block &block, const CellBasis &basis, const double (&factor)[3],
    double alpha, const Number *b, Number *x, Stream stream)
{
  using C = Compute<Number>;
  Lines<C> lines = lines_of<Number, C>(block);
  for (int m = 0; m < block.n; ++m)
  {
    lines.x[m] = static_cast<C>(factor[0] * basis.lambda[m]);
    lines.y[m] = static_cast<C>(factor[1] * basis.lambda[m]);
    lines.z[m] = static_cast<C>(block.dim == 3 ? factor[2] * basis.lambda[m] : 0.);
  }
  const std::int64_t words = block.size() / word<Number>;
  if (words > std::numeric_limits<unsigned>::max() / 2)
    throw std::length_error("the inverse diagonal takes vectors of at most 32 GiB");
  launch("launching the inverse diagonal", &inverse_diagonal_kernel<Number>,
      blocks_of(words, batch<Number>), threads, 0, stream, lines, static_cast<unsigned>(words),
      static_cast<C>(alpha), b, x);
}

template <typename Number>
void add_constant(
    const Block &block, const CellBasis &basis, double shift, Number *u, Stream stream)
{
  const Lines<double> lines = constant_lines<Number>(block, basis);
  launch("adding a constant", &add_constant_kernel<Number>,
      blocks_of_rows(lines, any_number_of_blocks), threads, 0, stream, lines, shift, u);
}

template <typename Number>
void sum_of_means(const Block &block, const CellBasis &basis, const Number *u, double *scratch,
    double *result, Stream stream)
{
  const Lines<double> lines = constant_lines<Number>(block, basis);
  const int blocks = blocks_of_rows(lines, reduction_blocks);
  launch("launching the sum of means", &sum_of_means_kernel<Number>, blocks, threads,
      reduction_warps * sizeof(double), stream, lines, u, partials(blocks, scratch, result));
  join_partials<Sum>(blocks, 1, scratch, result, stream);
}

template void axpby(std::int64_t, double, const double *, double, double *, Stream);
template void axpby(std::int64_t, double, const float *, double, float *, Stream);
template void axpby(std::int64_t, double, const Half *, double, Half *, Stream);
template void convert(std::int64_t, const Scale &, const double *, double *, Stream);
template void convert(std::int64_t, const Scale &, const double *, float *, Stream);
template void convert(std::int64_t, const Scale &, const double *, Half *, Stream);
template void convert(std::int64_t, const Scale &, const float *, double *, Stream);
template void convert(std::int64_t, const Scale &, const Half *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const double *, const double *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const float *, const float *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const Half *, const Half *, double *, Stream);
template void inverse_diagonal(const Block &, const CellBasis &, const double (&)[3], double,
    const double *, double *, Stream);
template void inverse_diagonal(
    const Block &, const CellBasis &, const double (&)[3], double, const float *, float *, Stream);
template void inverse_diagonal(
    const Block &, const CellBasis &, const double (&)[3], double, const Half *, Half *, Stream);
template void add_constant(const Block &, const CellBasis &, double, double *, Stream);
template void add_constant(const Block &, const CellBasis &, double, float *, Stream);
template void add_constant(const Block &, const CellBasis &, double, Half *, Stream);
template void sum_of_means(
    const Block &, const CellBasis &, const double *, double *, double *, Stream);
template void sum_of_means(
    const Block &, const CellBasis &, const float *, double *, double *, Stream);
template void sum_of_means(
    const Block &, const CellBasis &, const Half *, double *, double *, Stream);
} // namespace tensormg::vector_kernels::cuda
