// Processors near a device: the list of the system, and what a process takes of it.
#include "apps/common/host_cores.h"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  TEST(HostCores, ListsOfTheSystem)
  {
    EXPECT_EQ(processors_of_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
    EXPECT_EQ(processors_of_list("5"), std::vector<int>{5});
    for (const char *text : {"", "x", "3-1", "-1", "1-", "0;2", "0-99999"})
      EXPECT_TRUE(processors_of_list(text).empty()) << text;
  }

  class HostCoresOfDevice : public testing::Test
  {
  protected:
    void SetUp() override { ASSERT_EQ(sched_getaffinity(0, sizeof(before_), &before_), 0); }
    void TearDown() override { sched_setaffinity(0, sizeof(before_), &before_); }

    /// As the system has it for the device 0001:2a:00.
    int stay_near(const std::string &list)
    {
      const std::filesystem::path device = folder_.path() / "0001:2a:00.0";
      std::filesystem::create_directories(device);
      std::ofstream(device / "local_cpulist") << list << '\n';
      return stay_near_device(1 << 16 | 0x2a << 8, folder_.path());
    }
    static int processors()
    {
      cpu_set_t now;
      sched_getaffinity(0, sizeof(now), &now);
      return CPU_COUNT(&now);
    }
    int first() const
    {
      int processor = 0;
      while (!CPU_ISSET(processor, &before_))
        ++processor;
      return processor;
    }

    cpu_set_t before_{};
    test::TemporaryDirectory folder_;
  };

  TEST_F(HostCoresOfDevice, TakesItsOwnOfThem)
  {
    const int all = processors();
    if (all == 1)
      GTEST_SKIP() << "one processor";
    EXPECT_EQ(stay_near(std::to_string(first())), 1);
    EXPECT_EQ(processors(), 1);
  }

  TEST_F(HostCoresOfDevice, StaysWhereNothingIsSaid)
  {
    const int all = processors();
    EXPECT_EQ(stay_near_device(7, folder_.path()), 0) << "no such device";
    EXPECT_EQ(stay_near("nonsense"), 0);
    EXPECT_EQ(stay_near(std::to_string(CPU_SETSIZE - 1)), 0) << "a processor of others";
    EXPECT_EQ(stay_near("0-" + std::to_string(CPU_SETSIZE - 1)), 0) << "all of them";
    EXPECT_EQ(processors(), all);
  }
} // namespace
} // namespace tensormg
