// The direct solver in device memory against that of the host: small kernels and cuBLAS, both dimensions,
// every mixture of boundaries, each number type.
#include "operators/constant/device_box_solver.h"

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "tests/support/boxes.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  class DeviceBox : public testing::Test
  {
  protected:
    static constexpr double tolerance = std::is_same_v<Number, double> ? 1e-12
        : std::is_same_v<Number, float>                                ? 2e-5
                                                                       : 2e-3;
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    /// On the finest level. Right-hand sides of mean zero, since the inverse of a rounded mean is none.
    void compare(const Problem &problem)
    {
      const Grid grid = make_grid(problem, MPI_COMM_SELF);
      const LevelGrid &level = grid.finest();
      const CellBasis basis = make_cell_basis(problem.degree);
      const auto b = test::random_vector<Number>(level.block, 1);
      Vector<Number> expected(level.block), found(level.block), again(level.block);
      BoxSolver(level, basis, problem).solve(expected, b);

      const OwnedStream stream;
      DeviceBoxSolver<Number> solver(level, basis, problem, {stream.get()});
      DeviceVector<Number> device_b(level.block, stream.get()), x(level.block, stream.get());
      copy_to_device(b, device_b, stream.get());
      device::fill_bytes(x.data(), 0xff, x.size() * sizeof(Number), stream.get());
      solver.solve(x, device_b);
      copy_to_host(x, found, stream.get());
      EXPECT_LT(test::relative_difference(found, expected), tolerance);
      EXPECT_TRUE(test::padding_is_zero(found));
      solver.solve(device_b, device_b);
      copy_to_host(device_b, again, stream.get());
      EXPECT_TRUE(test::same_bits(found, again));
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(DeviceBox, Numbers);

  TYPED_TEST(DeviceBox, SmallBlocks)
  {
    for (int degree = 1; degree <= max_degree; ++degree)
    {
      SCOPED_TRACE(degree);
      this->compare(test::box(3, degree, {2, 1, 3}, 0, "DDNNPP"));
      this->compare(test::box(2, degree, {3, 5, 1}, 0, "DNPP"));
      this->compare(test::box(3, degree, {1, 1, 1}, 0, "DDDDDD"));
    }
  }

  // Several panels and columns of blocks; padding in x.
  TYPED_TEST(DeviceBox, LongLines)
  {
    this->compare(test::box(3, 3, {5, 17, 2}, 0, "DDDNPP"));
    this->compare(test::box(3, 2, {2, 3, 23}, 0, "PPDDNN"));
    this->compare(test::box(2, 7, {16, 9, 1}, 0, "NDDD"));
  }

  TYPED_TEST(DeviceBox, NothingHoldsTheSolution)
  {
    this->compare(test::box(3, 2, {2, 2, 3}, 0, "NNPPNN"));
    this->compare(test::box(2, 3, {4, 2, 1}, 0, "PPPP"));
  }

  TYPED_TEST(DeviceBox, LargeBlocksByBlas)
  {
    const Problem wide = test::box(3, 3, {33, 2, 3}, 0, "DDNDPP");
    EXPECT_FALSE(fast_diagonalisation::is_small(make_grid(wide, MPI_COMM_SELF).finest().block));
    this->compare(wide);
    this->compare(test::box(3, 1, {3, 2, 65}, 0, "NNPPNN"));
    this->compare(test::box(2, 4, {2, 27, 1}, 0, "DDDD"));
    this->compare(test::box(2, 1, {312, 3, 1}, 0, "DDNN")); // rows padded to 320 cells
  }

  TEST(DeviceBoxMemory, CountsWhatItHolds)
  {
    LevelGrid small;
    small.global_cells = {3, 2, 1}; // rows of 2 * 8 numbers, 6 of them used
    small.block = Block(3, 1, small.global_cells);
    EXPECT_EQ(DeviceBoxSolver<double>::memory(small),
        8 * (6 * 4 * 2 + 2 * (16 * 6 + 4 * 4 + 2 * 2) + 6 + 4 + 2));
    LevelGrid large;
    large.global_cells = {70, 1, 1};
    large.block = Block(2, 1, large.global_cells);
    EXPECT_EQ(DeviceBoxSolver<double>::memory(large),
        8 * (140 * 2 + 144 * 140 + 2 * 2 + 1 + 140 + 2 + 1));
    EXPECT_EQ(DeviceBoxSolver<float>::memory(large),
        DeviceBoxSolver<double>::memory(large) + 8 * large.block.size());
  }
} // namespace
} // namespace tensormg
