// Matrices in blocks: the same entries, and blocks only where the matrix has them.
#include "kernels/diagnostics/sparse/block_matrix.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/diagnostics/sparse/generators.h"
#include "tests/support/sparse_cases.h"

namespace tensormg
{
namespace
{
  using sparse::BlockMatrix;
  using sparse::SparseMatrix;

  /// y = A x, block by block.
  std::vector<double> product(const BlockMatrix<double> &matrix, const std::vector<double> &x)
  {
    const auto n = static_cast<std::size_t>(matrix.block);
    std::vector<double> y(n * static_cast<std::size_t>(matrix.block_rows), 0.);
    for (std::int32_t row = 0; row < matrix.block_rows; ++row)
      for (std::int32_t b = matrix.row_begin[row]; b < matrix.row_begin[row + 1]; ++b)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j)
            y[n * static_cast<std::size_t>(row) + i] +=
                matrix.value[static_cast<std::int64_t>(
                    (static_cast<std::size_t>(b) * n + i) * n + j)] *
                x[n * static_cast<std::size_t>(matrix.column[b]) + j];
    return y;
  }

  SparseMatrix<double> generated(const char *name)
  {
    for (const sparse::Generator &generator : sparse::generators())
      if (name == std::string(generator.name))
        return generator.make(20'000);
    throw std::logic_error(name);
  }

  TEST(BlockMatrix, GivesTheSameProducts)
  {
    const sparse::ForParts in_two = [](std::int64_t size, const sparse::Part &work) {
      work(size / 2, size);
      work(0, size / 2);
    };
    for (const char *name : {"elasticity", "lattice"})
    {
      SCOPED_TRACE(name);
      const SparseMatrix<double> matrix = generated(name);
      const std::vector<double> x = test::random_vector<double>(matrix.columns);
      for (const std::int32_t block : {1, 3})
      {
        const BlockMatrix<double> blocks = sparse::make_blocks<double>(matrix, block, in_two);
        test::expect_right(matrix.view(), x, product(blocks, x));
        EXPECT_EQ(blocks.value.size(), matrix.entries()); // dense blocks
      }
    }
    // Blocks that are not full, and columns that stand twice.
    const test::SparseCase<double> odd(66, {3, 0, 5, 20, 1, 0, 0, 40});
    const SparseMatrix<double> matrix =
        sparse::build_by_rows(8, 66, [&](std::int64_t row, const sparse::Emit &emit) {
          for (std::int32_t e = odd.row_begin[static_cast<std::size_t>(row)];
               e < odd.row_begin[static_cast<std::size_t>(row) + 1]; ++e)
            emit(odd.column[static_cast<std::size_t>(e)], odd.value[static_cast<std::size_t>(e)]);
        });
    const std::vector<double> x = test::random_vector<double>(66);
    test::expect_right(matrix.view(), x, product(sparse::make_blocks<double>(matrix, 2), x));
    EXPECT_THROW(sparse::make_blocks<double>(matrix, 3), std::invalid_argument);
  }

  TEST(BlockMatrix, BlocksAreFoundWhereTheyAre)
  {
    EXPECT_EQ(sparse::find_block(generated("elasticity")), 3);
    EXPECT_EQ(sparse::find_block(generated("lattice")), 3);
    EXPECT_EQ(sparse::find_block(generated("poisson7")), 1);
    EXPECT_EQ(sparse::find_block(generated("circuit")), 1);
    EXPECT_EQ(sparse::find_block(SparseMatrix<double>()), 1);
  }
} // namespace
} // namespace tensormg
