// Interior and boundary of a block: every row once, and nothing in the interior that waits.
#include "operators/mesh/row_split.h"

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  bool contains(const laplace::RowRange &range, std::int64_t y, std::int64_t z)
  {
    return range.y_begin <= y && y < range.y_end && range.z_begin <= z && z < range.z_end;
  }

  /// All combinations of sides.
  template <typename Function>
  void for_each_waits(Function &&f)
  {
    for (unsigned mask = 0; mask < 16; ++mask)
    {
      std::array<bool, 6> waits{};
      for (unsigned s = 0; s < 4; ++s)
        waits[s + 2] = (mask >> s & 1U) != 0;
      f(waits);
    }
  }

  TEST(RowSplit, EveryRowOnceAndTheInteriorDoesNotWait)
  {
    for (std::int64_t ny = 1; ny <= 4; ++ny)
      for (std::int64_t nz = 1; nz <= 4; ++nz)
        for_each_waits([&](const std::array<bool, 6> &waits) {
          SCOPED_TRACE(testing::Message() << ny << " x " << nz << ", y " << waits[2] << waits[3]
                                          << ", z " << waits[4] << waits[5]);
          const RowSplit split = split_rows(Block(3, 2, {5, ny, nz}), waits);
          bool some_row_is_free = false;
          for (std::int64_t y = 0; y < ny; ++y)
            for (std::int64_t z = 0; z < nz; ++z)
            {
              const bool is_free = !(waits[2] && y == 0) && !(waits[3] && y == ny - 1) &&
                  !(waits[4] && z == 0) && !(waits[5] && z == nz - 1);
              some_row_is_free = some_row_is_free || is_free;
              int parts = 0;
              for (const laplace::RowRange &part : split.boundary)
                parts += contains(part, y, z);
              EXPECT_EQ(contains(split.interior, y, z), is_free) << y << ' ' << z;
              EXPECT_EQ(parts, is_free ? 0 : 1) << y << ' ' << z;
            }
          EXPECT_EQ(split.interior.empty(), !some_row_is_free);
          for (const laplace::RowRange &part : split.boundary)
            EXPECT_FALSE(part.empty());
        });
  }

  TEST(RowSplit, WithoutInteriorTheBlockStaysWhole)
  {
    const RowSplit split =
        split_rows(Block(3, 2, {5, 4, 2}), {false, false, true, true, true, true});
    EXPECT_TRUE(split.interior.empty());
    EXPECT_EQ(split.boundary, (std::vector<laplace::RowRange>{{0, 4, 0, 2}}));
  }

  TEST(RowSplit, NothingToWaitForIsAllInterior)
  {
    const RowSplit split = split_rows(Block(2, 3, {4, 7, 1}), {});
    EXPECT_EQ(split.interior, (laplace::RowRange{0, 7, 0, 1}));
    EXPECT_TRUE(split.boundary.empty());
  }
} // namespace
} // namespace tensormg
