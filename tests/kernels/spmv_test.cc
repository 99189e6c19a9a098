// Products with sparse matrices: every kernel against the reference, for rows of all lengths, empty rows and
// matrices, dense rows, and any number of shares.
#include "kernels/spmv/spmv.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using namespace spmv;

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
  struct Matrix
  {
    std::int32_t columns = 0;
    std::vector<std::int32_t> row_begin{0}, column;
    std::vector<Number> value;

    /// Random columns, in any order, also twice.
    Matrix(std::int32_t columns_, const std::vector<std::int32_t> &lengths)
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
    Csr<Number> view() const
    {
      return {static_cast<std::int32_t>(row_begin.size()) - 1, columns, row_begin.data(),
          column.data(), value.data()};
    }
  };

  /// What may happen to a row.
  std::vector<std::vector<std::int32_t>> row_lengths()
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
      const Csr<Number> &a, const std::vector<Number> &x, const std::vector<Number> &y)
  {
    std::vector<double> exact(static_cast<std::size_t>(a.rows), 0.);
    reference(a, x.data(), exact.data());
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

  template <typename Number>
  std::vector<Number> by_rows(const Csr<Number> &a, const std::vector<Number> &x, int shares)
  {
    std::vector<Number> y = poisoned<Number>(a.rows);
    for (int s = shares; s-- > 0;) // any order
      cpu_rows(a, x.data(), y.data(), {s, shares});
    return y;
  }

  template <typename Number>
  std::vector<Number> by_merge(const Csr<Number> &a, const std::vector<Number> &x, int shares)
  {
    std::vector<Number> y = poisoned<Number>(a.rows);
    std::vector<Carry<Number>> carries(static_cast<std::size_t>(shares));
    for (int s = shares; s-- > 0;)
      cpu_merge(a, x.data(), y.data(), {s, shares}, carries.data());
    add_carries(a, y.data(), shares, carries.data());
    return y;
  }

  template <typename Number>
  void check_all()
  {
    constexpr std::int32_t columns = 1103;
    const std::vector<Number> x = random_vector<Number>(columns);
    for (const std::vector<std::int32_t> &lengths : row_lengths())
    {
      const Matrix<Number> matrix(columns, lengths);
      const Csr<Number> a = matrix.view();
      SCOPED_TRACE(std::to_string(a.rows) + " rows, " + std::to_string(a.entries()) + " entries");
      for (const int shares : {1, 2, 3, 7, 64})
      {
        expect_right(a, x, by_rows(a, x, shares));
        expect_right(a, x, by_merge(a, x, shares));
      }
      EXPECT_EQ(by_rows(a, x, 1), by_merge(a, x, 1));
      EXPECT_EQ(by_rows(a, x, 1), by_rows(a, x, 5));
    }
  }

  TEST(Spmv, DoubleAgreesWithTheReference) { check_all<double>(); }
  TEST(Spmv, FloatAgreesWithTheReference) { check_all<float>(); }

  TEST(Spmv, ReferenceOfAMatrixByHand)
  {
    // [ 0 2 -1 ]  [ 0 0 0 ]  [ 4 0 0.5 ]  times  [ 3 5 7 ]
    const std::vector<std::int32_t> begin{0, 2, 2, 4}, column{1, 2, 0, 2};
    const std::vector<double> value{2., -1., 4., 0.5}, x{3., 5., 7.};
    std::vector<double> y(3, -1.);
    reference(Csr<double>{3, 3, begin.data(), column.data(), value.data()}, x.data(), y.data());
    EXPECT_EQ(y, (std::vector<double>{3., 0., 15.5}));
  }

  TEST(Spmv, EveryStepOfTheMergePathConsumesARowOrAnEntry)
  {
    for (const std::vector<std::int32_t> &lengths : row_lengths())
    {
      const Matrix<double> matrix(50, lengths);
      const Csr<double> a = matrix.view();
      PathPoint expected{0, 0};
      for (std::int64_t step = 0; step <= a.rows + static_cast<std::int64_t>(a.entries()); ++step)
      {
        ASSERT_EQ(find_path_point(a, step), expected) << step;
        if (expected.row < a.rows && expected.entry == a.row_begin[expected.row + 1])
          ++expected.row;
        else
          ++expected.entry;
      }
    }
  }

  TEST(Spmv, SharesOfTheMergePathAreEqual)
  {
    const Matrix<double> matrix(50, {0, 0, 1000, 0, 3, 0});
    const Csr<double> a = matrix.view();
    const std::int64_t steps = a.rows + static_cast<std::int64_t>(a.entries());
    for (int s = 0; s < 4; ++s)
    {
      const PathPoint begin = find_path_point(a, steps * s / 4);
      const PathPoint end = find_path_point(a, steps * (s + 1) / 4);
      EXPECT_NEAR(end.row + end.entry - begin.row - begin.entry, 252, 1);
    }
  }

  TEST(Spmv, CountsWhatMustBeMoved)
  {
    const roofline::Work work = spmv::work(10, 20, 100, 8);
    EXPECT_EQ(work.flops, 200.);
    EXPECT_EQ(work.bytes, 100. * 12. + 11. * 4. + 30. * 8.);
  }
} // namespace
} // namespace tensormg
