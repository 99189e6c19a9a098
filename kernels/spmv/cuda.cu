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

  template <int lanes, typename Number>
  __global__ void __launch_bounds__(threads)
      vector_kernel(Csr<Number> matrix, const Number *__restrict__ x, Number *__restrict__ y)
  {
    const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    const std::int64_t row = thread / lanes;
    const int lane = static_cast<int>(thread % lanes);
    Number sum = 0;
    // The shuffles below need all lanes: no early return.
    if (row < matrix.rows)
    {
      const std::int32_t end = matrix.row_begin[row + 1];
      for (std::int32_t e = matrix.row_begin[row] + lane; e < end; e += lanes)
        sum += __ldcs(matrix.value + e) * __ldg(x + __ldcs(matrix.column + e));
    }
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(all_lanes, sum, distance);
    if (lane == 0 && row < matrix.rows)
      y[row] = sum;
  }

  template <int lanes, typename Number>
  void launch_vector(const Csr<Number> &matrix, const Number *x, Number *y, Stream stream)
  {
    const std::int64_t rows_per_block = threads / lanes;
    const auto blocks = static_cast<unsigned>((matrix.rows + rows_per_block - 1) / rows_per_block);
    launch("launching the sparse product by rows", vector_kernel<lanes, Number>, dim3(blocks),
        dim3(threads), 0, stream, matrix, x, y);
  }

  // The merge path: a block takes a tile of rows and entries, a thread a part of the tile.

  constexpr int steps_per_thread = 8;
  constexpr int tile = threads * steps_per_thread;

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

  /// Sums of equal rows run together: what the threads before leave of a row, and this one.
  template <typename Number>
  __device__ Carry<Number> join(const Carry<Number> &before, const Carry<Number> &own)
  {
    return {own.row, before.row == own.row ? before.sum + own.sum : own.sum};
  }

  template <typename Number>
  __device__ Carry<Number> from_lane_below(const Carry<Number> &carry, int distance)
  {
    return {__shfl_up_sync(all_lanes, carry.row, distance),
        __shfl_up_sync(all_lanes, carry.sum, distance)};
  }

  /// The carries of all threads up to and with this one, joined; in `before` those without this one (of
  /// thread 0: a row that does not exist).
  template <typename Number>
  __device__ Carry<Number> join_block(const Carry<Number> &own, Carry<Number> &before)
  {
    __shared__ std::int32_t warp_rows[threads / warp];
    __shared__ Number warp_sums[threads / warp];
    const int lane = static_cast<int>(threadIdx.x) % warp, w = static_cast<int>(threadIdx.x) / warp;
    Carry<Number> joined = own;
#pragma unroll
    for (int distance = 1; distance < warp; distance *= 2)
    {
      const Carry<Number> other = from_lane_below(joined, distance);
      if (lane >= distance)
        joined = join(other, joined);
    }
    if (lane == warp - 1)
    {
      warp_rows[w] = joined.row;
      warp_sums[w] = joined.sum;
    }
    __syncthreads();
    Carry<Number> of_warps_below{-1, 0}; // joins to what follows
    for (int i = 0; i < w; ++i)
      of_warps_below = join(of_warps_below, Carry<Number>{warp_rows[i], warp_sums[i]});
    before = from_lane_below(joined, 1);
    before = lane == 0 ? of_warps_below : w > 0 ? join(of_warps_below, before) : before;
    return w > 0 ? join(of_warps_below, joined) : joined;
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads) merge_kernel(Csr<Number> matrix, std::int32_t entries,
      const Number *__restrict__ x, Number *__restrict__ y, Carry<Number> *__restrict__ carries)
  {
    __shared__ Number products[tile];
    __shared__ std::int32_t row_ends[tile + 1];
    __shared__ std::int32_t border_rows[2];

    const std::int64_t steps = static_cast<std::int64_t>(matrix.rows) + entries;
    const std::int64_t first_step = static_cast<std::int64_t>(blockIdx.x) * tile;
    const std::int64_t last_step = first_step + tile < steps ? first_step + tile : steps;
    if (threadIdx.x < 2)
      border_rows[threadIdx.x] = find_row(
          threadIdx.x == 0 ? first_step : last_step, matrix.row_begin + 1, matrix.rows, entries);
    __syncthreads();
    const std::int32_t first_row = border_rows[0], n_rows = border_rows[1] - first_row;
    const auto first_entry = static_cast<std::int32_t>(first_step - first_row);
    const auto n_entries = static_cast<std::int32_t>(last_step - first_step) - n_rows;

    for (int e = static_cast<int>(threadIdx.x); e < n_entries; e += threads)
      products[e] = __ldcs(matrix.value + first_entry + e) *
          __ldg(x + __ldcs(matrix.column + first_entry + e));
    // The row behind those that end here is the one that the last threads leave; beyond the matrix it
    // must not seem to end.
    for (int r = static_cast<int>(threadIdx.x); r <= n_rows; r += threads)
      row_ends[r] = first_row + r < matrix.rows ? matrix.row_begin[first_row + r + 1] - first_entry
                                                : n_entries + 1;
    __syncthreads();

    const int total = n_rows + n_entries;
    const int wanted = static_cast<int>(threadIdx.x) * steps_per_thread;
    const int begin = wanted < total ? wanted : total;
    const int end = begin + steps_per_thread < total ? begin + steps_per_thread : total;
    int row = find_row(begin, row_ends, n_rows, n_entries), entry = begin - row;
    const int start_row = row;
    Number sum = 0, first_sum = 0;
    for (int step = begin; step < end; ++step)
      if (entry < row_ends[row])
        sum += products[entry++];
      else
      {
        // The first row that ends may have begun in threads below.
        if (row == start_row)
          first_sum = sum;
        else
          y[first_row + row] = sum;
        ++row;
        sum = 0;
      }
    Carry<Number> before;
    const Carry<Number> joined = join_block<Number>({row, sum}, before);
    if (row > start_row)
      y[first_row + start_row] = first_sum + (before.row == start_row ? before.sum : Number(0));
    if (threadIdx.x == threads - 1)
      carries[blockIdx.x] = {first_row + joined.row, joined.sum};
  }

  /// What blocks leave of rows that others end. The first of several blocks with the same row adds them all.
  template <typename Number>
  __global__ void __launch_bounds__(threads)
      carry_kernel(std::int32_t rows, std::int64_t blocks, const Carry<Number> *carries, Number *y)
  {
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (block >= blocks)
      return;
    const std::int32_t row = carries[block].row;
    if (row >= rows || (block > 0 && carries[block - 1].row == row))
      return;
    Number sum = 0;
    for (std::int64_t b = block; b < blocks && carries[b].row == row; ++b)
      sum += carries[b].sum;
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
void cuda_merge(const Csr<Number> &matrix, std::int32_t entries, const Number *x, Number *y,
    Carry<Number> *carries, Stream stream)
{
  const std::int64_t blocks = merge_blocks(matrix.rows, entries);
  if (matrix.rows == 0)
    return;
  launch("launching the sparse product by merge path", merge_kernel<Number>,
      dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, stream, matrix, entries, x, y,
      carries);
  launch("launching the carries of the sparse product", carry_kernel<Number>,
      dim3(static_cast<unsigned>((blocks + threads - 1) / threads)), dim3(threads), 0, stream,
      matrix.rows, blocks, static_cast<const Carry<Number> *>(carries), y);
}

template void cuda_vector(const Csr<double> &, std::int32_t, const double *, double *, int, Stream);
template void cuda_vector(const Csr<float> &, std::int32_t, const float *, float *, int, Stream);
template void cuda_merge(
    const Csr<double> &, std::int32_t, const double *, double *, Carry<double> *, Stream);
template void cuda_merge(
    const Csr<float> &, std::int32_t, const float *, float *, Carry<float> *, Stream);
} // namespace tensormg::spmv
