#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::spmv
{
template <typename Number>
void reference(const Csr<Number> &matrix, const Number *x, double *y)
{
  for (std::int32_t row = 0; row < matrix.rows; ++row)
  {
    double sum = 0.;
    for (std::int32_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e)
      sum += static_cast<double>(matrix.value[e]) * static_cast<double>(x[matrix.column[e]]);
    y[row] = sum;
  }
}

template void reference(const Csr<double> &, const double *, double *);
template void reference(const Csr<float> &, const float *, double *);
} // namespace tensormg::spmv
