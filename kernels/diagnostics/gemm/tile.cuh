// From memory to shared memory and to fragments: the parts of a block's work that the rungs of the ladder
// differ in.
#pragma once

#include <cstdint>

#include "kernels/device/copy_async.cuh"
#include "kernels/diagnostics/gemm/arithmetic.cuh"
#include "kernels/mma/bank_conflicts.h"
#include "kernels/mma/shared_layout.h"

namespace tensormg::gemm
{
/// How numbers come to shared memory.
enum class Copies : std::uint8_t
{
  numbers,      ///< one by one
  words,        ///< 16 bytes by registers
  async,        ///< 16 bytes by cp.async
  async_numbers ///< one by one by cp.async, which takes 4 and 8 bytes
};

/// How fragments come from shared memory.
enum class Fill : std::uint8_t
{
  numbers,
  ldmatrix,
  vectors ///< neighbours in a row at once, for CudaVectors
};

template <typename Stored>
inline constexpr int numbers_per_word = 16 / static_cast<int>(sizeof(Stored));

/// Whether rows `period` further on lie equally far behind everywhere, as they do after whole periods of a swizzle:
/// then addresses of one row are enough for all.
template <typename Layout, int period>
consteval bool repeats(int rows, int columns)
{
  for (int row = 0; row + period < rows; ++row)
    for (int column = 0; column < columns; ++column)
      if (Layout()(row + period, column) - Layout()(row, column) !=
          Layout()(period, 0) - Layout()(0, 0))
        return false;
  return true;
}

/// The distance of rows `rows` further on, a multiple of the period.
template <typename Layout>
__device__ constexpr int distance(int rows)
{
  return Layout()(rows, 0) - Layout()(0, 0);
}

/// Copies tiles of rows x columns numbers, one after the other along a matrix, to shared memory; what lies
/// beyond the matrix is zero. Copies of words need rows of whole words.
template <typename Stored, typename Layout, int rows, int columns, int threads, Copies copies>
class TileLoader
{
public:
  /// The matrix is n_rows x n_columns; a tile begins at row `first_row`.
  __device__ TileLoader(const Stored *matrix, int n_rows, int n_columns)
    : matrix_(matrix)
    , n_rows_(n_rows)
    , n_columns_(n_columns)
  {}

  __device__ void load(int first_row, int first_column, Stored *tile) const
  {
    if constexpr (copies == Copies::numbers)
      load_numbers(first_row, first_column, tile);
    else
      load_words(first_row, first_column, tile);
  }

private:
  static constexpr int per_word = copies == Copies::async_numbers ? 1 : numbers_per_word<Stored>;
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
    // None where the columns end before this word.
    const int rows_left = first_column + column < n_columns_ ? n_rows_ - first_row - row : 0;
    constexpr int n_words = rows / rows_at_once;
    if constexpr (copies == Copies::async || copies == Copies::async_numbers)
    {
      constexpr int bytes = per_word * static_cast<int>(sizeof(Stored));
      static_assert(repeats<Layout, rows_at_once>(rows, columns));
      const SharedAddress to = shared_address(tile + Layout()(row, column));
#pragma unroll
      for (int i = 0; i < n_words; ++i)
        copy_async_or_zero<bytes>(
            to + i * distance<Layout>(rows_at_once) * static_cast<int>(sizeof(Stored)),
            from + static_cast<std::int64_t>(i) * rows_at_once * n_columns_,
            i * rows_at_once < rows_left);
    }
    else
    {
      uint4 words[n_words]{};
#pragma unroll
      for (int i = 0; i < n_words; ++i)
        if (i * rows_at_once < rows_left)
          words[i] = __ldg(reinterpret_cast<const uint4 *>(
              from + static_cast<std::int64_t>(i) * rows_at_once * n_columns_));
#pragma unroll
      for (int i = 0; i < n_words; ++i)
        *reinterpret_cast<uint4 *>(tile + Layout()(row + i * rows_at_once, column)) = words[i];
    }
  }

