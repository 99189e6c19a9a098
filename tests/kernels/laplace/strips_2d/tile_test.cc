// The ring of lines of the 2D kernel: rows follow one another in it, and a line comes to where the one has been that many lines before.
#include <gtest/gtest.h>

#include "kernels/laplace/tiles/strips_2d.h"

namespace tensormg::laplace
{
namespace
{
  template <typename Number, int degree, int inputs>
  void check_ring()
  {
    using Tile = typename StripTileOf<Number, degree, inputs>::type;
    EXPECT_GE(Tile::lines, 2 * Tile::n) << "two rows are read at a time";
    int row = 0;
    for (int r = 0; r < 3 * Tile::lines; ++r, row = Tile::next_row(row))
      for (int j = 0; j < Tile::n; ++j)
        ASSERT_EQ(Tile::position(row, j), (r * Tile::n + j) % Tile::lines)
            << "degree " << degree << ", row " << r << ", line " << j;
  }

  template <typename Number, int degree = 1>
  void check_all()
  {
    check_ring<Number, degree, 0>();
    if constexpr (!std::is_same_v<Number, WideFloat>)
    {
      check_ring<Number, degree, 1>();
      check_ring<Number, degree, 2>();
    }
    if constexpr (degree < max_degree)
      check_all<Number, degree + 1>();
  }

  TEST(StripTile, LinesFollowOneAnotherInTheRing)
  {
    check_all<double>();
    check_all<float>();
    check_all<Half>();
    check_all<WideFloat>();
  }

  TEST(StripTile, SomeRingsAreNoWholeNumberOfRows)
  {
    static_assert(StripTileOf<double, 7, 0>::type::more_lines == 2);
    static_assert(StripTileOf<double, 8, 0>::type::lines == 19);
    using Tile = StripTileOf<double, 8, 0>::type;
    EXPECT_EQ(Tile::position(18, 0), 18);
    EXPECT_EQ(Tile::position(18, 1), 0) << "a row that ends at the beginning of the ring";
  }
} // namespace
} // namespace tensormg::laplace
