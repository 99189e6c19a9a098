// Products with sparse matrices in device memory, for multigrid on vertices.
//
// Storage: rows in slices of 32, entry e of row i at begin[i / 32] + 32 e + i % 32, so that a warp reads side by side; the rows of a slice have
// as many entries, those that need fewer some of value zero. Sums are taken in double in the order of the entries: the same input gives
// the same bits.
// Bytes: 12 per entry, 8 per number of a vector. Oracle: plain loops. Test: tests/kernels/sparse/sparse_device_test.cu.
#pragma once

#include <cstdint>

#include "kernels/device/cuda_function.h"
#include "kernels/device/stream.h"

namespace tensormg::sparse
{
inline constexpr int slice = 32;

/// Pointers into device memory.
struct Matrix
{
  std::int64_t rows = 0;
  const std::int64_t *begin = nullptr; ///< of slices, and the end
  const std::int32_t *columns = nullptr;
  const double *values = nullptr;
};

/// y = A x
TENSORMG_CUDA_FUNCTION void product(const Matrix &a, const double *x, double *y, Stream stream);
/// y += A x
TENSORMG_CUDA_FUNCTION void add_product(const Matrix &a, const double *x, double *y, Stream stream);
/// y = b - A x
TENSORMG_CUDA_FUNCTION void residual(
    const Matrix &a, const double *b, const double *x, double *y, Stream stream);
/// old = x + theta (x - old) + alpha diag(d) (b - A x); x = nullptr is zero, and old is not read.
TENSORMG_CUDA_FUNCTION void step(const Matrix &a, double theta, double alpha, const double *d,
    const double *b, const double *x, double *old, Stream stream);
/// x_i -= *sum / count, i < count; sum in device memory.
TENSORMG_CUDA_FUNCTION void subtract(
    std::int64_t count, const double *sum, double *x, Stream stream);
} // namespace tensormg::sparse
