// A sparse matrix in compressed rows that owns its memory, and what describes its structure.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/core/array.h"
#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::sparse
{
template <typename Number>
struct SparseMatrix
{
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  Array<std::int32_t> row_begin; ///< rows + 1
  Array<std::int32_t> column;    ///< ascending within a row
  Array<Number> value;

  std::int32_t entries() const { return rows == 0 ? 0 : row_begin[rows]; }
  spmv::Csr<Number> view() const
  {
    return {rows, columns, row_begin.data(), column.data(), value.data()};
  }
};

/// Largest number of rows, of columns and of entries.
inline constexpr std::int64_t max_size = 2'147'483'646;

/// Throws std::length_error unless all three are at most max_size.
void check_size(std::int64_t rows, std::int64_t columns, std::int64_t entries);

/// Bytes of such a matrix.
double matrix_bytes(std::int64_t rows, std::int64_t entries, std::size_t number_bytes);

/// The same matrix with its entries rounded to another type.
template <typename To, typename From>
SparseMatrix<To> convert(const SparseMatrix<From> &matrix);

/// Calls work(begin, end) for parts of 0 ... size, possibly at the same time.
using Part = std::function<void(std::int64_t begin, std::int64_t end)>;
using ForParts = std::function<void(std::int64_t size, const Part &work)>;

/// All in one part.
void serially(std::int64_t size, const Part &work);

/// Calls make_row(row, emit) twice for each row, first to count and then to store: emit(column, value) in
/// ascending order of the columns. Rows of different parts are made at the same time.
using Emit = std::function<void(std::int64_t column, double value)>;
SparseMatrix<double> build_by_rows(std::int64_t rows, std::int64_t columns,
    const std::function<void(std::int64_t row, const Emit &emit)> &make_row,
    const ForParts &for_parts = serially);

/// What is known of a matrix without its entries. The features follow the artificial matrix generator of
/// P. Mpakos et al., "Feature-based SpMV performance analysis on contemporary devices", IPDPS 2023.
struct Fingerprint
{
  std::int64_t rows = 0;
  std::int64_t entries = 0;
  double mean = 0.;       ///< entries per row
  double deviation = 0.;  ///< of the entries per row
  double bandwidth = 0.;  ///< mean over the rows of (last - first column + 1) / columns
  double neighbours = 0.; ///< mean number of entries beside an entry of the same row: 0 to 2
  double similarity =
      0.; ///< part of the entries that have one in the next row, at most a column aside
  std::int64_t longest = 0; ///< entries of the longest row
  double skew() const { return mean > 0. ? (static_cast<double>(longest) - mean) / mean : 0.; }
};

template <typename Number>
Fingerprint fingerprint(const SparseMatrix<Number> &matrix);

/// Rows without entries.
template <typename Number>
std::int64_t empty_rows(const SparseMatrix<Number> &matrix);
} // namespace tensormg::sparse
