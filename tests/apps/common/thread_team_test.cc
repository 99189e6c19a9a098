// The team of threads: every member works once per call, parts cover everything, exceptions come back.
#include "apps/common/thread_team.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  TEST(ThreadTeam, EveryMemberWorksOncePerCall)
  {
    for (const int size : {1, 2, 5})
    {
      ThreadTeam team(size);
      ASSERT_EQ(team.size(), size);
      std::vector<int> calls(static_cast<std::size_t>(size), 0); // each its own: no lock
      for (int call = 0; call < 2000; ++call)
        team.run([&](int index) { ++calls[static_cast<std::size_t>(index)]; });
      EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(size), 2000));
    }
  }

  TEST(ThreadTeam, ResultsOfACallAreThereWhenItReturns)
  {
    ThreadTeam team(3);
    std::vector<int> numbers(3000, 0);
    for (int call = 1; call <= 50; ++call)
    {
      team.run([&](int index) {
        for (std::int64_t i = part_begin(3000, index, 3); i < part_begin(3000, index + 1, 3); ++i)
          numbers[static_cast<std::size_t>(i)] += 1;
      });
      ASSERT_EQ(numbers, std::vector<int>(3000, call));
    }
  }

  TEST(ThreadTeam, ExceptionsReachTheCaller)
  {
    ThreadTeam team(3);
    for (const int culprit : {0, 2})
      EXPECT_THROW(team.run([&](int index) {
        if (index == culprit)
          throw std::runtime_error("no");
      }),
          std::runtime_error);
    std::atomic<int> calls = 0;
    team.run([&](int) { ++calls; }); // still usable
    EXPECT_EQ(calls, 3);
  }

  TEST(ThreadTeam, PartsCoverEverythingOnce)
  {
    for (const std::int64_t size : {0, 1, 63, 64, 65, 1000, 123457})
      for (const std::int64_t granularity : {1, 8, 64})
        for (const int parts : {1, 2, 3, 7})
        {
          EXPECT_EQ(part_begin(size, 0, parts, granularity), 0);
          EXPECT_EQ(part_begin(size, parts, parts, granularity), size);
          for (int part = 0; part < parts; ++part)
          {
            const std::int64_t begin = part_begin(size, part, parts, granularity);
            const std::int64_t end = part_begin(size, part + 1, parts, granularity);
            EXPECT_LE(begin, end);
            EXPECT_TRUE(begin % granularity == 0 || begin == size);
            EXPECT_LE(end - begin, size / parts + 2 * granularity);
          }
        }
  }

  TEST(ThreadTeam, ThereIsACore) { EXPECT_GE(usable_cores(), 1); }
} // namespace
} // namespace tensormg
