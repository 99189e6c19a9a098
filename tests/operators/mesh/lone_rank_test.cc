// Whom the quick start of MPI is for.
#include "operators/mesh/lone_rank.h"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace tensormg
{
namespace
{
  std::string value(const std::string &name)
  {
    const char *text = std::getenv(name.c_str());
    return text != nullptr ? text : "";
  }

  /// Without what the caller of the test has set.
  class LoneRank : public testing::Test
  {
  protected:
    LoneRank()
    {
      std::vector<std::string> names;
      for (char **variable = environ; *variable != nullptr; ++variable)
        names.push_back(std::string(*variable).substr(0, std::string(*variable).find('=')));
      for (const std::string &name : names)
        for (const char *begin : {"OMPI_", "PMI", "MPI_", "SLURM_"})
          if (name.starts_with(begin))
            ::unsetenv(name.c_str());
    }
  };

  TEST_F(LoneRank, ProcessesThatNobodyHasStartedForMpi)
  {
    ::setenv("SLURM_JOB_ID", "1", 1); // of a batch script: no rank
    EXPECT_EQ(expect_lone_rank().size(), 3U);
    EXPECT_EQ(value("OMPI_MCA_ess_singleton_isolated"), "1");
    EXPECT_EQ(value("OMPI_MCA_pml") + value("OMPI_MCA_btl"), "ob1self");
  }

  TEST_F(LoneRank, WhatTheUserHasSetStays)
  {
    ::setenv("OMPI_MCA_pml", "ucx", 1);
    const std::vector<std::string> ours{"OMPI_MCA_ess_singleton_isolated", "OMPI_MCA_btl"};
    EXPECT_EQ(expect_lone_rank(), ours);
    EXPECT_EQ(value("OMPI_MCA_pml"), "ucx");
  }

  TEST_F(LoneRank, RanksOfLaunchersAreLeftAlone)
  {
    for (const char *sign : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK", "SLURM_STEP_ID"})
    {
      ::setenv(sign, "0", 1);
      EXPECT_TRUE(expect_lone_rank().empty()) << sign;
      EXPECT_EQ(value("OMPI_MCA_btl"), "") << sign;
      ::unsetenv(sign);
    }
  }
} // namespace
} // namespace tensormg
