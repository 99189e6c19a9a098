// Dense matrix products on the device, by cuBLAS.
#pragma once

#include <cstdint>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

struct cublasContext;

namespace tensormg
{
/// C = op(A) op(B) for `batch` triples of row-major matrices in device memory; op(A) is m x k, op(B) is
/// k x n. ld*: from row to row as stored; stride_*: from matrix to matrix (0: the same for all).
struct MatrixProduct
{
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  const double *a = nullptr;
  std::int64_t lda = 0, stride_a = 0;
  const double *b = nullptr;
  std::int64_t ldb = 0, stride_b = 0;
  double *c = nullptr;
  std::int64_t ldc = 0, stride_c = 0;
  std::int64_t batch = 1;
};

/// A cuBLAS handle whose work is queued in one stream. Creating it takes a tenth of a second and some MiB of
/// device memory. The same input gives the same bits: no products are split among streams, no atomics.
class DeviceBlas
{
public:
  TENSORMG_CUDA_FUNCTION explicit DeviceBlas(Stream stream);
  TENSORMG_CUDA_FUNCTION ~DeviceBlas(); // NOLINT(performance-trivially-destructible): only without CUDA it were
  DeviceBlas(const DeviceBlas &) = delete;
  DeviceBlas &operator=(const DeviceBlas &) = delete;

  /// Throws std::length_error if a size is beyond 32 bits, DeviceError if cuBLAS fails.
  TENSORMG_CUDA_FUNCTION void multiply(const MatrixProduct &product) const;

private:
  cublasContext *handle_ = nullptr;
};
} // namespace tensormg
