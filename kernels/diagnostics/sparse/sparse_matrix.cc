#include "kernels/diagnostics/sparse/sparse_matrix.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace tensormg::sparse
{
void check_size(std::int64_t rows, std::int64_t columns, std::int64_t entries)
{
  for (const auto &[name, size] :
      {std::pair{"rows", rows}, {"columns", columns}, {"entries", entries}})
    if (size < 0 || size > max_size)
      throw std::length_error("a matrix with " + std::to_string(size) + ' ' + name +
          "; allowed are 0 to " + std::to_string(max_size));
}

double matrix_bytes(std::int64_t rows, std::int64_t entries, std::size_t number_bytes)
{
  return 4. * static_cast<double>(rows + 1) +
      (4. + static_cast<double>(number_bytes)) * static_cast<double>(entries);
}

template <typename To, typename From>
SparseMatrix<To> convert(const SparseMatrix<From> &matrix)
{
  SparseMatrix<To> result;
  result.rows = matrix.rows;
  result.columns = matrix.columns;
  result.row_begin = Array<std::int32_t>(matrix.row_begin.size());
  std::copy(matrix.row_begin.begin(), matrix.row_begin.end(), result.row_begin.begin());
  result.column = Array<std::int32_t>(matrix.column.size());
  std::copy(matrix.column.begin(), matrix.column.end(), result.column.begin());
  result.value = Array<To>(matrix.value.size());
  std::transform(matrix.value.begin(), matrix.value.end(), result.value.begin(),
      [](From value) { return static_cast<To>(value); });
  return result;
}

void serially(std::int64_t size, const Part &work) { work(0, size); }

SparseMatrix<double> build_by_rows(std::int64_t rows, std::int64_t columns,
    const std::function<void(std::int64_t row, const Emit &emit)> &make_row,
    const ForParts &for_parts)
{
  check_size(rows, columns, 0);
  SparseMatrix<double> matrix;
  matrix.rows = static_cast<std::int32_t>(rows);
  matrix.columns = static_cast<std::int32_t>(columns);
  matrix.row_begin = Array<std::int32_t>(rows + 1);
  for_parts(rows, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t length = 0;
    const Emit count = [&](std::int64_t, double) { ++length; };
    for (std::int64_t row = begin; row < end; ++row)
    {
      length = 0;
      make_row(row, count);
      check_size(rows, columns, length);
      matrix.row_begin[row + 1] = static_cast<std::int32_t>(length);
    }
  });
  std::int64_t entries = 0;
  for (std::int64_t row = 0; row < rows; ++row)
  {
    entries += matrix.row_begin[row + 1];
    check_size(rows, columns, entries);
    matrix.row_begin[row + 1] = static_cast<std::int32_t>(entries);
  }
  matrix.column = Array<std::int32_t>(entries);
  matrix.value = Array<double>(entries);
  for_parts(rows, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t at = matrix.row_begin[begin];
    const Emit store = [&](std::int64_t column, double value) {
      matrix.column[at] = static_cast<std::int32_t>(column);
      matrix.value[at++] = value;
    };
    for (std::int64_t row = begin; row < end; ++row)
      make_row(row, store);
  });
  return matrix;
}

template <typename Number>
Fingerprint fingerprint(const SparseMatrix<Number> &matrix)
{
  Fingerprint result;
  result.rows = matrix.rows;
  result.entries = matrix.entries();
  if (matrix.rows == 0)
    return result;
  const auto rows = static_cast<double>(matrix.rows);
  result.mean = static_cast<double>(result.entries) / rows;
  double squares = 0., width = 0.;
  std::int64_t pairs = 0, similar = 0, filled = 0;
  for (std::int32_t row = 0; row < matrix.rows; ++row)
  {
    const std::int32_t *first = matrix.column.data() + matrix.row_begin[row];
    const std::int32_t *last = matrix.column.data() + matrix.row_begin[row + 1];
    const std::int64_t length = last - first;
    result.longest = std::max(result.longest, length);
    squares += std::pow(static_cast<double>(length) - result.mean, 2);
    if (length == 0)
      continue;
    ++filled;
    width += last[-1] - first[0] + 1;
    for (const std::int32_t *c = first; c + 1 < last; ++c)
      pairs += c[1] - c[0] == 1 ? 1 : 0;
    if (row + 1 == matrix.rows)
      continue;
    const std::int32_t *next = last;
    const std::int32_t *const end = matrix.column.data() + matrix.row_begin[row + 2];
    for (const std::int32_t *c = first; c < last; ++c)
    {
      while (next < end && *next < *c - 1)
        ++next;
      similar += next < end && *next <= *c + 1 ? 1 : 0;
    }
  }
  result.deviation = std::sqrt(squares / rows);
  const auto entries = static_cast<double>(std::max<std::int64_t>(1, result.entries));
  result.bandwidth = filled == 0 ? 0. : width / static_cast<double>(filled) / matrix.columns;
  result.neighbours = 2. * static_cast<double>(pairs) / entries;
  result.similarity = static_cast<double>(similar) / entries;
  return result;
}

template <typename Number>
std::int64_t empty_rows(const SparseMatrix<Number> &matrix)
{
  std::int64_t count = 0;
  for (std::int32_t row = 0; row < matrix.rows; ++row)
    count += matrix.row_begin[row + 1] == matrix.row_begin[row] ? 1 : 0;
  return count;
}

template SparseMatrix<double> convert(const SparseMatrix<double> &);
template SparseMatrix<float> convert(const SparseMatrix<double> &);
template Fingerprint fingerprint(const SparseMatrix<double> &);
template Fingerprint fingerprint(const SparseMatrix<float> &);
template std::int64_t empty_rows(const SparseMatrix<double> &);
template std::int64_t empty_rows(const SparseMatrix<float> &);
} // namespace tensormg::sparse
