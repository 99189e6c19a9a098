// Sparse matrices with rows of all lengths, and the comparison of products with the reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/diagnostics/spmv/spmv.h"

namespace tensormg::test
{
/// Numbers in [-1, 1], never near zero.
class Random
{
public:
  double value()
  {
    const double x = static_cast<double>(next() >> 11) * 0x1p-53;
    return x < 0.5 ? -0.2 - 1.6 * x : 0.2 + 1.6 * (x - 0.5);
  }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() >> 1) % n; }

private:
  std::uint64_t next()
  {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_ = 1;
};

template <typename Number>
struct SparseCase
{
  std::int32_t columns = 0;
  std::vector<std::int32_t> row_begin{0}, column;
  std::vector<Number> value;

  /// Random columns, in any order, also twice.
  SparseCase(std::int32_t columns_, const std::vector<std::int32_t> &lengths)
    : columns(columns_)
  {
    Random random;
    for (const std::int32_t length : lengths)
    {
      for (std::int32_t e = 0; e < length; ++e)
      {
        column.push_back(static_cast<std::int32_t>(random.below(columns)));
        value.push_back(static_cast<Number>(random.value()));
      }
      row_begin.push_back(static_cast<std::int32_t>(column.size()));
    }
  }
  spmv::Csr<Number> view() const
  {
    return {static_cast<std::int32_t>(row_begin.size()) - 1, columns, row_begin.data(),
        column.data(), value.data()};
  }
};

/// What may happen to a row.
inline std::vector<std::vector<std::int32_t>> row_lengths()
{
  std::vector<std::int32_t> growing, mixed;
  for (std::int32_t length = 0; length < 70; ++length)
    growing.push_back(length);
  for (std::int32_t row = 0; row < 301; ++row)
    mixed.push_back(row % 7 == 0 ? 0 : row % 50 == 3 ? 517 : row % 5);
  return {
      {},        // no row
      {0, 0, 0}, // no entry
      {1},
      {5}, // one row
      growing,
      mixed,              //
      {0, 0, 1000, 0, 0}, // one dense row between empty ones
      {1000, 1, 1, 1},    // at the begin
      {3, 2, 1000},       // at the end
      {0, 3, 0, 3, 0, 0}, //
      std::vector<std::int32_t>(128, 8),
      std::vector<std::int32_t>(33, 16),
  };
}

template <typename Number>
std::vector<Number> random_vector(std::int32_t size)
{
  Random random;
  std::vector<Number> x(static_cast<std::size_t>(size));
  for (Number &entry : x)
    entry = static_cast<Number>(random.value());
  return x;
}

template <typename Number>
std::vector<Number> poisoned(std::int32_t size)
{
  return std::vector<Number>(
      static_cast<std::size_t>(size), std::numeric_limits<Number>::quiet_NaN());
}

/// |y - exact| <= (length of the row) eps sum |a| |x| in every row.
template <typename Number>
void expect_right(
    const spmv::Csr<Number> &a, const std::vector<Number> &x, const std::vector<Number> &y)
{
  std::vector<double> exact(static_cast<std::size_t>(a.rows), 0.);
  spmv::reference(a, x.data(), exact.data());
  for (std::int32_t row = 0; row < a.rows; ++row)
  {
    double magnitude = 0.;
    for (std::int32_t e = a.row_begin[row]; e < a.row_begin[row + 1]; ++e)
      magnitude += std::abs(static_cast<double>(a.value[e]) *
          static_cast<double>(x[static_cast<std::size_t>(a.column[e])]));
    const double eps = std::numeric_limits<Number>::epsilon();
    const auto i = static_cast<std::size_t>(row);
    ASSERT_LE(std::abs(static_cast<double>(y[i]) - exact[i]),
        (a.row_begin[row + 1] - a.row_begin[row]) * eps * magnitude)
        << "row " << row;
  }
}
} // namespace tensormg::test
