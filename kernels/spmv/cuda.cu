#include <stdexcept>
#include <string>

#include "kernels/core/launch.cuh"
#include "kernels/spmv/spmv.h"

namespace tensormg::spmv
{
namespace
{
  constexpr int warp = 32;
  constexpr unsigned all_lanes = 0xffffffffu;
  constexpr int threads = 256;

  // Rows by groups of lanes.

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

  // The merge path: a block takes a tile of rows and entries, groups of threads its rows. Where tiles begin is found
  // once for a matrix: a search among its rows is a chain of some 25 loads, longer than all else that a block does.

  constexpr int merge_threads = 128;
  constexpr int steps_per_thread = 8;
  constexpr int tile = merge_threads * steps_per_thread;
  constexpr int few_rows = 8; ///< of a tile: then all threads work on each of them

  /// The row at which the path is after `step` steps; entry i of row_end ends row i.
  template <typename Index>
  __device__ std::int32_t find_row(
      std::int64_t step, const Index *row_end, std::int64_t rows, std::int64_t entries)
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

  __global__ void __launch_bounds__(threads) tiles_kernel(std::int32_t rows, std::int32_t entries,
      const std::int32_t *__restrict__ row_begin, std::int64_t tiles,
      std::int32_t *__restrict__ first_rows)
  {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (index > tiles)
      return;
    const std::int64_t steps = static_cast<std::int64_t>(rows) + entries;
    const std::int64_t step = index * tile < steps ? index * tile : steps;
    first_rows[index] = find_row(step, row_begin + 1, rows, entries);
  }

  /// The sum of the numbers of all threads, in thread 0 (of others: something).
  template <typename Number>
  __device__ Number block_sum(Number own)
  {
    __shared__ Number warp_sums[merge_threads / warp];
#pragma unroll
    for (int distance = warp / 2; distance > 0; distance /= 2)
      own += __shfl_xor_sync(all_lanes, own, distance);
    const int thread = static_cast<int>(threadIdx.x);
    if (thread % warp == 0)
      warp_sums[thread / warp] = own;
    __syncthreads();
    Number sum = warp_sums[0];
#pragma unroll
    for (int w = 1; w < merge_threads / warp; ++w)
      sum += warp_sums[w];
    __syncthreads(); // before the next call
    return sum;
  }

  /// A block's part of the path: its products in shared memory, and where its rows end among them. The row after
  /// those that end here is the last: its sum is left to others.
  template <typename Number>
  struct Tile
  {
    const Number *products;
    const std::int32_t *row_ends;
    std::int32_t first_row, rows;
    int entries;
    __device__ int begin(int row) const { return row == 0 ? 0 : row_ends[row - 1]; }
    __device__ int end(int row) const { return row < rows ? row_ends[row] : entries; }
  };

  template <typename Number>
  __device__ void finish(
      const Tile<Number> &tile, int row, Number sum, Number *y, Carry<Number> &carry)
  {
    if (row < tile.rows)
      y[tile.first_row + row] = sum;
    else
      carry = {tile.first_row + row, sum};
  }

