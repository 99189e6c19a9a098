// Checks of products: what they allow, which rows they compare, and that no wrong tile passes.
#include "apps/diagnose/gemm/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg::diagnose
{
namespace
{
  using namespace gemm_class;

  double allowed(Rounding rounding, std::int64_t k)
  {
    return times_expected * expected_error(rounding, k);
  }

  /// The largest errors of a full run on an H200, revision 1d39e5d.
  TEST(DiagnoseGemmCheck, AllowsWhatKernelsHaveAndNotMuchMore)
  {
    struct Largest
    {
      Rounding rounding;
      std::int64_t k;
      double error;
    };
    for (const Largest &largest :
        {Largest{Rounding::factors, 64, 1.971e-4}, {Rounding::factors, 511, 6.467e-5},
            {Rounding::factors, 1000, 4.369e-5}, {Rounding::factors, 4096, 2.186e-5},
            {Rounding::factors, 8192, 1.451e-5}, {Rounding::factors, 65536, 4.227e-6},
            {Rounding::fp32, 64, 2.586e-7}, {Rounding::fp32, 2048, 2.337e-7},
            {Rounding::fp32, 8192, 1.860e-7}, {Rounding::cut_off, 64, 1.408e-7},
            {Rounding::cut_off, 511, 2.554e-7}, {Rounding::cut_off, 4096, 5.057e-7},
            {Rounding::cut_off, 8192, 5.183e-7}, {Rounding::cut_off, 65536, 1.769e-6},
            {Rounding::three_terms, 64, 5.199e-7}, {Rounding::three_terms, 511, 1.062e-6},
            {Rounding::three_terms, 2048, 2.228e-6}, {Rounding::three_terms, 8192, 2.934e-6}})
    {
      const double room = allowed(largest.rounding, largest.k) / largest.error;
      EXPECT_GT(room, 4.) << largest.k << ", " << largest.error;
      EXPECT_LT(room, 13.) << largest.k << ", " << largest.error;
    }
    EXPECT_LT(allowed(Rounding::fp64, 8192), 1e-14);
    // Of factors rounded to 11 bits one lacking product of average size shows up to sums of some ten thousand.
    EXPECT_LT(allowed(Rounding::factors, 8192), 1. / 8192.);
    EXPECT_EQ(expected_error(Rounding::cut_off, 0), expected_error(Rounding::cut_off, 1));
  }

  std::set<std::int64_t> places(const std::vector<std::int64_t> &rows, std::int64_t tile)
  {
    std::set<std::int64_t> result;
    for (const std::int64_t row : rows)
      result.insert(row % tile);
    return result;
  }

  TEST(DiagnoseGemmCheck, RowsAreSpreadOverTheMatrixAndOverTiles)
  {
    for (const std::int64_t m : {1, 2, 7, 64, 255, 257, 1000, 1023, 4096, 8192, 100000})
      for (const std::int64_t count : {1, 2, 8, 24, 95, 300, 5000})
      {
        const std::vector<std::int64_t> rows = checked_rows(m, count);
        EXPECT_EQ(rows.front(), 0) << m << ", " << count;
        EXPECT_EQ(rows.back(), m - 1);
        EXPECT_LE(static_cast<std::int64_t>(rows.size()), std::max(2 * count, count + 1));
        EXPECT_TRUE(
            std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end());
        for (std::size_t i = 1; 4 * 256 * count < m && i < rows.size(); ++i)
          EXPECT_LT(rows[i] - rows[i - 1], m / std::max<std::int64_t>(1, count - 1) + 512);
      }
    EXPECT_EQ(checked_rows(100, 50).size(), 100u);
    EXPECT_EQ(places(checked_rows(8192, 24), 16).size(), 16u);
    EXPECT_EQ(places(checked_rows(4096, 95), 64).size(), 64u);
    // Rows of all four warps that are below each other in a tile.
    std::set<std::int64_t> warps;
    for (const std::int64_t row : checked_rows(4096, 95))
      warps.insert(row % 256 / 64);
    EXPECT_EQ(warps.size(), 4u);
    EXPECT_EQ(places(checked_rows(2048, 300), 256).size(), 256u);
  }

  /// A product in single, and changes of it.
  class DiagnoseGemmSums : public testing::Test
  {
  protected:
    DiagnoseGemmSums()
      : team(3)
      , a(random_matrix<float>(team, 1, size.m * size.k))
      , b(random_matrix<float>(team, 2, size.k * size.n))
      , sums(team, size, a.data(), b.data())
      , c(static_cast<std::size_t>(size.m * size.n))
    {
      std::vector<double> row(static_cast<std::size_t>(size.n));
      for (std::int64_t i = 0; i < size.m; ++i)
      {
        gemm::reference_row(size, i, a.data(), b.data(), row.data());
        std::copy(row.begin(), row.end(), c.begin() + i * size.n);
      }
    }
    float &at(std::int64_t i, std::int64_t j)
    {
      return c[static_cast<std::size_t>(i * size.n + j)];
    }
    double error() { return sums.error(team, c.data()); }

    const Size size{190, 270, 330};
    ThreadTeam team;
    Array<float> a, b;
    SumsOfEntries<float> sums;
    std::vector<float> c;
  };

  TEST_F(DiagnoseGemmSums, OfARightProductAreAsExactAsItsEntries)
  {
    EXPECT_GT(error(), 0.);
    EXPECT_LT(error(), expected_error(Rounding::fp32, size.k));
    ThreadTeam one(1);
    EXPECT_EQ(sums.error(one, c.data()), error());
    EXPECT_EQ(SumsOfEntries<float>(one, size, a.data(), b.data()).error(one, c.data()), error());
  }

  TEST_F(DiagnoseGemmSums, ErrorsOfEntriesAreMeasuredAsLarge)
  {
    // Independent errors of some size relative to |A| |B|, as rounded factors make them.
    const double size_of_errors = 1e-4;
    std::vector<double> magnitude(static_cast<std::size_t>(size.n));
    for (std::int64_t i = 0; i < size.m; ++i)
    {
      gemm::magnitude_row(size, i, a.data(), b.data(), magnitude.data());
      for (std::int64_t j = 0; j < size.n; ++j)
        at(i, j) += static_cast<float>(size_of_errors * random_sign(7, i * size.n + j) *
            magnitude[static_cast<std::size_t>(j)]);
    }
    EXPECT_GT(error(), size_of_errors);
    EXPECT_LT(error(), 5. * size_of_errors);
  }

  TEST_F(DiagnoseGemmSums, FindWrongTiles)
  {
    const std::vector<float> right = c;
    const auto found = [&](auto change) {
      c = right;
      change();
      return error();
    };
    const double limit = allowed(Rounding::factors, size.k);
    EXPECT_GT(found([&] { // a tile of C is that of its neighbour
      for (std::int64_t i = 64; i < 72; ++i)
        for (std::int64_t j = 128; j < 136; ++j)
          at(i, j) = at(i, j + 8);
    }),
        10. * limit);
    EXPECT_GT(found([&] { // the last ones have not been written
      for (std::int64_t i = 184; i < size.m; ++i)
        for (std::int64_t j = 264; j < size.n; ++j)
          at(i, j) = 0.F;
    }),
        5. * limit);
    EXPECT_GT(found([&] { std::swap_ranges(&at(7, 0), &at(8, 0), &at(71, 0)); }), 10. * limit);
    EXPECT_GT(found([&] { // rows of a tile lack a step along k
      for (std::int64_t i = 0; i < 64; ++i)
        for (std::int64_t j = 0; j < 64; ++j)
          for (std::int64_t k = 320; k < 328; ++k)
            at(i, j) -= a[i * size.k + k] * b[k * size.n + j];
    }),
        limit);
    EXPECT_GT(found([&] { at(101, 203) = at(102, 203); }), 10. * allowed(Rounding::fp32, size.k));
    // One product too few is seen in single precision.
    EXPECT_GT(found([&] { at(3, 5) -= a[3 * size.k + 9] * b[9 * size.n + 5]; }),
        allowed(Rounding::fp32, size.k));
    for (const float wrong : {std::numeric_limits<float>::quiet_NaN(),
             std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
      EXPECT_EQ(found([&] { at(size.m - 1, size.n - 1) = wrong; }),
          std::numeric_limits<double>::infinity());
  }

  TEST(DiagnoseGemmCheck, SumsInDoubleAreMoreExactThanTheProduct)
  {
    ThreadTeam team(2);
    const Size size{40, 3000, 2};
    const auto a = random_matrix<double>(team, 1, size.m * size.k),
               b = random_matrix<double>(team, 2, size.k * size.n);
    std::vector<double> c(static_cast<std::size_t>(size.m * size.n));
    for (std::int64_t i = 0; i < size.m; ++i)
      gemm::reference_row(size, i, a.data(), b.data(), c.data() + i * size.n);
    const SumsOfEntries<double> sums(team, size, a.data(), b.data());
    EXPECT_LT(sums.error(team, c.data()), expected_error(Rounding::fp64, size.k));
    c[4444] += 1e-10;
    EXPECT_GT(sums.error(team, c.data()), allowed(Rounding::fp64, size.k));
  }

  /// Rows that are not compared with the reference are checked, too.
  TEST(DiagnoseGemmCheck, WrongTilesInOtherRowsAreFound)
  {
    ThreadTeam team(1);
    const Size size{100, 2000, 2000};
    const Inputs<Half> inputs(team, size);
    ASSERT_LT(inputs.rows.size(), 30u);
    Array<float> storage_a, storage_b;
    Array<float> c(size.m * size.n);
    gemm::blas(
        size, readable(team, inputs.a, storage_a), readable(team, inputs.b, storage_b), c.data());
    EXPECT_LT(relative_error(team, size, inputs, c.data()), allowed(Rounding::cut_off, size.k));
    std::int64_t other = 0;
    while (std::any_of(inputs.rows.begin(), inputs.rows.end(),
        [&](const auto &row) { return row.index == other || row.index == other + 1; }))
      ++other;
    for (std::int64_t j = 64; j < 128; ++j)
      c[other * size.n + j] = c[(other + 1) * size.n + j];
    EXPECT_GT(relative_error(team, size, inputs, c.data()), allowed(Rounding::factors, size.k));
  }

  TEST(DiagnoseGemmCheck, RowsAreComparedEntryByEntry)
  {
    ThreadTeam team(2);
    const Size size{9, 13, 50};
    const Inputs<double> inputs(team, size);
    ASSERT_EQ(inputs.rows.size(), 9u);
    std::vector<double> c;
    for (const auto &row : inputs.rows)
      c.insert(c.end(), row.exact.begin(), row.exact.end());
    EXPECT_LT(relative_error(team, size, inputs, c.data()), expected_error(Rounding::fp64, size.k));
    c[3 * 13 + 4] += 1e-3 * inputs.rows[3].magnitude[4];
    EXPECT_NEAR(relative_error(team, size, inputs, c.data()), 1e-3, 1e-12);
  }
} // namespace
} // namespace tensormg::diagnose
