// Products with sparse matrices: every kernel against the reference, for rows of all lengths, empty rows and
// matrices, dense rows, and any number of shares.
#include "kernels/diagnostics/spmv/spmv.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/sparse_cases.h"

namespace tensormg
{
namespace
{
  using namespace spmv;
  using test::expect_right;
  using test::poisoned;
  using test::random_vector;
  using test::row_lengths;
  template <typename Number>
  using Matrix = test::SparseCase<Number>;

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
