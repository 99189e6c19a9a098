// Tiles of the tensor-core line kernel: what lies where in shared memory, the banks that a warp touches, how lines are
// dealt to warps, the order of the blocks. Proved for all degrees and number types, without a device.
#include "kernels/laplace/lines/tile.h"

#include <array>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/mma/bank_conflicts.h"

namespace tensormg
{
namespace
{
  using laplace::LinesLayout;
  using laplace::LinesUnits;

  /// f(layout) for every degree, dimension and number type: bytes stored and computed with.
  template <typename Function>
  void for_each_layout(Function f)
  {
    for (const int dim : {2, 3})
      for (const auto &[number, sum] : {std::pair{8, 8}, {4, 4}, {2, 4}})
        for (int n = 2; n <= 9; ++n)
        {
          LinesLayout layout =
              laplace::best_layout(n, dim, number, sum, laplace::half_of_shared_memory);
          if (layout.groups == 0)
            layout = laplace::best_layout(n, dim, number, sum, laplace::all_of_shared_memory);
          SCOPED_TRACE(testing::Message() << dim << "D, n = " << n << ", " << number << " bytes");
          ASSERT_GT(layout.groups, 0);
          f(layout);
        }
  }

  /// Every number has a place of its own, with room for the cells beside the tile.
  void expect_injective(
      const LinesLayout &layout, const LinesLayout::Strides &strides, int rows, int beside)
  {
    std::set<int> taken;
    int numbers = 0;
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < layout.nz(); ++k)
        for (int j = 0; j < layout.n; ++j)
          for (int i = 0; i < layout.n; ++i)
            for (int cell = -beside; cell < layout.cells() + beside; ++cell)
            {
              ++numbers;
              taken.insert(
                  row * strides.row + k * strides.z + j * strides.y + i * strides.x + cell);
            }
    EXPECT_EQ(static_cast<int>(taken.size()), numbers);
    EXPECT_LE(*taken.rbegin(), rows * strides.row);
  }

  TEST(LinesTile, NumbersHavePlaces)
  {
    for_each_layout([](const LinesLayout &layout) {
      expect_injective(layout, layout.u(), layout.rows + 2, 1);
      expect_injective(layout, layout.sums(), layout.rows, 0);
      // Pieces of 16 bytes are aligned.
      for (const int stride : {layout.u().x, layout.u().y, layout.u().z, layout.u().row})
        EXPECT_EQ(stride * layout.number_bytes % 16, 0);
      EXPECT_GE(layout.diagonal_at(), layout.u_bytes());
      EXPECT_GE(layout.scratch_at(), layout.diagonal_at());
    });
  }

  // FP32 of degree 8 with the shared memory of compute capability 8.0 (163 KiB): only without the room that keeps banks apart.
  TEST(LinesTile, DenseWhereSpreadDoesNotFit)
  {
    constexpr int bytes = 162 * 1024;
    EXPECT_EQ(laplace::best_layout(9, 3, 4, 4, bytes).groups, 0);
    const LinesLayout layout = laplace::best_layout(9, 3, 4, 4, bytes, false);
    ASSERT_GT(layout.groups, 0);
    EXPECT_LE(layout.scratch_at(), bytes);
    expect_injective(layout, layout.u(), layout.rows + 2, 1);
    expect_injective(layout, layout.sums(), layout.rows, 0);
    for (const int stride : {layout.u().x, layout.u().y, layout.u().z, layout.u().row})
      EXPECT_EQ(stride * layout.number_bytes % 16, 0);
  }

  /// Lanes are eight cells of four modes a stride apart.
  mma::Wavefronts four_modes(int stride, int bytes)
  {
    return mma::wavefronts(
        mma::make_addresses([&](int lane) { return (lane % 4 * stride + lane / 4) * bytes; }),
        bytes);
  }

  // Sums have no bank conflicts in any direction, and numbers of one neighbour have none. FP16: modes 2 t and, with the
  // next instruction, 2 t + 1.
  TEST(LinesTile, FourModesLieInDifferentBanks)
  {
    for_each_layout([](const LinesLayout &layout) {
      for (int d = 0; d < layout.dim; ++d)
      {
        EXPECT_EQ(four_modes(layout.sums().of(d), layout.sum_bytes).conflicts(), 0) << d;
        if (d < 2)
        {
          const int stride = layout.u().of(d) * (layout.number_bytes == 2 ? 2 : 1);
          EXPECT_EQ(four_modes(stride, layout.number_bytes).conflicts(), 0) << d;
        }
      }
    });
  }

  // Every line of every cell once, whatever the number of strips in a product.
  TEST(LinesTile, UnitsHaveEveryLine)
  {
    for_each_layout([](const LinesLayout &layout) {
      for (const int strips : {1, 2, 4})
        for (const int warps : {8, 12, 16})
        {
          const LinesUnits units = laplace::best_units(layout, strips, warps);
          EXPECT_EQ(strips % units.groups, 0);
          EXPECT_EQ(units.groups * units.columns, layout.groups);
          EXPECT_EQ(units.lines * units.chunks, layout.n);
          EXPECT_EQ(units.of_row() * units.lines * units.groups, layout.groups * layout.lines());
        }
    });
  }

  TEST(LinesTile, GridHasEveryTile)
  {
    for (const laplace::LinesGrid grid :
        {laplace::LinesGrid{1, 1, 1, 8}, laplace::LinesGrid{3, 2, 19, 8},
            laplace::LinesGrid{2, 5, 16, 8}, laplace::LinesGrid{4, 1, 7, 30}})
    {
      std::set<std::array<int, 3>> places;
      for (int block = 0; block < grid.blocks(); ++block)
      {
        const auto [x, y, z] = grid.place(block);
        EXPECT_TRUE(
            x >= 0 && x < grid.tiles_x && y >= 0 && y < grid.tiles_y && z >= 0 && z < grid.layers);
        places.insert({x, y, z});
      }
      EXPECT_EQ(static_cast<std::int64_t>(places.size()), grid.blocks());
    }
  }
} // namespace
} // namespace tensormg
