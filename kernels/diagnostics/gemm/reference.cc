#include <algorithm>
#include <cmath>

#include "kernels/diagnostics/gemm/gemm.h"

namespace tensormg::gemm
{
template <typename Number>
void reference_row(const Size &size, std::int64_t row, const Number *a, const Number *b, double *c)
{
  std::fill_n(c, size.n, 0.);
  for (std::int64_t k = 0; k < size.k; ++k)
    for (std::int64_t j = 0; j < size.n; ++j)
      c[j] += static_cast<double>(a[row * size.k + k]) * static_cast<double>(b[k * size.n + j]);
}

template <typename Number>
void magnitude_row(const Size &size, std::int64_t row, const Number *a, const Number *b, double *c)
{
  std::fill_n(c, size.n, 0.);
  for (std::int64_t k = 0; k < size.k; ++k)
    for (std::int64_t j = 0; j < size.n; ++j)
      c[j] += std::abs(
          static_cast<double>(a[row * size.k + k]) * static_cast<double>(b[k * size.n + j]));
}

template void reference_row(const Size &, std::int64_t, const double *, const double *, double *);
template void reference_row(const Size &, std::int64_t, const float *, const float *, double *);
template void magnitude_row(const Size &, std::int64_t, const double *, const double *, double *);
template void magnitude_row(const Size &, std::int64_t, const float *, const float *, double *);
} // namespace tensormg::gemm
