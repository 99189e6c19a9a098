// How steps of a stencil are divided into passes, and which depths no pass of the device reaches.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/diagnose/stencil/passes.h"

namespace tensormg::diagnose
{
namespace
{
  int sum(const std::vector<int> &passes)
  {
    return std::accumulate(passes.begin(), passes.end(), 0);
  }

  TEST(StencilPasses, EvenOnesAreFewAndDifferByOneStepAtMost)
  {
    EXPECT_EQ(even_passes(7, 3), (std::vector<int>{2, 2, 3}));
    EXPECT_EQ(even_passes(6, 6), (std::vector<int>{6}));
    for (int depth = 1; depth <= 12; ++depth)
      for (int most = 1; most <= 7; ++most)
      {
        SCOPED_TRACE(std::to_string(depth) + " steps, " + std::to_string(most) + " in a pass");
        const std::vector<int> passes = even_passes(depth, most);
        const auto [fewest, largest] = std::minmax_element(passes.begin(), passes.end());
        EXPECT_EQ(sum(passes), depth);
        EXPECT_LE(*largest, most);
        EXPECT_LE(*largest - *fewest, 1);
        EXPECT_LT((static_cast<int>(passes.size()) - 1) * most, depth);
      }
  }

  TEST(StencilPasses, HalvedOnesTakeTheLargestThatFits)
  {
    EXPECT_EQ(halved_passes(7, 4), (std::vector<int>{4, 2, 1}));
    EXPECT_EQ(halved_passes(8, 4), (std::vector<int>{4, 4}));
    EXPECT_EQ(halved_passes(3, 2), (std::vector<int>{2, 1}));
    EXPECT_EQ(halved_passes(3, 1), (std::vector<int>{1, 1, 1}));
  }

  TEST(StencilPasses, EachShapeHasItsLargestPass)
  {
    const auto largest = [](const std::string &name) {
      for (const stencil::Shape &shape : stencil::shapes)
        if (name == shape.name)
          return largest_device_pass(shape);
      ADD_FAILURE() << "no stencil " << name;
      return 0;
    };
    EXPECT_EQ(largest("2d5pt"), 6);
    EXPECT_EQ(largest("3d7pt"), 2);
    for (const stencil::Shape &shape : stencil::shapes)
    {
      EXPECT_GE(largest_device_pass(shape), 2) << shape.name;
      EXPECT_LE(largest_device_pass(shape), stencil::max_depth) << shape.name;
    }
  }
} // namespace
} // namespace tensormg::diagnose
