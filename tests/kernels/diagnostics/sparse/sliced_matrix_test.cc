// The format of slices: the same products, every row once, and filling only where it must be.
#include "kernels/diagnostics/sparse/sliced_matrix.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/diagnostics/sparse/generators.h"
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
    for (const std::int32_t length : {1, 2, 3, 4, 5, 7, 12, 39})
    {
      const SlicedMatrix<float> sliced = sparse::make_sliced<float>(
          from_case(test::SparseCase<double>(50, std::vector<std::int32_t>(64, length))));
      EXPECT_EQ(sliced.stored(), 64 * length);
      EXPECT_EQ(sliced.stored_in_quads(), 64 * (length / 4 * 4));
      EXPECT_EQ(sliced.groups, 2);
      EXPECT_EQ(sliced.long_rows, 0);
    }
  }

  TEST(SlicedMatrix, PlacesOfAGroupAreDifferent)
  {
    for (const std::int64_t n : {1, 3, 4, 7, 8, 13})
    {
      std::set<std::int64_t> of_double, of_half;
      for (std::int64_t block = 0; block < n; ++block)
        for (int lane = 0; lane < spmv::group_rows; ++lane)
        {
          of_double.insert(spmv::place_in_group<double>(block, n, lane));
          of_half.insert(spmv::place_in_group<Half>(block, n, lane));
        }
      for (const std::set<std::int64_t> &places : {of_double, of_half})
      {
        EXPECT_EQ(static_cast<std::int64_t>(places.size()), n * spmv::block_size);
        EXPECT_EQ(*places.begin(), 0);
        EXPECT_EQ(*places.rbegin(), n * spmv::block_size - 1);
      }
    }
  }

  TEST(SlicedMatrix, LongRowsAreCut)
  {
    const SlicedMatrix<double> sliced = sparse::make_sliced<double>(
        from_case(test::SparseCase<double>(50, {3, 1000, 256, 257, 2048, 2049, 6000})));
    EXPECT_EQ(sliced.chunks, 4 + 2 + 3); // rows of more than 96 entries
    EXPECT_EQ(sliced.long_rows, 2);      // the others are one chunk each
    EXPECT_EQ(sliced.pieces(), 2 + 3);
    EXPECT_EQ(sliced.stored(), 1024 + 256 + 288 + 2048 + 2080 + 6016 + 32 * 3); // whole blocks
    EXPECT_EQ(sliced.target[0], 1);
    EXPECT_EQ(sliced.target[1], -1);
    EXPECT_EQ(sliced.long_row[0], 5);
    EXPECT_EQ(sliced.long_row[1], 6);
  }

  TEST(SlicedMatrix, WhatIsLongDependsOnTheMean)
  {
    EXPECT_EQ(spmv::longest_short_row(0, 0), 48);
    EXPECT_EQ(spmv::longest_short_row(1000, 3000), 48);
    EXPECT_EQ(spmv::longest_short_row(1000, 39'000), 78);
    EXPECT_EQ(spmv::longest_short_row(1000, 155'000), 96);
  }

  TEST(SlicedMatrix, LongRowsStandInTheirOrder)
  {
    const SparseMatrix<double> matrix = from_case(test::SparseCase<double>(7000, {1, 5000, 2}));
    const SlicedMatrix<double> sliced = sparse::make_sliced<double>(matrix);
    EXPECT_EQ(sliced.pieces(), 3); // chunks of 2048
    std::int64_t next = 1;
    for (std::int32_t chunk = 0; chunk < 3; ++chunk)
    {
      const std::int64_t begin = std::int64_t(spmv::block_size) * sliced.block_begin[chunk],
                         n = sliced.block_begin[chunk + 1] - sliced.block_begin[chunk];
      for (std::int64_t block = 0; block < n; ++block)
        for (int lane = 0; lane < spmv::block_size; ++lane, ++next)
          if (next < 5001)
            ASSERT_EQ(sliced.column[begin + spmv::place_in_group<std::int32_t>(block, n, lane)],
                matrix.column[next])
                << next;
          else
            EXPECT_EQ(sliced.value[begin + spmv::place_in_group<double>(block, n, lane)], 0.);
    }
    EXPECT_EQ(next, 1 + 5000 / 32 * 32 + 32);
  }

  TEST(SlicedMatrix, RowsStayWithinTheirWindow)
  {
    std::vector<std::int32_t> lengths(3 * sparse::sorting_window + 100);
    for (std::size_t row = 0; row < lengths.size(); ++row)
      lengths[row] = static_cast<std::int32_t>(row * 7919 % 11);
    const SlicedMatrix<double> sliced =
        sparse::make_sliced<double>(from_case(test::SparseCase<double>(50, lengths)));
    for (std::int64_t i = 0; i < sliced.target.size(); ++i)
    {
      const std::int64_t row = sliced.target[i];
      EXPECT_TRUE(row < 0 || row / sparse::sorting_window == i / sparse::sorting_window) << i;
    }
    // Few groups have rows of two lengths.
    EXPECT_LT(
        static_cast<double>(sliced.stored()), 1.03 * 5. * static_cast<double>(lengths.size()));
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
    for (const sparse::Generator &generator : sparse::generators())
    {
      const SparseMatrix<double> matrix = generator.make(200'000);
      EXPECT_LT(
          static_cast<double>(sparse::make_sliced<double>(matrix).stored()), 1.1 * matrix.entries())
          << generator.name;
    }
  }
} // namespace
} // namespace tensormg
