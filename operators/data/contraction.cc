#include "operators/data/contraction.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "kernels/core/block.h"

namespace tensormg
{
namespace
{
  /// `outer` times `columns` lines of `stride` numbers. Loops of constant length: they are short.
  template <std::size_t columns, std::size_t stride>
  void contract_lines(const double *from, std::size_t outer, const SmallMatrix &matrix, double *to)
  {
    for (std::size_t o = 0; o < outer; ++o, from += columns * stride)
      for (std::size_t r = 0; r < matrix.rows; ++r, to += stride)
      {
        std::array<double, stride> sums{};
        for (std::size_t c = 0; c < columns; ++c)
        {
          const double factor = matrix.data[r * matrix.row_step + c * matrix.column_step];
          for (std::size_t s = 0; s < stride; ++s)
            sums[s] += factor * from[c * stride + s];
        }
        std::copy(sums.begin(), sums.end(), to);
      }
  }

  /// The same for a stride of 1 and as many rows as columns.
  template <std::size_t columns>
  void contract_square(const double *from, std::size_t outer, const SmallMatrix &matrix, double *to)
  {
    std::array<double, columns * columns> by_columns;
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < columns; ++r)
        by_columns[c * columns + r] = matrix.data[r * matrix.row_step + c * matrix.column_step];
    for (std::size_t o = 0; o < outer; ++o, from += columns, to += columns)
    {
      std::array<double, columns> sums{};
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t r = 0; r < columns; ++r)
          sums[r] += from[c] * by_columns[c * columns + r];
      std::copy(sums.begin(), sums.end(), to);
    }
  }

  void contract_any(const double *from, std::size_t outer, const SmallMatrix &matrix,
      std::size_t stride, double *to)
  {
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t r = 0; r < matrix.rows; ++r)
        for (std::size_t c = 0; c < matrix.columns; ++c)
        {
          const double factor = matrix.data[r * matrix.row_step + c * matrix.column_step];
          for (std::size_t s = 0; s < stride; ++s)
            to[(o * matrix.rows + r) * stride + s] +=
                factor * from[(o * matrix.columns + c) * stride + s];
        }
  }

  /// Whether there is code of constant lengths, which then has run.
  template <std::size_t columns>
  bool contract(const double *from, std::size_t outer, const SmallMatrix &matrix,
      std::size_t stride, double *to)
  {
    if (matrix.columns != columns)
      return false;
    if (stride == 1 && matrix.rows == columns)
      contract_square<columns>(from, outer, matrix, to);
    else if (stride == 1)
      contract_lines<columns, 1>(from, outer, matrix, to);
    else if (stride == columns)
      contract_lines<columns, columns>(from, outer, matrix, to);
    else if (stride == columns * columns)
      contract_lines<columns, columns * columns>(from, outer, matrix, to);
    else
      return false;
    return true;
  }
} // namespace

std::vector<double> contracted(
    const std::vector<double> &from, const SmallMatrix &matrix, std::size_t stride)
{
  const std::size_t outer = from.size() / (stride * matrix.columns);
  std::vector<double> to(outer * matrix.rows * stride, 0.);
  const bool is_done = [&]<std::size_t... i>(std::index_sequence<i...>)
  {
    return (contract<i + 2>(from.data(), outer, matrix, stride, to.data()) || ...);
  }
  (std::make_index_sequence<max_n - 1>());
  if (!is_done)
    contract_any(from.data(), outer, matrix, stride, to.data());
  return to;
}

namespace
{
  /// The same of numbers of cells side by side.
  template <std::size_t columns>
  void contract_lanes(const Lanes *from, std::size_t outer, const SmallMatrix &matrix,
      std::size_t stride, Lanes *to)
  {
    for (std::size_t o = 0; o < outer; ++o, from += columns * stride)
      for (std::size_t r = 0; r < matrix.rows; ++r, to += stride)
      {
        const double *const row = matrix.data + r * matrix.row_step;
        std::array<double, columns> factors;
        for (std::size_t c = 0; c < columns; ++c)
          factors[c] = row[c * matrix.column_step];
        for (std::size_t s = 0; s < stride; ++s)
        {
          Lanes sum = factors[0] * from[s];
          for (std::size_t c = 1; c < columns; ++c)
            sum += factors[c] * from[c * stride + s];
          to[s] = sum;
        }
      }
  }
} // namespace

void contract(std::vector<Lanes> &numbers, const SmallMatrix &matrix, std::size_t stride,
    std::vector<Lanes> &scratch)
{
  if (matrix.columns > max_n)
    throw std::length_error("contract(): matrices have columns for polynomials of a cell");
  const std::size_t outer = numbers.size() / (stride * matrix.columns);
  scratch.resize(outer * matrix.rows * stride);
  const auto contract_if = [&]<std::size_t columns>(std::integral_constant<std::size_t, columns>) {
    if (matrix.columns == columns)
      contract_lanes<columns>(numbers.data(), outer, matrix, stride, scratch.data());
  };
  [&]<std::size_t... i>(std::index_sequence<i...>)
  {
    (contract_if(std::integral_constant<std::size_t, i + 1>()), ...);
  }
  (std::make_index_sequence<max_n>());
  numbers.swap(scratch);
}
} // namespace tensormg
