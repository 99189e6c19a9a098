// The format of slices: the same products, every row once, and filling only where it must be.
#include "operators/sparse/sliced_matrix.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "operators/sparse/generators.h"
#include "tests/support/sparse_cases.h"

namespace tensormg
{
namespace
{
  using sparse::SlicedMatrix;
  using sparse::SparseMatrix;

  SparseMatrix<double> from_case(const test::SparseCase<double> &matrix)
  {
    const auto rows = static_cast<std::int64_t>(matrix.row_begin.size()) - 1;
    return sparse::build_by_rows(
        rows, matrix.columns, [&](std::int64_t row, const sparse::Emit &emit) {
          for (std::int32_t e = matrix.row_begin[static_cast<std::size_t>(row)];
               e < matrix.row_begin[static_cast<std::size_t>(row) + 1]; ++e)
            emit(matrix.column[static_cast<std::size_t>(e)],
                matrix.value[static_cast<std::size_t>(e)]);
        });
  }

  void check(const SparseMatrix<double> &matrix)
  {
    const SlicedMatrix<double> sliced = sparse::make_sliced<double>(matrix);
    std::set<std::int32_t> targets;
    for (const std::int32_t target : sliced.target)
      EXPECT_TRUE(target < 0 || targets.insert(target).second) << target;
    EXPECT_EQ(
        targets.size(), static_cast<std::size_t>(matrix.rows - sliced.long_rows + sliced.pieces()));
    EXPECT_GE(sliced.stored(), matrix.entries());
    const std::vector<double> x = test::random_vector<double>(matrix.columns);
    std::vector<double> y = test::poisoned<double>(matrix.rows);
    std::vector<double> pieces = test::poisoned<double>(sliced.pieces());
    spmv::reference_sliced(sliced.view(), x.data(), y.data(), pieces.data());
    test::expect_right(matrix.view(), x, y);
  }

  TEST(SlicedMatrix, GivesTheSameProducts)
  {
    for (const std::vector<std::int32_t> &lengths : test::row_lengths())
    {
      SCOPED_TRACE(std::to_string(lengths.size()) + " rows");
      check(from_case(test::SparseCase<double>(1103, lengths)));
    }
    for (const sparse::Generator &generator : sparse::generators())
    {
      SCOPED_TRACE(generator.name);
      check(generator.make(20'000));
    }
  }

  TEST(SlicedMatrix, RowsOfOneLengthNeedNoFilling)
  {
    const SlicedMatrix<float> sliced = sparse::make_sliced<float>(
        from_case(test::SparseCase<double>(50, std::vector<std::int32_t>(64, 12))));
    EXPECT_EQ(sliced.stored(), 64 * 12);
    EXPECT_EQ(sliced.slices, 8);
    EXPECT_EQ(sliced.long_rows, 0);
  }

  TEST(SlicedMatrix, LongRowsAreCut)
  {
    const SlicedMatrix<double> sliced =
        sparse::make_sliced<double>(from_case(test::SparseCase<double>(50, {3, 1000, 256, 257})));
    EXPECT_EQ(sliced.long_rows, 2);
    EXPECT_EQ(sliced.pieces(), 8 + 8);
    EXPECT_EQ(sliced.stored(),
        1024 + 288 + 8 * 256); // chunks of whole blocks, and one slice with both others
    EXPECT_EQ(sliced.long_row[0], 1);
    EXPECT_EQ(sliced.long_row[1], 3);
  }

  TEST(SlicedMatrix, LongRowsStandInTheirOrder)
  {
    const SparseMatrix<double> matrix = from_case(test::SparseCase<double>(7000, {1, 5000, 2}));
    const SlicedMatrix<double> sliced = sparse::make_sliced<double>(matrix);
    EXPECT_EQ(sliced.pieces(), 3 * 8); // chunks of 2048
    for (std::int64_t i = 0; i < 5000; ++i)
      ASSERT_EQ(sliced.column[i], matrix.column[1 + i]) << i;
    for (std::int64_t i = 5000; i < 5000 / 32 * 32 + 32; ++i)
      EXPECT_EQ(sliced.value[i], 0.);
  }

  TEST(SlicedMatrix, WarpsGetAboutTheSameNumberOfBlocks)
  {
    std::vector<std::int32_t> lengths(1000, 3);
    lengths[10] = 7000;
    for (std::size_t row = 100; row < 200; ++row)
      lengths[row] = 100;
    const SlicedMatrix<double> sliced =
        sparse::make_sliced<double>(from_case(test::SparseCase<double>(8000, lengths)));
    EXPECT_EQ(sliced.warp_begin[0], 0);
    EXPECT_EQ(sliced.warp_begin[sliced.warps()], sliced.slices);
    for (std::int32_t w = 0; w < sliced.warps(); ++w)
    {
      const std::int32_t slices = sliced.warp_begin[w + 1] - sliced.warp_begin[w];
      EXPECT_GE(slices, 1);
      EXPECT_LE(slices, spmv::most_slices_of_warp);
      if (slices > 1)
      {
        EXPECT_LE(
            sliced.block_begin[sliced.warp_begin[w + 1]] - sliced.block_begin[sliced.warp_begin[w]],
            spmv::most_blocks_of_warp);
      }
    }
  }

  TEST(SlicedMatrix, PartsChangeNothing)
  {
    const sparse::ForParts in_three = [](std::int64_t size, const sparse::Part &work) {
      for (std::int64_t part = 2; part >= 0; --part)
        work(size * part / 3, size * (part + 1) / 3);
    };
    for (const sparse::Generator &generator : sparse::generators())
    {
      SCOPED_TRACE(generator.name);
      const SparseMatrix<double> whole = generator.make(20'000),
                                 parts = generator.make(20'000, in_three);
      ASSERT_EQ(whole.entries(), parts.entries());
      for (std::int32_t row = 0; row <= whole.rows; ++row)
        ASSERT_EQ(whole.row_begin[row], parts.row_begin[row]);
      for (std::int32_t e = 0; e < whole.entries(); ++e)
      {
        ASSERT_EQ(whole.column[e], parts.column[e]);
        ASSERT_EQ(whole.value[e], parts.value[e]);
      }
      const SlicedMatrix<float> a = sparse::make_sliced<float>(whole),
                                b = sparse::make_sliced<float>(whole, in_three);
      ASSERT_EQ(a.stored(), b.stored());
      for (std::int64_t e = 0; e < a.stored(); ++e)
      {
        ASSERT_EQ(a.column[e], b.column[e]);
        ASSERT_EQ(a.value[e], b.value[e]);
      }
    }
  }

  TEST(SlicedMatrix, FillingIsLittleForMatricesOfTheDiagnosis)
  {
    for (const char *name : {"poisson27", "elasticity", "lattice"})
      for (const sparse::Generator &generator : sparse::generators())
        if (name == std::string(generator.name))
        {
          const SparseMatrix<double> matrix = generator.make(200'000);
          EXPECT_LT(static_cast<double>(sparse::make_sliced<double>(matrix).stored()),
              1.1 * matrix.entries())
              << name;
        }
  }
} // namespace
} // namespace tensormg
