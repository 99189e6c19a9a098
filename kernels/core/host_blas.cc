#include "kernels/core/host_blas.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

extern "C"
{
  void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
      const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
      const double *beta, double *c, const int *ldc);
  void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
      const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
      const float *beta, float *c, const int *ldc);
}

namespace tensormg::host_blas
{
namespace
{
  int to_int(std::int64_t size)
  {
    if (size > std::numeric_limits<int>::max())
      throw std::length_error("a matrix size of " + std::to_string(size) + "; BLAS takes at most " +
          std::to_string(std::numeric_limits<int>::max()));
    return static_cast<int>(size);
  }
} // namespace

template <typename Number>
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t inner, const Number *a,
    const Number *b, Number *c)
{
  const int m = to_int(rows), n = to_int(columns), k = to_int(inner);
  // BLAS goes by columns: what it sees are the transposed matrices, and C' = B' A'.
  const int row_a = std::max(1, k), row_b = std::max(1, n);
  const Number one = 1, zero = 0;
  if constexpr (std::is_same_v<Number, double>)
    dgemm_("N", "N", &n, &m, &k, &one, b, &row_b, a, &row_a, &zero, c, &row_b);
  else
    sgemm_("N", "N", &n, &m, &k, &one, b, &row_b, a, &row_a, &zero, c, &row_b);
}

template void multiply(
    std::int64_t, std::int64_t, std::int64_t, const double *, const double *, double *);
template void multiply(
    std::int64_t, std::int64_t, std::int64_t, const float *, const float *, float *);
} // namespace tensormg::host_blas
