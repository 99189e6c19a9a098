#include "kernels/diagnostics/spmv/sliced.h"

namespace tensormg::spmv
{
namespace
{
  /// The sum of a lane's entries for `slice` in the quads of the group that begins there.
  template <typename Number>
  Compute<Number> sum_of_quads(const Sliced<Number> &matrix, const Number *x, std::int64_t begin,
      std::int64_t n, int lane, int slice)
  {
    using Result = Compute<Number>;
    Result sum = 0;
    for (std::int64_t block = 0; block < n / slices_per_group * slices_per_group; ++block)
      if (block % slices_per_group == slice)
        sum += static_cast<Result>(matrix.value[begin + place_in_group<Number>(block, n, lane)]) *
            static_cast<Result>(
                x[matrix.column[begin + place_in_group<std::int32_t>(block, n, lane)]]);
    return sum;
  }
} // namespace

template <typename Number>
void reference_sliced(
    const Sliced<Number> &matrix, const Number *x, Compute<Number> *y, Compute<Number> *pieces)
{
  using Result = Compute<Number>;
  for (std::int32_t group = 0; group < matrix.groups; ++group)
  {
    const std::int64_t begin = std::int64_t(block_size) * matrix.block_begin[group],
                       n = matrix.block_begin[group + 1] - matrix.block_begin[group];
    Result sums[group_rows], all = 0;
    for (int lane = 0; lane < group_rows; ++lane)
    {
      const int row = lane / quad_entries, slice = lane % quad_entries;
      sums[lane] = 0;
      for (int t = 0; t < quad_entries; ++t)
        sums[lane] += sum_of_quads(matrix, x, begin, n, quad_entries * row + t, slice);
      for (std::int64_t block = n / slices_per_group * slices_per_group; block < n; ++block)
      {
        const std::int64_t e = begin + block * block_size + lane;
        sums[lane] +=
            static_cast<Result>(matrix.value[e]) * static_cast<Result>(x[matrix.column[e]]);
      }
      all += sums[lane];
    }
    for (int lane = 0; lane < group_rows; ++lane)
    {
      const Result sum = group < matrix.chunks ? all : sums[lane];
      const std::int32_t target = matrix.target[std::int64_t(group_rows) * group + lane];
      if (target >= matrix.rows)
        pieces[target - matrix.rows] = sum;
      else if (target >= 0)
        y[target] = sum;
    }
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
