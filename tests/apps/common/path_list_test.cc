// Lists of paths, in which a path may have a comma.
#include "apps/common/path_list.h"

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using Paths = std::vector<std::string>;

  TEST(PathList, Reads)
  {
    EXPECT_EQ(split_paths(""), Paths{});
    EXPECT_EQ(split_paths("  "), Paths{});
    EXPECT_EQ(split_paths("a b.mtx, /c/d.mtx"), (Paths{"a b.mtx", "/c/d.mtx"}));
    EXPECT_EQ(split_paths("a\\,b.mtx,c"), (Paths{"a,b.mtx", "c"}));
    EXPECT_EQ(split_paths("a\\\\, b\\c"), (Paths{"a\\", "b\\c"}));
    EXPECT_EQ(split_paths("a,,b"), (Paths{"a", "", "b"}));
  }

  TEST(PathList, WhatIsWrittenReadsBack)
  {
    EXPECT_EQ(join_paths({"a", "b c"}), "a, b c");
    EXPECT_EQ(join_paths({"a,b", "c"}), "a\\,b, c");
    for (const Paths &paths :
        {Paths{"a,b", "c\\", "\\,", ",,"}, Paths{"\\\\", "a\\b"}, Paths{}, Paths{"x"}})
      EXPECT_EQ(split_paths(join_paths(paths)), paths);
  }
} // namespace
} // namespace tensormg
