// Where degrees of freedom lie in memory, and how rows are padded.
#include "kernels/core/block.h"

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  // In 3D and where more padding would take more than a 32nd: to 8 cells.
  static_assert(
      padded_cells(3, 1) == 8 && padded_cells(3, 8) == 8 && padded_cells(3, 1001) == 1008);
  static_assert(
      padded_cells(2, 1) == 8 && padded_cells(2, 60) == 64 && padded_cells(2, 248) == 248);
  // Lines of 64 cells, halves and quarters of them.
  static_assert(padded_cells(2, 312) == 320 && padded_cells(2, 2050) == 2112);
  static_assert(padded_cells(2, 1026) == 1056 && padded_cells(2, 264) == 272);
  static_assert(padded_cells(2, 5776) == 5824 && padded_cells(2, 1928) == 1984);
  // Not to pages of 512 cells, unless 8 cells ask for it.
  static_assert(padded_cells(2, 8660) == 8672 && padded_cells(2, 1528) == 1528);
  static_assert(padded_cells(2, 4096) == 4096 && padded_cells(2, 1020) == 1024);

  TEST(Block, RowsArePaddedByAtMostA32ndBeyondEightCells)
  {
    for (std::int64_t cells = 1; cells < 5000; ++cells)
    {
      const std::int64_t pitch = padded_cells(2, cells), least = padded_cells(3, cells);
      EXPECT_GE(pitch, least);
      EXPECT_EQ(pitch % row_granularity, 0);
      EXPECT_TRUE(pitch == least || 32 * (pitch - cells) <= cells) << cells;
      // Rows of a coarser block hold half of a row, as transfers between them expect of those in use.
      if (cells % 2 == 0)
      {
        EXPECT_GE(2 * padded_cells(2, cells / 2), pitch) << cells;
      }
    }
  }

  TEST(Block, CellsFollowEachOther)
  {
    const Block block(2, 2, {312, 3, 1});
    EXPECT_EQ(block.pitch, 320);
    EXPECT_EQ(block.row(), 3 * 320);
    EXPECT_EQ(block.size(), 9 * 320 * 3);
    EXPECT_EQ(block.dofs(), 9 * 312 * 3);
    EXPECT_EQ(block.index(1, 0, 0, 0, 0, 0), 1);
    EXPECT_EQ(block.index(0, 0, 0, 1, 0, 0), 320);
    EXPECT_EQ(block.index(0, 0, 0, 0, 1, 0), 3 * 320);
    EXPECT_EQ(block.index(0, 1, 0, 0, 0, 0), 9 * 320);
  }
} // namespace
} // namespace tensormg
