#include "kernels/diagnostics/sparse/sliced_ell.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/core/in_double.h"

namespace tensormg::sparse
{
namespace
{
  constexpr std::int64_t slice_rows = SlicedEll<double>::slice;

  std::int64_t slices_of(const SparseMatrix<double> &matrix)
  {
    return (matrix.rows + slice_rows - 1) / slice_rows;
  }

  std::int64_t width_of(const SparseMatrix<double> &matrix, std::int64_t slice)
  {
    const std::int64_t end = std::min<std::int64_t>(matrix.rows, (slice + 1) * slice_rows);
    std::int32_t width = 0;
    for (std::int64_t row = slice * slice_rows; row < end; ++row)
      width = std::max(width, matrix.row_begin[row + 1] - matrix.row_begin[row]);
    return width;
  }

  std::int64_t stored_by(const SparseMatrix<double> &matrix)
  {
    std::int64_t stored = 0;
    for (std::int64_t slice = 0; slice < slices_of(matrix); ++slice)
      stored += width_of(matrix, slice) * slice_rows;
    return stored;
  }
} // namespace

double filling_of_sliced_ell(const SparseMatrix<double> &matrix)
{
  return matrix.entries() == 0
      ? 0.
      : static_cast<double>(stored_by(matrix)) / static_cast<double>(matrix.entries());
}

template <typename Number>
SlicedEll<Number> make_sliced_ell(const SparseMatrix<double> &matrix, const ForParts &for_parts)
{
  const std::int64_t stored = stored_by(matrix);
  if (stored > std::numeric_limits<std::int32_t>::max())
    throw std::length_error("sliced ELL would store " + std::to_string(stored) + " numbers");
  SlicedEll<Number> result;
  result.rows = matrix.rows;
  result.columns = matrix.columns;
  result.entries = matrix.entries();
  const std::int64_t slices = slices_of(matrix);
  result.slice_begin = Array<std::int32_t>(slices + 1);
  for (std::int64_t slice = 0; slice < slices; ++slice)
    result.slice_begin[slice + 1] =
        static_cast<std::int32_t>(result.slice_begin[slice] + width_of(matrix, slice) * slice_rows);
  result.column = Array<std::int32_t>(stored);
  result.value = Array<Number>(stored);
  for_parts(slices, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slice = begin; slice < end; ++slice)
    {
      std::fill(result.column.begin() + result.slice_begin[slice],
          result.column.begin() + result.slice_begin[slice + 1], -1);
      const std::int64_t last = std::min<std::int64_t>(matrix.rows, (slice + 1) * slice_rows);
      for (std::int64_t row = slice * slice_rows; row < last; ++row)
        for (std::int32_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e)
        {
          const std::int64_t at = result.slice_begin[slice] +
              (e - matrix.row_begin[row]) * slice_rows + row % slice_rows;
          result.column[at] = matrix.column[e];
          result.value[at] = rounded<Number>(matrix.value[e]);
        }
    }
  });
  return result;
}

template SlicedEll<double> make_sliced_ell(const SparseMatrix<double> &, const ForParts &);
template SlicedEll<float> make_sliced_ell(const SparseMatrix<double> &, const ForParts &);
template SlicedEll<Half> make_sliced_ell(const SparseMatrix<double> &, const ForParts &);
} // namespace tensormg::sparse