  /// Rows by groups of `lanes` threads, one after the other.
  template <int lanes, typename Number>
  __device__ void sum_rows(const Tile<Number> &tile, Number *y, Carry<Number> &carry)
  {
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    constexpr int at_once = merge_threads / lanes;
    // All lanes of a warp make the same number of turns.
    for (int first = 0; first <= tile.rows; first += at_once)
    {
      const int row = first + static_cast<int>(threadIdx.x) / lanes;
      Number sum = 0;
      if (row <= tile.rows)
      {
        const int end = tile.end(row);
#pragma unroll 4
        for (int e = tile.begin(row) + lane; e < end; e += lanes)
          sum += tile.products[e];
      }
#pragma unroll
      for (int distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(all_lanes, sum, distance);
      if (lane == 0 && row <= tile.rows)
        finish(tile, row, sum, y, carry);
    }
  }

  template <typename Number>
  __global__ void __launch_bounds__(merge_threads) merge_kernel(Csr<Number> matrix,
      std::int32_t entries, const std::int32_t *__restrict__ first_rows,
      const Number *__restrict__ x, Number *__restrict__ y, Carry<Number> *__restrict__ carries)
  {
    __shared__ Number products[tile];
    __shared__ std::int32_t row_ends[tile];

    const std::int64_t steps = static_cast<std::int64_t>(matrix.rows) + entries;
    const std::int64_t first_step = static_cast<std::int64_t>(blockIdx.x) * tile;
    const std::int64_t last_step = first_step + tile < steps ? first_step + tile : steps;
    const std::int32_t first_row = first_rows[blockIdx.x],
                       n_rows = first_rows[blockIdx.x + 1] - first_row;
    const auto first_entry = static_cast<std::int32_t>(first_step - first_row);
    const auto n_entries = static_cast<std::int32_t>(last_step - first_step) - n_rows;

    // All loads of a thread are under way together.
    Number values[steps_per_thread];
    std::int32_t columns[steps_per_thread];
#pragma unroll
    for (int i = 0; i < steps_per_thread; ++i)
    {
      const int e = i * merge_threads + static_cast<int>(threadIdx.x);
      columns[i] = e < n_entries ? __ldcs(matrix.column + first_entry + e) : 0;
      values[i] = e < n_entries ? __ldcs(matrix.value + first_entry + e) : Number(0);
    }
    for (int r = static_cast<int>(threadIdx.x); r < n_rows; r += merge_threads)
      row_ends[r] = matrix.row_begin[first_row + r + 1] - first_entry;
#pragma unroll
    for (int i = 0; i < steps_per_thread; ++i)
    {
      const int e = i * merge_threads + static_cast<int>(threadIdx.x);
      if (e < n_entries)
        products[e] = values[i] * __ldg(x + columns[i]);
    }
    __syncthreads();

    const Tile<Number> part{products, row_ends, first_row, n_rows, n_entries};
    Carry<Number> carry{-1, 0}; // of the thread that has the last row
    if (n_rows < few_rows)
      for (int row = 0; row <= n_rows; ++row)
      {
        Number own = 0;
        for (int e = part.begin(row) + static_cast<int>(threadIdx.x); e < part.end(row);
             e += merge_threads)
          own += products[e];
        const Number sum = block_sum(own);
        if (threadIdx.x == 0)
          finish(part, row, sum, y, carry);
      }
    else if (n_entries < 10 * n_rows)
      sum_rows<1>(part, y, carry);
    else if (n_entries < 20 * n_rows)
      sum_rows<2>(part, y, carry);
    else if (n_entries < 48 * n_rows)
      sum_rows<4>(part, y, carry);
    else if (n_entries < 160 * n_rows)
      sum_rows<16>(part, y, carry);
    else
      sum_rows<32>(part, y, carry);
    if (carry.row >= 0)
      carries[blockIdx.x] = carry;
  }

  /// What blocks leave of rows that others end. The warp of the first of several blocks with the same row adds them all.
  template <typename Number>
  __global__ void __launch_bounds__(threads)
      carry_kernel(std::int32_t rows, std::int64_t blocks, const Carry<Number> *carries, Number *y)
  {
    constexpr int at_once = 4; ///< of a lane: a dense row crosses thousands of blocks
    const std::int64_t block =
        static_cast<std::int64_t>(blockIdx.x) * (threads / warp) + threadIdx.x / warp;
    const int lane = static_cast<int>(threadIdx.x) % warp;
    if (block >= blocks)
      return;
    const std::int32_t row = carries[block].row;
    if (row >= rows || (block > 0 && carries[block - 1].row == row))
      return;
    Number sum = 0;
    bool has_more = true; // the rows of carries do not descend
    for (std::int64_t b = block + lane; __any_sync(all_lanes, has_more); b += warp * at_once)
#pragma unroll
      for (int i = 0; i < at_once; ++i)
      {
        const std::int64_t at = b + i * warp;
        const Carry<Number> carry = carries[at < blocks ? at : blocks - 1];
        has_more = at < blocks && carry.row == row;
        sum += has_more ? carry.sum : Number(0);
      }
#pragma unroll
    for (int distance = warp / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(all_lanes, sum, distance);
    if (lane == 0)
      y[row] += sum;
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
      dim3(static_cast<unsigned>(tiles / threads + 1)), dim3(threads), 0, stream, matrix.rows,
      entries, matrix.row_begin, tiles, first_rows);
}

template <typename Number>
void cuda_merge(const Csr<Number> &matrix, std::int32_t entries, const std::int32_t *first_rows,
    const Number *x, Number *y, Carry<Number> *carries, Stream stream)
{
  const std::int64_t blocks = merge_blocks(matrix.rows, entries);
  if (matrix.rows == 0)
    return;
  launch("launching the sparse product by merge path", merge_kernel<Number>,
      dim3(static_cast<unsigned>(blocks)), dim3(merge_threads), 0, stream, matrix, entries,
      first_rows, x, y, carries);
  constexpr int warps = threads / warp;
  launch("launching the carries of the sparse product", carry_kernel<Number>,
      dim3(static_cast<unsigned>((blocks + warps - 1) / warps)), dim3(threads), 0, stream,
      matrix.rows, blocks, static_cast<const Carry<Number> *>(carries), y);
}

template void cuda_vector(const Csr<double> &, std::int32_t, const double *, double *, int, Stream);
template void cuda_vector(const Csr<float> &, std::int32_t, const float *, float *, int, Stream);
template void find_merge_rows(const Csr<double> &, std::int32_t, std::int32_t *, Stream);
template void cuda_merge(const Csr<double> &, std::int32_t, const std::int32_t *, const double *,
    double *, Carry<double> *, Stream);
template void find_merge_rows(const Csr<float> &, std::int32_t, std::int32_t *, Stream);
template void cuda_merge(const Csr<float> &, std::int32_t, const std::int32_t *, const float *,
    float *, Carry<float> *, Stream);
} // namespace tensormg::spmv
