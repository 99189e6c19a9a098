#include "kernels/diagnostics/smallmat/smallmat.h"

namespace tensormg::smallmat
{
void reference(Task task, int n, const double *factor, const double *b, double *c)
{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
    {
      double sum = 0.;
      for (int k = 0; k < n; ++k)
        sum += factor_entry(task, n, factor, i, k) * b[k * n + j];
      c[i * n + j] = sum;
    }
}
} // namespace tensormg::smallmat
