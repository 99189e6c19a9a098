// Products of small matrices with a direction of arrays of numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/laplace/pointwise/lanes.h"

namespace tensormg
{
/// rows x columns numbers: entry (r, c) is data[r * row_step + c * column_step].
struct SmallMatrix
{
  const double *data;
  std::size_t rows, columns, row_step, column_step;

  static SmallMatrix by_rows(const std::vector<double> &numbers, std::size_t columns)
  {
    return {numbers.data(), numbers.size() / columns, columns, columns, 1};
  }
  SmallMatrix transposed() const { return {data, columns, rows, column_step, row_step}; }
};

/// to[.., r, ..] = sum over c of matrix(r, c) from[.., c, ..] of a direction whose numbers are `stride` apart. Fast for
/// strides 1, columns and columns^2 with 2 to max_n columns: of lattices, from the last direction on.
std::vector<double> contracted(
    const std::vector<double> &from, const SmallMatrix &matrix, std::size_t stride);

/// `numbers` of cells side by side take the place of what contracted() makes of them; `scratch` keeps its memory.
void contract(std::vector<Lanes> &numbers, const SmallMatrix &matrix, std::size_t stride,
    std::vector<Lanes> &scratch);
} // namespace tensormg
