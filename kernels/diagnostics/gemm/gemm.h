// CONTRACT of the dense product C = A B, row-major: A is m x k, B is k x n, C is m x n, all packed.
//
//   reference   one entry after the other, sums in double precision in the order of k: the oracle
//   blas        the BLAS that the program is linked with; as many threads as that has been told
//
// Sizes may be zero; with k = 0, C is zero. Every entry of C is written; C must not alias A or B.
// Tests: tests/kernels/diagnostics/gemm/gemm_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/core/host_blas.h"
#include "kernels/diagnostics/roofline/roofline.h"

namespace tensormg::gemm
{
struct Size
{
  std::int64_t m = 0, n = 0, k = 0;
};

/// 2 m n k flops; A, B and C once.
constexpr roofline::Work work(const Size &size, std::size_t number_bytes)
{
  const auto m = static_cast<double>(size.m), n = static_cast<double>(size.n),
             k = static_cast<double>(size.k);
  return {2. * m * n * k, static_cast<double>(number_bytes) * (m * k + k * n + m * n)};
}

/// Row `row` of C: n numbers.
template <typename Number>
void reference_row(const Size &size, std::int64_t row, const Number *a, const Number *b, double *c);

/// Row `row` of |A| |B|, which errors are measured by.
template <typename Number>
void magnitude_row(const Size &size, std::int64_t row, const Number *a, const Number *b, double *c);

/// Throws std::length_error if a size is beyond 32 bits.
template <typename Number>
void blas(const Size &size, const Number *a, const Number *b, Number *c)
{
  host_blas::multiply(size.m, size.n, size.k, a, b, c);
}
} // namespace tensormg::gemm
