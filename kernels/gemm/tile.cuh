// From memory to shared memory and to fragments: the parts of a block's work that the rungs of the ladder
// differ in.
#pragma once

#include <cstdint>

#include "kernels/core/copy_async.cuh"
#include "kernels/gemm/arithmetic.cuh"
#include "kernels/mma/shared_layout.h"

namespace tensormg::gemm
{
/// How numbers come to shared memory.
enum class Copies : std::uint8_t
{
  numbers, ///< one by one
  words,   ///< 16 bytes by registers
  async    ///< 16 bytes by cp.async
};

/// How fragments come from shared memory.
enum class Fill : std::uint8_t
{
  numbers,
  ldmatrix
};

/// Copies tiles of rows x columns numbers, one after the other along a matrix, to shared memory; what lies
/// beyond the matrix is zero.
template <typename Stored, typename Layout, int rows, int columns, int threads, Copies copies>
class TileLoader
{
public:
  /// The matrix is n_rows x n_columns; a tile begins at row `first_row`.
  __device__ TileLoader(const Stored *matrix, int n_rows, int n_columns)
    : matrix_(matrix)
    , n_rows_(n_rows)
    , n_columns_(n_columns)
    , in_words_(copies != Copies::numbers && n_columns % per_word == 0)
  {}

  __device__ void load(int first_row, int first_column, Stored *tile) const
  {
    if constexpr (copies != Copies::numbers)
      if (in_words_)
        return load_words(first_row, first_column, tile);
    load_numbers(first_row, first_column, tile);
  }

private:
  static constexpr int per_word = 16 / static_cast<int>(sizeof(Stored));
  static constexpr int words_per_row = columns / per_word;
  static constexpr int rows_at_once = threads / words_per_row;
  static_assert(copies == Copies::numbers ||
      (columns % per_word == 0 && threads % words_per_row == 0 && rows % rows_at_once == 0 &&
          mma::is_vectorizable<Layout>(rows, columns, per_word)));

  __device__ void load_words(int first_row, int first_column, Stored *tile) const
  {
    const int row = static_cast<int>(threadIdx.x) / words_per_row;
    const int column = static_cast<int>(threadIdx.x) % words_per_row * per_word;
    const Stored *from =
        matrix_ + static_cast<std::int64_t>(first_row + row) * n_columns_ + first_column + column;
    const bool has_column = first_column + column < n_columns_;
    constexpr int n_words = rows / rows_at_once;
    if constexpr (copies == Copies::async)
    {
#pragma unroll
      for (int i = 0; i < n_words; ++i)
      {
        Stored *const to = tile + Layout()(row + i * rows_at_once, column);
        if (has_column && first_row + row + i * rows_at_once < n_rows_)
          copy_async(to, from + static_cast<std::int64_t>(i) * rows_at_once * n_columns_);
        else
          *reinterpret_cast<uint4 *>(to) = uint4{};
      }
    }
    else
    {
      uint4 words[n_words]{};
#pragma unroll
      for (int i = 0; i < n_words; ++i)
        if (has_column && first_row + row + i * rows_at_once < n_rows_)
          words[i] = __ldg(reinterpret_cast<const uint4 *>(
              from + static_cast<std::int64_t>(i) * rows_at_once * n_columns_));
#pragma unroll
      for (int i = 0; i < n_words; ++i)
        *reinterpret_cast<uint4 *>(tile + Layout()(row + i * rows_at_once, column)) = words[i];
    }
  }

  __device__ void load_numbers(int first_row, int first_column, Stored *tile) const
  {
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < rows * columns; i += threads)
    {
      const int row = i / columns, column = i % columns;
      const bool is_inside = first_row + row < n_rows_ && first_column + column < n_columns_;
      tile[Layout()(row, column)] = is_inside
          ? matrix_[static_cast<std::int64_t>(first_row + row) * n_columns_ + first_column + column]
          : Stored{};
    }
  }

  const Stored *matrix_;
  int n_rows_, n_columns_;
  bool in_words_;
};

/// The factor of the operand's tile at (row, column) of a tile in shared memory: A as [i][k], B as [k][j].
template <Fill fill, typename Layout, typename Policy, Operand operand, typename Factor>
__device__ void fill_factor(
    Factor &factor, const typename Policy::Stored *tile, int row, int column, int lane)
{
  using S = typename Policy::S;
  if constexpr (fill == Fill::ldmatrix)
  {
    constexpr auto form =
        operand == Operand::a ? mma::LdmatrixForm::plain : mma::LdmatrixForm::transposed;
    const mma::Entry at = mma::ldmatrix_row<S, operand>(form, lane);
    mma::ldmatrix<form>(factor.part, tile + Layout()(row + at.row, column + at.column));
  }
  else if constexpr (is_opaque<S>)
  {
    PartOf<S, operand> raw;
    nvcuda::wmma::load_matrix_sync(
        raw.fragment, tile + Layout()(row, column), static_cast<unsigned>(Layout()(1, 0)));
#pragma unroll
    for (int e = 0; e < PartOf<S, operand>::n_elements; ++e)
      factor.set(e, raw.fragment.x[e]);
  }
  else
  {
#pragma unroll
    for (int e = 0; e < PartOf<S, operand>::n_elements; ++e)
    {
      const mma::Entry at = part_entry<S, operand>(lane, e);
      factor.set(e, tile[Layout()(row + at.row, column + at.column)]);
    }
  }
}
} // namespace tensormg::gemm
