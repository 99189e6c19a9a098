// y = A x in compressed rows by cuSPARSE, to compare with: after its preprocessing, by one of its two algorithms.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/core/device.h"
#include "kernels/spmv/spmv.h"

namespace tensormg::spmv
{
enum class CusparseAlgorithm : std::uint8_t
{
  csr1, ///< CUSPARSE_SPMV_CSR_ALG1
  csr2  ///< CUSPARSE_SPMV_CSR_ALG2
};

/// The product of one matrix and two vectors, all in device memory, which must stay where they are.
template <typename Number>
class CusparseProduct
{
public:
  /// Preprocesses the matrix, which must not be empty, with a buffer of its own in device memory. Throws DeviceError
  /// if there is no cuSPARSE, and in a build without CUDA.
  CusparseProduct(const Csr<Number> &matrix, std::int32_t entries, const Number *x, Number *y,
      CusparseAlgorithm algorithm);
  ~CusparseProduct();
  CusparseProduct(const CusparseProduct &) = delete;
  CusparseProduct &operator=(const CusparseProduct &) = delete;

  void multiply(Stream stream) const;

private:
  struct Data;
  std::unique_ptr<Data> data_;
};
} // namespace tensormg::spmv
