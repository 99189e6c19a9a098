// Every step of every tile belongs to one section, and the sums of a tile lie next to each other.
#include <vector>

#include <gtest/gtest.h>

#include "kernels/diagnostics/gemm/stream_k.h"

namespace tensormg::gemm
{
namespace
{
  std::vector<StreamK> products()
  {
    std::vector<StreamK> result;
    for (const Tiles tiles : {Tiles{1, 1}, {3, 1}, {2, 5}, {5, 9}, {9, 3}})
      for (const int steps : {1, 2, 7, 64})
      {
        const int all = tiles.m * tiles.n;
        for (const int whole : {0, all / 2, all - 1})
          for (const int shares : {1, 2, 3, 5, all, 4 * all, 132, 264})
            if (const StreamK product{tiles, steps, whole, shares};
                shares <= product.steps_of_divided())
              result.push_back(product);
      }
    return result;
  }

  /// Calls function(block, section) for all of them.
  template <typename Function>
  void for_each_section(const StreamK &product, const Function &function)
  {
    for (int block = 0; block < product.blocks(); ++block)
      for (int index = 0;; ++index)
      {
        const SectionOfShare section = section_of(product, block, index);
        if (section.first == section.end)
          break;
        function(block, section);
      }
  }

  TEST(GemmStreamK, SectionsCoverEveryStepOnce)
  {
    for (const StreamK &product : products())
    {
      std::vector<int> covered(
          static_cast<std::size_t>(product.tiles.m * product.tiles.n * product.steps));
      for_each_section(product, [&](int, const SectionOfShare &section) {
        ASSERT_LE(0, section.first);
        ASSERT_LE(section.end, product.steps);
        for (int step = section.first; step < section.end; ++step)
          ++covered.at(static_cast<std::size_t>(section.tile * product.steps + step));
      });
      EXPECT_EQ(covered, std::vector<int>(covered.size(), 1));
    }
  }

  TEST(GemmStreamK, SharesDifferByOneStep)
  {
    for (const StreamK &product : products())
    {
      std::vector<int> steps(static_cast<std::size_t>(product.blocks()));
      for_each_section(product, [&](int block, const SectionOfShare &section) {
        steps.at(static_cast<std::size_t>(block)) += section.end - section.first;
      });
      for (int block = 0; block < product.blocks(); ++block)
      {
        const std::int64_t all = product.steps_of_divided(), least = all / product.shares;
        const int own = steps[static_cast<std::size_t>(block)];
        if (block < product.whole)
          EXPECT_EQ(own, product.steps);
        else
        {
          EXPECT_GE(own, least);
          EXPECT_LE(own, least + 1);
        }
      }
    }
  }

  /// In the order of k, in places that no other section has.
  TEST(GemmStreamK, SumsOfATileFollowEachOther)
  {
    for (const StreamK &product : products())
    {
      std::vector<int> used(static_cast<std::size_t>(product.partials()));
      std::vector<int> next(static_cast<std::size_t>(product.divided())), end(next.size());
      for_each_section(product, [&](int block, const SectionOfShare &section) {
        if (block < product.whole)
        {
          EXPECT_EQ(section.partial, -1);
          return;
        }
        ++used.at(static_cast<std::size_t>(section.partial));
        const int tile = section.tile - product.whole;
        const Partials partials = partials_of(product, tile);
        int &count = next.at(static_cast<std::size_t>(tile));
        EXPECT_EQ(section.partial, partials.first + count);
        EXPECT_EQ(section.first, end[static_cast<std::size_t>(tile)]);
        end[static_cast<std::size_t>(tile)] = section.end;
        ++count;
      });
      for (const int times : used)
        EXPECT_LE(times, 1);
      for (int tile = 0; tile < product.divided(); ++tile)
        EXPECT_EQ(next[static_cast<std::size_t>(tile)], partials_of(product, tile).count);
    }
  }

  /// Beginning at multiples of a share's length where a section has one.
  TEST(GemmStreamK, SectionsAreGoneThroughOnce)
  {
    for (const StreamK &product : products())
      for_each_section(product, [&](int block, const SectionOfShare &section) {
        std::vector<int> seen(static_cast<std::size_t>(section.steps()));
        for (int i = 0; i < section.steps(); ++i)
          ++seen.at(static_cast<std::size_t>(section.step(i) - section.first));
        EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
        if (block < product.whole)
          return;
        // The first multiple of a share's length in it, if there is one.
        int expected = section.first;
        for (int share = product.shares - 1; share >= 0; --share)
          if (product.begin(share) >= section.first && product.begin(share) < section.end)
            expected = static_cast<int>(product.begin(share));
        EXPECT_EQ(section.start, expected);
      });
  }

  /// 45 tiles of 1024 steps, of an FP64 product of 300 x 520 x 16384, on 132 multiprocessors with two blocks each.
  TEST(GemmStreamK, AnExample)
  {
    constexpr StreamK product{{5, 9}, 1024, 0, 264};
    static_assert(product.steps_of_divided() == 46080 && product.partials() == 308);
    // The first boundary of a tile, step 1024, is in share 5: steps 872 to 1047.
    static_assert(
        product.begin(5) == 872 && product.begin(6) == 1047 && product.share_of(1024) == 5);
    static_assert(section_of(product, 5, 0).tile == 0 && section_of(product, 5, 0).end == 1024 &&
        section_of(product, 5, 0).partial == 5);
    static_assert(section_of(product, 5, 1).tile == 1 && section_of(product, 5, 1).end == 23 &&
        section_of(product, 5, 1).partial == 6);
    // Tile 1 is gone through in time with tile 0: from step 174 on.
    static_assert(section_of(product, 6, 0).first == 23 && section_of(product, 6, 0).start == 174);
    static_assert(section_of(product, 6, 0).step(197 - 174) == 23);
    static_assert(section_of(product, 5, 2).first == section_of(product, 5, 2).end);
    static_assert(partials_of(product, 1).first == 6 && partials_of(product, 1).count == 7);
  }

  /// More than 2^31 steps in all.
  TEST(GemmStreamK, LongProducts)
  {
    constexpr StreamK product{{8, 8}, 1 << 27, 0, 264};
    static_assert(product.begin(264) == product.steps_of_divided());
    static_assert(product.share_of(product.steps_of_divided() - 1) == 263);
    static_assert(
        section_of(product, 263, 0).tile == 63 && section_of(product, 263, 0).end == 1 << 27);
  }
} // namespace
} // namespace tensormg::gemm
