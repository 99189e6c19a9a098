// Hardware counters in words.
#include <gtest/gtest.h>

#include "kernels/diagnostics/counters/counters.h"

namespace tensormg::counters
{
namespace
{
  Use use_of(double memory, double tensor)
  {
    Use use;
    use.units = {{"memory", memory}, {"L2", 30.4}, {"tensor", tensor}};
    use.resident_warps = 49.6;
    use.waits = {{"waiting for global memory", 61.5}, {"issuing", 20.}, {"full unit", 15.},
        {"waiting at a barrier", 3.5}};
    return use;
  }

  TEST(Counters, BusiestPartInWords)
  {
    EXPECT_EQ(busiest(use_of(41., 95.)).name, "tensor");
    EXPECT_EQ(in_words(use_of(41., 94.6)), "tensor busy to 95 %");
    EXPECT_EQ(in_words(use_of(80., 12.)), "memory busy to 80 %");
  }

  TEST(Counters, WaitsInWordsWhereNothingIsBusy)
  {
    EXPECT_EQ(in_words(use_of(79.9, 0.)),
        "nothing busy beyond 80 % (memory); 50 % of the most warps, their time: waiting for global memory "
        "62 %, issuing 20 %, full unit 15 %");
    Use use = use_of(50., 0.);
    use.waits = {{"sleeping", 9.}, {"issuing", 8.}};
    EXPECT_EQ(in_words(use),
        "nothing busy beyond 50 % (memory); 50 % of the most warps, their time: sleeping 9 %");
    use.waits.clear();
    EXPECT_EQ(in_words(use), "nothing busy beyond 50 % (memory); 50 % of the most warps");
    EXPECT_EQ(in_words({}), "nothing counted");
  }
} // namespace
} // namespace tensormg::counters
