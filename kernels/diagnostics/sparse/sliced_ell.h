// A sparse matrix in sliced ELL (SELL), as cuSPARSE takes it: slices of neighbouring rows, each as wide as its longest row.
#pragma once

#include <cstdint>

#include "kernels/diagnostics/sparse/sparse_matrix.h"
#include "kernels/diagnostics/spmv/cusparse.h"

namespace tensormg::sparse
{
template <typename Number>
struct SlicedEll
{
  static constexpr std::int32_t slice =
      32; ///< rows; those of the last slice beyond the matrix are filled
  std::int32_t rows = 0, columns = 0, entries = 0;
  Array<std::int32_t> slice_begin; ///< slices + 1, in stored numbers
  Array<std::int32_t> column;      ///< [slice][entry of a row][row]; -1: filling
  Array<Number> value;             ///< likewise; zero: filling

  spmv::Sell<Number> view() const
  {
    return {slice, rows, columns, entries, static_cast<std::int64_t>(value.size()),
        slice_begin.data(), column.data(), value.data()};
  }
};

/// Numbers that sliced ELL stores for each entry of the matrix; 0 for a matrix without entries.
double filling_of_sliced_ell(const SparseMatrix<double> &matrix);

/// Throws std::length_error if more than 2^31 - 1 numbers had to be stored.
template <typename Number>
SlicedEll<Number> make_sliced_ell(
    const SparseMatrix<double> &matrix, const ForParts &for_parts = serially);
} // namespace tensormg::sparse
