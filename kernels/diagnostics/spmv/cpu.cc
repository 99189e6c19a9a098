#include <algorithm>

#include "kernels/diagnostics/spmv/cpu_row.h"
#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::spmv
{
namespace
{
  /// Entries that the loops over rows fetch ahead: in short rows the hardware does not see the stream in time.
  constexpr std::int32_t ahead = 256;

  template <typename Number>
  void prefetch(const Csr<Number> &matrix, std::int32_t entry)
  {
    __builtin_prefetch(matrix.value + entry + ahead);
    __builtin_prefetch(matrix.column + entry + ahead);
  }

  /// Without overflow: total * index fits, since both are below 2^32 and 2^31.
  std::int64_t begin_of(std::int64_t total, Share share)
  {
    return total * share.index / share.count;
  }

  /// The first row of a share: rows whose entries begin before its part of all entries belong to others.
  template <typename Number>
  std::int32_t first_row(const Csr<Number> &matrix, Share share)
  {
    if (share.index == share.count)
      return matrix.rows;
    const std::int64_t entry = begin_of(matrix.entries(), share);
    const std::int32_t *const begin = matrix.row_begin;
    // Empty rows at the begin belong to the first share.
    return share.index == 0
        ? 0
        : static_cast<std::int32_t>(std::lower_bound(begin, begin + matrix.rows, entry) - begin);
  }
} // namespace

template <typename Number>
void cpu_rows(const Csr<Number> &matrix, const Number *x, Number *y, Share share)
{
  const std::int32_t end = first_row(matrix, {share.index + 1, share.count});
  for (std::int32_t row = first_row(matrix, share); row < end; ++row)
  {
    const std::int32_t first = matrix.row_begin[row];
    prefetch(matrix, first);
    y[row] =
        row_sum(matrix.row_begin[row + 1] - first, matrix.value + first, matrix.column + first, x);
  }
}

template <typename Number>
PathPoint find_path_point(const Csr<Number> &matrix, std::int64_t step)
{
  // The smallest row whose end lies at or behind the entry that the step leaves for it.
  std::int64_t low = std::max<std::int64_t>(0, step - matrix.entries());
  std::int64_t high = std::min<std::int64_t>(step, matrix.rows);
  while (low < high)
  {
    const std::int64_t middle = (low + high) / 2;
    if (matrix.row_begin[middle + 1] <= step - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return {static_cast<std::int32_t>(low), static_cast<std::int32_t>(step - low)};
}

template <typename Number>
void cpu_merge(
    const Csr<Number> &matrix, const Number *x, Number *y, Share share, Carry<Number> *carries)
{
  const std::int64_t steps = static_cast<std::int64_t>(matrix.rows) + matrix.entries();
  const PathPoint begin = find_path_point(matrix, begin_of(steps, share));
  const PathPoint end = find_path_point(matrix, begin_of(steps, {share.index + 1, share.count}));
  std::int32_t entry = begin.entry;
  for (std::int32_t row = begin.row; row < end.row; ++row)
  {
    const std::int32_t last = matrix.row_begin[row + 1];
    prefetch(matrix, entry);
    y[row] = row_sum(last - entry, matrix.value + entry, matrix.column + entry, x);
    entry = last;
  }
  carries[share.index] = {
      end.row, row_sum(end.entry - entry, matrix.value + entry, matrix.column + entry, x)};
}

template <typename Number>
void add_carries(const Csr<Number> &matrix, Number *y, int shares, const Carry<Number> *carries)
{
  for (int s = 0; s < shares; ++s)
    if (carries[s].row < matrix.rows)
      y[carries[s].row] += carries[s].sum;
}

template void cpu_rows(const Csr<double> &, const double *, double *, Share);
template void cpu_rows(const Csr<float> &, const float *, float *, Share);
template PathPoint find_path_point(const Csr<double> &, std::int64_t);
template PathPoint find_path_point(const Csr<float> &, std::int64_t);
template void cpu_merge(const Csr<double> &, const double *, double *, Share, Carry<double> *);
template void cpu_merge(const Csr<float> &, const float *, float *, Share, Carry<float> *);
template void add_carries(const Csr<double> &, double *, int, const Carry<double> *);
template void add_carries(const Csr<float> &, float *, int, const Carry<float> *);
} // namespace tensormg::spmv