  /// Several numbers are loaded before any is stored: the compiler does not know that they are not the same.
  __device__ void load_numbers(int first_row, int first_column, Stored *tile) const
  {
    constexpr int at_once = sizeof(Stored) > 4 ? 4 : 8, numbers = rows * columns;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x); first < numbers; first += at_once * threads)
    {
      Stored x[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j)
      {
        const int i = first + j * threads;
        const int row = first_row + i / columns, column = first_column + i % columns;
        const bool is_inside = i < numbers && row < n_rows_ && column < n_columns_;
        x[j] = is_inside ? matrix_[static_cast<std::int64_t>(row) * n_columns_ + column] : Stored{};
      }
#pragma unroll
      for (int j = 0; j < at_once; ++j)
        if (const int i = first + j * threads; i < numbers)
          tile[Layout()(i / columns, i % columns)] = x[j];
    }
  }

  const Stored *matrix_;
  int n_rows_, n_columns_;
};

/// How often lanes of CudaVectors wait for each other's banks, of one factor of A and one of B.
template <typename S, typename LayoutA, typename LayoutB>
consteval int vector_conflicts()
{
  constexpr int size = static_cast<int>(sizeof(typename S::Multiplicand));
  int conflicts = mma::wavefronts(
      mma::make_addresses([](int lane) { return LayoutA()(S::row(lane), 0) * size; }),
      S::width * size)
                      .conflicts();
  for (int row = 0; row < S::k; ++row)
    conflicts += mma::wavefronts(
        mma::make_addresses([&](int lane) { return LayoutB()(row, S::column(lane)) * size; }),
        S::width * size)
                     .conflicts();
  return conflicts;
}

/// Vectors of the part of the operand's tile at (row, column) of a tile in shared memory.
template <typename Layout, typename Policy, Operand operand, typename Factor>
__device__ void fill_by_vectors(
    Factor &factor, const typename Policy::Stored *tile, int row, int column, int lane)
{
  using S = typename Policy::S;
  constexpr int width = S::width;
  struct alignas(width * sizeof(typename Policy::Stored)) Vector
  {
    typename Policy::Stored numbers[width];
  };
#pragma unroll
  for (int e = 0; e < PartOf<S, operand>::n_elements; e += width)
  {
    const mma::Entry at = part_entry<S, operand>(lane, e);
    const Vector vector =
        *reinterpret_cast<const Vector *>(tile + Layout()(row + at.row, column + at.column));
#pragma unroll
    for (int i = 0; i < width; ++i)
      factor.set(e + i, vector.numbers[i]);
  }
}

/// The factor of the operand's tile at (row + by_rows, column) of a tile in shared memory: A as [i][k], B as [k][j].
/// The layout repeats itself after `by_rows` rows.
template <Fill fill, typename Layout, typename Policy, Operand operand, typename Factor>
__device__ void fill_factor(
    Factor &factor, const typename Policy::Stored *tile, int row, int by_rows, int column, int lane)
{
  using S = typename Policy::S;
  tile += distance<Layout>(by_rows);
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

/// Two factors of B side by side by one ldmatrix, which fills four registers: those of a factor of A, whose shape has
/// twice the rows that B has columns.
template <typename Layout, typename Policy, typename Factor>
__device__ void fill_factors_of_b(Factor &left, Factor &right, const typename Policy::Stored *tile,
    int row, int by_rows, int column, int lane)
{
  using S = typename Policy::S;
  static_assert(S::k == 16 && S::n == 8 && mma::FragmentA<S>::n_registers == 4);
  // Lanes 0 to 15 name the rows of the left factor, the others those of the right one.
  const mma::Entry at{lane % 16, lane / 16 * S::n};
  mma::FragmentA<S> both;
  mma::ldmatrix<mma::LdmatrixForm::transposed>(
      both, tile + distance<Layout>(by_rows) + Layout()(row + at.row, column + at.column));
#pragma unroll
  for (int r = 0; r < 2; ++r)
  {
    left.part.registers[r] = both.registers[r];
    right.part.registers[r] = both.registers[2 + r];
  }
}
} // namespace tensormg::gemm
