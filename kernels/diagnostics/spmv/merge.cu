#include "kernels/device/dependent.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/spmv/device_parts.cuh"
#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::spmv
{
namespace
{
  // The merge path: a block takes a tile of rows and entries, groups of threads its rows. Where tiles begin is found
  // once for a matrix: a search among its rows is a chain of some 25 loads, longer than all else that a block does.

  constexpr int threads = 128;
  constexpr int together = 4; ///< entries of a load
  constexpr int loads = 3;    ///< of a thread, all under way together
  constexpr int early_ends = 2;
  /// Entries that a block can hold; a tile has fewer, since it loads from a multiple of `together` on.
  constexpr int room = threads * loads * together, tile = room - together;
  /// Blocks per multiprocessor that registers are to leave room for.
  template <typename Number>
  constexpr int resident = sizeof(Number) > 4 ? 6 : 9;
  constexpr int other_threads = 256; ///< of the kernels before and after

  /// The row at which the path is after `step` steps; entry i of row_end ends row i.
  __device__ std::int32_t find_row(
      std::int64_t step, const std::int32_t *row_end, std::int64_t rows, std::int64_t entries)
  {
    std::int64_t low = step > entries ? step - entries : 0, high = step < rows ? step : rows;
    while (low < high)
    {
      const std::int64_t middle = (low + high) / 2;
      if (row_end[middle] <= step - middle - 1)
        low = middle + 1;
      else
        high = middle;
    }
    return static_cast<std::int32_t>(low);
  }

  __global__ void __launch_bounds__(other_threads) tiles_kernel(std::int32_t rows,
      std::int32_t entries, const std::int32_t *__restrict__ row_begin, std::int64_t tiles,
      std::int32_t *__restrict__ first_rows)
  {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * other_threads + threadIdx.x;
    if (index > tiles)
      return;
    const std::int64_t steps = static_cast<std::int64_t>(rows) + entries;
    const std::int64_t step = index * tile < steps ? index * tile : steps;
    first_rows[index] = find_row(step, row_begin + 1, rows, entries);
  }

  /// The sum of the numbers of all threads, in thread 0 (of others: something).
  template <typename Result>
  __device__ Result block_sum(Result own)
  {
    __shared__ Result warp_sums[threads / warp];
    own = warp_sum(own);
    const int thread = static_cast<int>(threadIdx.x);
    if (thread % warp == 0)
      warp_sums[thread / warp] = own;
    __syncthreads();
    Result sum = warp_sums[0];
#pragma unroll
    for (int w = 1; w < threads / warp; ++w)
      sum += warp_sums[w];
    __syncthreads(); // before the next call
    return sum;
  }

  /// A block's part of the path: its products in shared memory, and where its rows end among them. The row after
  /// those that end here is the last: its sum is left to others.
  template <typename Result>
  struct Tile
  {
    const Result *products;
    const std::int32_t *row_ends;
    std::int32_t first_row, rows;
    int first, last; ///< products
    __device__ int begin(int row) const { return row == 0 ? first : row_ends[row - 1]; }
    __device__ int end(int row) const { return row < rows ? row_ends[row] : last; }
    __device__ Result sum(int from, int to, int stride) const
    {
      Result sum = 0;
#pragma unroll 4
      for (int e = from; e < to; e += stride)
        sum += products[e];
      return sum;
    }
    __device__ void finish(int row, Result sum, Result *y, Carry<Result> &carry) const
    {
      if (row < rows)
        y[first_row + row] = sum;
      else
        carry = {first_row + row, sum};
    }
  };

  /// Rows by groups of `lanes` threads, one after the other; a row that is long for them by its warp afterwards.
  template <int lanes, typename Result>
  __device__ void sum_rows(const Tile<Result> &tile, Result *y, Carry<Result> &carry)
  {
    constexpr int at_once = threads / lanes, longest = 24 * lanes;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % lanes;
    // All lanes of a warp make the same number of loads.
    for (int first = 0; first <= tile.rows; first += at_once)
    {
      const int row = first + thread / lanes;
      const int begin = row <= tile.rows ? tile.begin(row) : 0,
                end = row <= tile.rows ? tile.end(row) : 0;
      const bool is_long = lanes < warp && end - begin > longest;
      Result sum = is_long ? Result(0) : tile.sum(begin + lane, end, lanes);
#pragma unroll
      for (int distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(all_lanes, sum, distance);
      for (unsigned left = __ballot_sync(all_lanes, is_long && lane == 0); left != 0;
           left &= left - 1)
      {
        const int of = warp - 1 - __clz(static_cast<int>(left & (0u - left)));
        const int from = __shfl_sync(all_lanes, begin, of), to = __shfl_sync(all_lanes, end, of);
        const Result of_row = warp_sum(tile.sum(from + thread % warp, to, warp));
        sum = thread % warp == of ? of_row : sum;
      }
      if (lane == 0 && row <= tile.rows)
        tile.finish(row, sum, y, carry);
    }
  }

  /// Rows in one turn, if there are not more than threads.
  template <typename Result>
  __device__ void sum_all(const Tile<Result> &tile, Result *y, Carry<Result> &carry)
  {
    if (tile.rows < 2)
      for (int row = 0; row <= tile.rows; ++row)
      {
        const Result sum = block_sum(
            tile.sum(tile.begin(row) + static_cast<int>(threadIdx.x), tile.end(row), threads));
        if (threadIdx.x == 0)
          tile.finish(row, sum, y, carry);
      }
    else if (tile.rows < threads / 32)
      sum_rows<32>(tile, y, carry);
    else if (tile.rows < threads / 16)
      sum_rows<16>(tile, y, carry);
    else if (tile.rows < threads / 8)
      sum_rows<8>(tile, y, carry);
    else if (tile.rows < threads / 4)
      sum_rows<4>(tile, y, carry);
    else if (tile.rows < threads / 2)
      sum_rows<2>(tile, y, carry);
    else
      sum_rows<1>(tile, y, carry);
  }

  template <typename Number>
  __device__ void store_products(
      Compute<Number> *to, const Four<Number> &value, const Four<Number> &factor)
  {
    Four<Compute<Number>> products;
#pragma unroll
    for (int i = 0; i < together; ++i)
      products.of[i] = widened(value.of[i]) * widened(factor.of[i]);
    store_four(to, products);
  }

  /// Entries e ... e + 3, those beyond the last of the matrix twice.
  template <bool aligned, typename T>
  __device__ Four<T> load_entries(const T *from, std::int32_t e, std::int32_t entries)
  {
    if (aligned && e <= entries - together)
      return load_four(from + e);
    Four<T> result;
#pragma unroll
    for (int i = 0; i < together; ++i)
      result.of[i] = load_streaming(from + (e < entries - i ? e + i : e));
    return result;
  }

  /// `aligned`: columns and values begin at multiples of 16 bytes.
  template <typename Number, bool aligned>
  __global__ void __launch_bounds__(threads, resident<Number>)
      merge_kernel(Csr<Number> matrix, std::int32_t entries,
          const std::int32_t *__restrict__ first_rows, const Number *__restrict__ x,
          Compute<Number> *__restrict__ y, Carry<Compute<Number>> *__restrict__ carries)
  {
    using Result = Compute<Number>;
    dependent::let_next_kernel_start();
    alignas(16) __shared__ Result products[room];
    __shared__ std::int32_t row_ends[tile];

    const std::int64_t steps = static_cast<std::int64_t>(matrix.rows) + entries;
    const std::int64_t first_step = static_cast<std::int64_t>(blockIdx.x) * tile;
    const std::int64_t last_step = first_step + tile < steps ? first_step + tile : steps;
    const std::int32_t first_row = first_rows[blockIdx.x], last_row = first_rows[blockIdx.x + 1];
    const auto first_entry = static_cast<std::int32_t>(first_step - first_row),
               last_entry = static_cast<std::int32_t>(last_step - last_row);
    // Neighbours' entries at both ends are multiplied, too, and not added.
    const std::int32_t base = first_entry / together * together;
    const int n_rows = last_row - first_row, n_entries = last_entry - base;
    const int thread = static_cast<int>(threadIdx.x);

    // All loads of a thread are under way together.
    Four<std::int32_t> columns[loads];
    Four<Number> values[loads], factors[loads];
#pragma unroll
    for (int i = 0; i < loads; ++i)
      if (const int e = (i * threads + thread) * together; e < n_entries)
      {
        columns[i] = load_entries<aligned>(matrix.column, base + e, entries);
        values[i] = load_entries<aligned>(matrix.value, base + e, entries);
      }
    // Of most rows, too: the others' ends take turns below.
    std::int32_t ends[early_ends];
#pragma unroll
    for (int i = 0; i < early_ends; ++i)
      if (const int r = i * threads + thread; r < n_rows)
        ends[i] = matrix.row_begin[first_row + r + 1];
#pragma unroll
    for (int i = 0; i < loads; ++i)
      if ((i * threads + thread) * together < n_entries)
        factors[i] = gather(x, columns[i]);
#pragma unroll
    for (int i = 0; i < early_ends; ++i)
      if (const int r = i * threads + thread; r < n_rows)
        row_ends[r] = ends[i] - base;
    for (int r = early_ends * threads + thread; r < n_rows; r += threads)
      row_ends[r] = matrix.row_begin[first_row + r + 1] - base;
#pragma unroll
    for (int i = 0; i < loads; ++i)
      if (const int e = (i * threads + thread) * together; e < n_entries)
        store_products(products + e, values[i], factors[i]);
    __syncthreads();

    Carry<Result> carry{-1, 0}; // of the thread that has the last row
    sum_all(Tile<Result>{products, row_ends, first_row, n_rows, first_entry - base, n_entries}, y,
        carry);
    if (carry.row >= 0)
      carries[blockIdx.x] = carry;
  }

  /// What blocks leave of rows that others end, a thread per block. A row that several blocks have left is added by the
  /// warp of the first of them.
  template <typename Result>
  __global__ void __launch_bounds__(other_threads)
      carry_kernel(std::int32_t rows, std::int64_t blocks, const Carry<Result> *carries, Result *y)
  {
    constexpr int at_once = 4; ///< of a lane: a dense row crosses thousands of blocks
    dependent::wait_for_kernel_before();
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * other_threads + threadIdx.x;
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const auto row_of = [&](std::int64_t b) { return b >= 0 && b < blocks ? carries[b].row : -1; };
    const std::int32_t row = row_of(block);
    const bool is_first = row >= 0 && row < rows && row_of(block - 1) != row,
               has_more = row_of(block + 1) == row;
    if (is_first && !has_more)
      y[row] += carries[block].sum;
    for (unsigned left = __ballot_sync(all_lanes, is_first && has_more); left != 0;
         left &= left - 1)
    {
      const int of = warp - 1 - __clz(static_cast<int>(left & (0u - left)));
      const std::int32_t long_row = __shfl_sync(all_lanes, row, of);
      Result sum = 0;
      bool is_there = true; // the rows of carries do not descend
      for (std::int64_t b = block + of; __any_sync(all_lanes, is_there); b += warp * at_once)
#pragma unroll
        for (int i = 0; i < at_once; ++i)
        {
          const std::int64_t at = b + i * warp;
          const Carry<Result> carry = carries[at < blocks ? at : blocks - 1];
          is_there = at < blocks && carry.row == long_row;
          sum += is_there ? carry.sum : Result(0);
        }
      sum = warp_sum(sum);
      if (lane == 0)
        y[long_row] += sum;
    }
  }

  bool is_aligned(const void *pointer)
  {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  }
} // namespace

std::int64_t merge_blocks(std::int64_t rows, std::int64_t entries)
{
  return (rows + entries + tile - 1) / tile;
}

template <typename Number>
void find_merge_rows(
    const Csr<Number> &matrix, std::int32_t entries, std::int32_t *first_rows, Stream stream)
{
  const std::int64_t tiles = merge_blocks(matrix.rows, entries);
  launch("dividing a sparse matrix by merge path", tiles_kernel,
      dim3(static_cast<unsigned>(tiles / other_threads + 1)), dim3(other_threads), 0, stream,
      matrix.rows, entries, matrix.row_begin, tiles, first_rows);
}

template <typename Number>
void cuda_merge(const Csr<Number> &matrix, std::int32_t entries, const std::int32_t *first_rows,
    const Number *x, Compute<Number> *y, Carry<Compute<Number>> *carries, Stream stream)
{
  if (matrix.rows == 0)
    return;
  const std::int64_t blocks = merge_blocks(matrix.rows, entries);
  launch("launching the sparse product by merge path",
      is_aligned(matrix.column) && is_aligned(matrix.value) ? merge_kernel<Number, true>
                                                            : merge_kernel<Number, false>,
      dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, stream, matrix, entries, first_rows, x,
      y, carries);
  dependent::launch("launching the carries of the sparse product", carry_kernel<Compute<Number>>,
      dim3(static_cast<unsigned>((blocks + other_threads - 1) / other_threads)),
      dim3(other_threads), 0, stream, matrix.rows, blocks,
      static_cast<const Carry<Compute<Number>> *>(carries), y);
}

template void find_merge_rows(const Csr<double> &, std::int32_t, std::int32_t *, Stream);
template void find_merge_rows(const Csr<float> &, std::int32_t, std::int32_t *, Stream);
template void find_merge_rows(const Csr<Half> &, std::int32_t, std::int32_t *, Stream);
template void cuda_merge(const Csr<double> &, std::int32_t, const std::int32_t *, const double *,
    double *, Carry<double> *, Stream);
template void cuda_merge(const Csr<float> &, std::int32_t, const std::int32_t *, const float *,
    float *, Carry<float> *, Stream);
template void cuda_merge(const Csr<Half> &, std::int32_t, const std::int32_t *, const Half *,
    float *, Carry<float> *, Stream);
} // namespace tensormg::spmv
