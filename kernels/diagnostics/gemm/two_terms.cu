#include "kernels/diagnostics/gemm/two_terms.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/core/divisor.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/pipeline.cuh"
#include "kernels/diagnostics/gemm/two_terms.cuh"

namespace tensormg::gemm
{
namespace
{
  constexpr int threads = 256, width = 4;                  ///< numbers of a thread at a time
  constexpr int piece = 64, piece_threads = piece / width; ///< columns; rows are whole pieces
  constexpr int pieces_of_thread = 4;
  constexpr int pieces_of_block = threads / piece_threads * pieces_of_thread;

  struct Pieces
  {
    TwoTerms matrix;
    Divisor of_row;
    std::uint32_t count;

    explicit Pieces(const TwoTerms &m)
      : matrix(m)
      , of_row(static_cast<std::uint32_t>(
            std::max<std::int64_t>(1, aligned_columns(m.columns) / piece)))
      , count(static_cast<std::uint32_t>(m.numbers_of_term() / piece))
    {}
  };

  /// The numbers of a thread in a piece. Rows of a multiple of four numbers are read 16 bytes at a time.
  __device__ float4 load(const TwoTerms &matrix, std::int64_t row, std::int64_t column)
  {
    const float *const from = matrix.from + row * matrix.columns + column;
    const std::int64_t left = matrix.columns - column;
    if (matrix.columns % width == 0)
      return left > 0 ? *reinterpret_cast<const float4 *>(from) : make_float4(0.F, 0.F, 0.F, 0.F);
    return make_float4(left > 0 ? from[0] : 0.F, left > 1 ? from[1] : 0.F, left > 2 ? from[2] : 0.F,
        left > 3 ? from[3] : 0.F);
  }

  __global__ void __launch_bounds__(threads)
      split_kernel(const __grid_constant__ Pieces first, const __grid_constant__ Pieces second)
  {
    pipeline::wait_for_kernel_before();
    pipeline::let_next_kernel_start();
    const int thread = static_cast<int>(threadIdx.x), in_piece = thread % piece_threads * width;
    float4 numbers[pieces_of_thread];
    Half *to[pieces_of_thread];
    std::int64_t term[pieces_of_thread];
#pragma unroll
    for (int i = 0; i < pieces_of_thread; ++i)
    {
      const std::uint32_t index = blockIdx.x * pieces_of_block +
          static_cast<std::uint32_t>(i * (threads / piece_threads) + thread / piece_threads);
      const bool is_first = index < first.count;
      const Pieces &pieces = is_first ? first : second;
      const std::uint32_t of_matrix = is_first ? index : index - first.count;
      to[i] = nullptr;
      if (of_matrix >= pieces.count)
        continue;
      const std::uint32_t row = pieces.of_row.quotient(of_matrix);
      const std::int64_t column =
          std::int64_t(pieces.of_row.remainder(of_matrix, row)) * piece + in_piece;
      numbers[i] = load(pieces.matrix, row, column);
      to[i] = pieces.matrix.to + std::int64_t(of_matrix) * piece + in_piece;
      term[i] = pieces.matrix.numbers_of_term();
    }
#pragma unroll
    for (int i = 0; i < pieces_of_thread; ++i)
    {
      if (to[i] == nullptr)
        continue;
      const Split left(numbers[i].x, numbers[i].y), right(numbers[i].z, numbers[i].w);
      *reinterpret_cast<uint2 *>(to[i]) = make_uint2(left.big, right.big);
      *reinterpret_cast<uint2 *>(to[i] + term[i]) = make_uint2(left.small, right.small);
    }
  }
} // namespace

void split_in_two_terms(const TwoTerms &first, const TwoTerms &second, Stream stream)
{
  const std::int64_t all = (first.numbers_of_term() + second.numbers_of_term()) / piece;
  if (all > Divisor::largest_dividend)
    throw std::length_error("matrices of " + std::to_string(all * piece) + " numbers to split");
  const std::int64_t blocks = (all + pieces_of_block - 1) / pieces_of_block;
  if (blocks > 0)
    launch_overlapping("splitting matrices in two terms", split_kernel,
        dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, stream, Pieces(first),
        Pieces(second));
}
} // namespace tensormg::gemm
