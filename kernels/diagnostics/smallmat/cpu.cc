#include <algorithm>

#include "kernels/diagnostics/smallmat/smallmat.h"

namespace tensormg::smallmat
{
namespace
{
  /// Rows are vectors: the inner loops run along them.
  template <int n>
  void multiply(const double *a, const double *b, double *c)
  {
    for (int i = 0; i < n; ++i)
    {
      double row[n]{};
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
          row[j] += a[i * n + k] * b[k * n + j];
      std::copy_n(row, n, c + i * n);
    }
  }

  template <int n>
  void reflect(const double *v, const double *b, double *c)
  {
    double sums[n]{};
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        sums[j] += v[i] * b[i * n + j];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        c[i * n + j] = b[i * n + j] - 2. * v[i] * sums[j];
  }

  template <int n>
  void rotate(const double *factor, const double *b, double *c)
  {
    std::copy_n(b, n * n, c);
    for (int j = 0; j < n; ++j)
    {
      const double p = b[givens_p * n + j], q = b[givens_q * n + j];
      c[givens_p * n + j] = factor[0] * p - factor[1] * q;
      c[givens_q * n + j] = factor[1] * p + factor[0] * q;
    }
  }

  template <int n>
  void run(Task task, std::int64_t count, const double *factors, const double *b, double *c)
  {
    const auto apply = task == Task::product ? multiply<n>
        : task == Task::householder          ? reflect<n>
                                             : rotate<n>;
    for (std::int64_t i = 0; i < count; ++i)
      apply(factors + i * factor_size(task, n), b + i * n * n, c + i * n * n);
  }
} // namespace

void cpu(Task task, int n, std::int64_t count, const double *factors, const double *b, double *c)
{
  require_size(n);
  if (n == 16)
    run<16>(task, count, factors, b, c);
  else
    run<32>(task, count, factors, b, c);
}
} // namespace tensormg::smallmat
