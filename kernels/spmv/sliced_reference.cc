#include "kernels/spmv/sliced.h"

namespace tensormg::spmv
{
template <typename Number>
void reference_sliced(
    const Sliced<Number> &matrix, const Number *x, Compute<Number> *y, Compute<Number> *pieces)
{
  using Result = Compute<Number>;
  for (std::int32_t slice = 0; slice < matrix.slices; ++slice)
    for (int g = 0; g < slice_rows; ++g)
    {
      Result sum = 0;
      for (std::int64_t block = matrix.block_begin[slice]; block < matrix.block_begin[slice + 1];
           ++block)
        for (int t = 0; t < block_entries; ++t)
        {
          const std::int64_t e = block * block_size + block_entries * g + t;
          sum += static_cast<Result>(matrix.value[e]) * static_cast<Result>(x[matrix.column[e]]);
        }
      const std::int32_t target = matrix.target[slice_rows * slice + g];
      if (target >= matrix.rows)
        pieces[target - matrix.rows] = sum;
      else if (target >= 0)
        y[target] = sum;
    }
  for (std::int32_t row = 0; row < matrix.long_rows; ++row)
  {
    Result sum = 0;
    for (std::int32_t p = matrix.piece_begin[row]; p < matrix.piece_begin[row + 1]; ++p)
      sum += pieces[p];
    y[matrix.long_row[row]] = sum;
  }
}

template void reference_sliced(const Sliced<double> &, const double *, double *, double *);
template void reference_sliced(const Sliced<float> &, const float *, float *, float *);
template void reference_sliced(const Sliced<Half> &, const Half *, float *, float *);
} // namespace tensormg::spmv
