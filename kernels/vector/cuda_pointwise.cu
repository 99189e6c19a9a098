// Sums of two vectors, and constants in the modes of cells, in device memory.
#include "kernels/vector/cuda_reduction.cuh"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  constexpr int threads = 256;

  /// Words of a vector that a thread has in flight; eight halves are eight registers.
  template <typename Number>
  constexpr int batch = sizeof(Number) == 2 ? 2 : 4;

  int blocks_of(std::int64_t units, int per_thread)
  {
    const int per_block = threads * per_thread;
    return static_cast<int>((units + per_block - 1) / per_block);
  }

  /// The quotient, if it has numbers, in the place of `known`.
  template <typename Number, bool reads_y>
  __global__ void __launch_bounds__(threads) axpby_kernel(std::int64_t words, Compute<Number> a,
      const Number *x, Compute<Number> known, const Quotient quotient, Number *y)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    const C b = quotient.numerator == nullptr
        ? known
        : static_cast<C>(quotient.factor * (*quotient.numerator / *quotient.denominator));
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

  __global__ void __launch_bounds__(threads)
      pseudo_random_kernel(const Block block, const RowsInGrid rows, double *x)
  {
    const std::int64_t size = block.size(), pitch = block.pitch, cells = block.cells[0];
    const std::int64_t n = block.n, rows_here = block.rows_per_plane();
    for (std::int64_t at = std::int64_t(blockIdx.x) * threads + threadIdx.x; at < size;
         at += std::int64_t(gridDim.x) * threads)
    {
      const std::int64_t here = at / pitch, cell = at % pitch, row = here / n;
      const std::int64_t line = ((rows.first_plane + row / rows_here) * rows.rows_per_plane +
                                    rows.first_row + row % rows_here) *
              n +
          here % n;
      x[at] = cell < cells ? pseudo_random(static_cast<std::uint64_t>(line * cells + cell)) : 0.;
    }
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

void pseudo_random_vector(const Block &block, const RowsInGrid &rows, double *x, Stream stream)
{
  const std::int64_t blocks = (block.size() + threads - 1) / threads;
  launch("making a vector that looks random", &pseudo_random_kernel,
      static_cast<unsigned>(std::min<std::int64_t>(blocks, any_number_of_blocks)), threads, 0,
      stream, block, rows, x);
}

template <typename Number>
void axpby(std::int64_t size, double a, const Number *x, double b, Number *y, Stream stream)
{
  using C = Compute<Number>;
  const std::int64_t words = size / word<Number>;
  launch("launching a x + b y",
      b == 0. ? &axpby_kernel<Number, false> : &axpby_kernel<Number, true>,
      blocks_of(words, batch<Number>), threads, 0, stream, words, static_cast<C>(a), x,
      static_cast<C>(b), Quotient(), y);
}

template <typename Number>
void axpby(
    std::int64_t size, double a, const Number *x, const Quotient &b, Number *y, Stream stream)
{
  using C = Compute<Number>;
  const std::int64_t words = size / word<Number>;
  launch("launching a x + b y", &axpby_kernel<Number, true>, blocks_of(words, batch<Number>),
      threads, 0, stream, words, static_cast<C>(a), x, C(0), b, y);
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
template void axpby(std::int64_t, double, const WideFloat *, double, WideFloat *, Stream);
template void axpby(std::int64_t, double, const Half *, double, Half *, Stream);
template void axpby(std::int64_t, double, const double *, const Quotient &, double *, Stream);
template void axpby(std::int64_t, double, const WideFloat *, const Quotient &, WideFloat *, Stream);
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
