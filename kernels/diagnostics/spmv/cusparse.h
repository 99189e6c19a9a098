// y = A x by cuSPARSE, to compare with: in compressed rows after its preprocessing, by one of its two algorithms, in square
// blocks of rows and columns, and in sliced ELL. In FP16 sums and y are in FP32.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/core/half.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::spmv
{
enum class CusparseAlgorithm : std::uint8_t
{
  csr1, ///< CUSPARSE_SPMV_CSR_ALG1
  csr2  ///< CUSPARSE_SPMV_CSR_ALG2
};

/// Compressed rows of square blocks, as a view: blocks row_begin[i] ... row_begin[i + 1] - 1 belong to row i of
/// blocks.
template <typename Number>
struct Bsr
{
  std::int32_t block = 1; ///< rows and columns of a block
  std::int32_t block_rows = 0, block_columns = 0, blocks = 0;
  const std::int32_t *row_begin = nullptr; ///< block_rows + 1 of them
  const std::int32_t *column = nullptr;    ///< of each block
  const Number *value = nullptr;           ///< block * block for each, row by row
};

/// Sliced ELL, as a view: slice s has the rows from s * slice on, and the numbers slice_begin[s] ... slice_begin[s + 1] - 1,
/// the first ones of all of its rows, then the second ones, and so on.
template <typename Number>
struct Sell
{
  std::int32_t slice = 1; ///< rows
  std::int32_t rows = 0, columns = 0, entries = 0;
  std::int64_t stored = 0; ///< entries and what fills up the slices
  const std::int32_t *slice_begin = nullptr;
  const std::int32_t *column = nullptr; ///< -1: fills up
  const Number *value = nullptr;
};

/// The product of one matrix and two vectors, all in device memory, which must stay where they are.
template <typename Number>
class CusparseProduct
{
public:
  /// Preprocesses the matrix, which must not be empty, with a buffer of its own in device memory. Throws DeviceError
  /// if there is no cuSPARSE.
  TENSORMG_CUDA_FUNCTION CusparseProduct(const Csr<Number> &matrix, std::int32_t entries,
      const Number *x, Compute<Number> *y, CusparseAlgorithm algorithm);
  /// In blocks, without preprocessing.
  TENSORMG_CUDA_FUNCTION CusparseProduct(
      const Bsr<Number> &matrix, const Number *x, Compute<Number> *y);
  /// In sliced ELL, without preprocessing.
  TENSORMG_CUDA_FUNCTION CusparseProduct(
      const Sell<Number> &matrix, const Number *x, Compute<Number> *y);
  TENSORMG_CUDA_FUNCTION ~CusparseProduct();
  CusparseProduct(const CusparseProduct &) = delete;
  CusparseProduct &operator=(const CusparseProduct &) = delete;

  TENSORMG_CUDA_FUNCTION void multiply(Stream stream) const;

private:
  struct Data;
  std::unique_ptr<Data> data_;
};
} // namespace tensormg::spmv
