// What a long run says while it would be silent.
#include "apps/common/progress.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  TEST(Progress, SpeaksOnlyWhileAStepIsSilent)
  {
    std::atomic<int> lines = 0;
    std::string last;
    {
      Progress progress(
          [&](const std::string &line) {
            last = line;
            ++lines;
          },
          0.05);
      std::this_thread::sleep_for(std::chrono::milliseconds(120));
      EXPECT_EQ(lines, 0) << "no step has begun";
      progress.begin("a step");
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (lines < 2 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_GE(lines, 2);
    }
    EXPECT_EQ(last, "tensormg: ... a step\n");
  }

  TEST(Progress, OfWhatIsShortNothing)
  {
    int lines = 0;
    {
      Progress progress([&](const std::string &) { ++lines; }, 1000.);
      progress.begin("a step");
      progress.rest();
    } // does not wait
    EXPECT_EQ(lines, 0);
    Progress nobody;
    nobody.begin("a step");
    nobody.rest();
  }
} // namespace
} // namespace tensormg
