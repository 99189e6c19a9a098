// Sliced ELL: the same entries, in the order that cuSPARSE asks for, and how much fills up the slices.
#include "kernels/diagnostics/sparse/sliced_ell.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/diagnostics/sparse/generators.h"
#include "tests/support/sparse_cases.h"

namespace tensormg
{
namespace
{
  using sparse::SlicedEll;
  using sparse::SparseMatrix;

  /// y = A x, slice by slice.
  std::vector<double> product(const SlicedEll<double> &matrix, const std::vector<double> &x)
  {
    std::vector<double> y(static_cast<std::size_t>(matrix.rows), 0.);
    const std::int64_t slices = matrix.slice_begin.size() - 1;
    for (std::int64_t s = 0; s < slices; ++s)
      for (std::int32_t at = matrix.slice_begin[s]; at < matrix.slice_begin[s + 1]; ++at)
      {
        const std::int64_t row = s * matrix.slice + (at - matrix.slice_begin[s]) % matrix.slice;
        if (matrix.column[at] < 0)
          EXPECT_EQ(matrix.value[at], 0.);
        else if (row < matrix.rows)
          y[static_cast<std::size_t>(row)] +=
              matrix.value[at] * x[static_cast<std::size_t>(matrix.column[at])];
        else
          ADD_FAILURE() << "an entry in row " << row;
      }
    return y;
  }

  TEST(SlicedEll, GivesTheSameProducts)
  {
    const sparse::ForParts in_two = [](std::int64_t size, const sparse::Part &work) {
      work(size / 2, size);
      work(0, size / 2);
    };
    for (const sparse::Generator &generator : sparse::generators())
    {
      SCOPED_TRACE(generator.name);
      const SparseMatrix<double> matrix = generator.make(20'000);
      const std::vector<double> x = test::random_vector<double>(matrix.columns);
      const SlicedEll<double> slices = sparse::make_sliced_ell<double>(matrix, in_two);
      test::expect_right(matrix.view(), x, product(slices, x));
      EXPECT_EQ(slices.entries, matrix.entries());
      EXPECT_EQ(std::count_if(slices.column.begin(), slices.column.end(),
                    [](std::int32_t column) { return column >= 0; }),
          matrix.entries());
      EXPECT_DOUBLE_EQ(sparse::filling_of_sliced_ell(matrix) * matrix.entries(),
          static_cast<double>(slices.value.size()));
    }
  }

  TEST(SlicedEll, OfEmptyRowsAndMatrices)
  {
    const SparseMatrix<double> nothing =
        sparse::build_by_rows(0, 5, [](std::int64_t, const sparse::Emit &) {});
    EXPECT_EQ(sparse::filling_of_sliced_ell(nothing), 0.);
    EXPECT_EQ(sparse::make_sliced_ell<double>(nothing).value.size(), 0);
    // One row of two entries among 33: a slice of two, and one without.
    const SparseMatrix<double> one =
        sparse::build_by_rows(33, 5, [](std::int64_t row, const sparse::Emit &emit) {
          if (row == 7)
          {
            emit(1, 2.);
            emit(3, 4.);
          }
        });
    EXPECT_EQ(sparse::filling_of_sliced_ell(one), 32.);
    const SlicedEll<double> slices = sparse::make_sliced_ell<double>(one);
    EXPECT_EQ(slices.slice_begin[1], 64);
    EXPECT_EQ(slices.slice_begin[2], 64);
    EXPECT_EQ(slices.column[32 + 7], 3);
    EXPECT_EQ(slices.value[7], 2.);
  }
} // namespace
} // namespace tensormg
