// Messages and sums among ranks that may share a device, by MPI through the host and, where a device's memory is the host's, from it.
// ranks: 2 3
#include "operators/mesh/device_messages.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "operators/mesh/agreement.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  class DeviceMessagesOverRanks : public testing::TestWithParam<bool>
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      direct_ =
          GetParam() && test::is_emulated(); // MPI would have to know the memory of other devices
      MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
      MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }

    bool direct_ = false;
    int rank_ = 0, ranks_ = 1;
    OwnedStream stream_;
  };

  /// What rank `from` sends as its n-th message to `to`.
  std::vector<int> numbers_of(int from, int to, int n)
  {
    std::vector<int> result(static_cast<std::size_t>(5 + 7 * n + from));
    std::iota(result.begin(), result.end(), 1000 * from + 100 * to + 10000 * n);
    return result;
  }

  // Two messages of different sizes between any two ranks, more than once.
  TEST_P(DeviceMessagesOverRanks, ArriveInOrder)
  {
    DeviceMessages messages(MPI_COMM_WORLD, stream_.get(), {nullptr, direct_});
    for (int round = 0; round < 3; ++round)
    {
      std::vector<DeviceArray<int>> sent, received;
      std::vector<DeviceSend> sends;
      std::vector<DeviceReceive> receives;
      for (int n = 0; n < 2; ++n)
        for (int other = 0; other < ranks_; ++other)
          if (other != rank_)
          {
            const std::vector<int> numbers = numbers_of(rank_, other, n + round);
            sent.emplace_back(std::ssize(numbers), Unset());
            sent.back().copy_from_host(numbers.data(), stream_.get());
            device::synchronize(stream_.get());
            received.emplace_back(std::ssize(numbers_of(other, rank_, n + round)), Unset());
            sends.push_back({other, sent.back().data(), numbers.size() * sizeof(int)});
            receives.push_back({other, received.back().data(),
                static_cast<std::size_t>(received.back().size()) * sizeof(int)});
          }
      messages.exchange(sends, receives);
      std::size_t i = 0;
      for (int n = 0; n < 2; ++n)
        for (int other = 0; other < ranks_; ++other)
          if (other != rank_)
          {
            std::vector<int> found(static_cast<std::size_t>(received[i].size()));
            received[i++].copy_to_host(found.data(), stream_.get());
            EXPECT_EQ(found, numbers_of(other, rank_, n + round));
          }
    }
  }

  TEST_P(DeviceMessagesOverRanks, SumsAreThoseOfAllRanks)
  {
    DeviceMessages messages(MPI_COMM_WORLD, stream_.get(), {nullptr, direct_});
    std::vector<double> numbers(37), expected(37, 0.);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      for (int r = 0; r < ranks_; ++r)
      {
        const double number = static_cast<double>(i) + 100. * r;
        expected[i] += number;
        if (r == rank_)
          numbers[i] = number;
      }
    DeviceArray<double> here(std::ssize(numbers), Unset());
    here.copy_from_host(numbers.data(), stream_.get());
    messages.sum(here.data(), here.size());
    here.copy_to_host(numbers.data(), stream_.get());
    EXPECT_EQ(numbers, expected);
  }

  TEST_P(DeviceMessagesOverRanks, ATrialTakesSomeTime)
  {
    const auto seconds = try_messages(MPI_COMM_WORLD, stream_.get(), direct_);
    ASSERT_TRUE(seconds);
    EXPECT_GT(*seconds, 0.);
  }

  INSTANTIATE_TEST_SUITE_P(Ways, DeviceMessagesOverRanks, testing::Bool(),
      [](const auto &info) { return info.param ? "FromTheDevice" : "ThroughTheHost"; });

  TEST(DeviceLinks, SaysWhichWay)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    const OwnedStream stream;
    std::string text = "nothing";
    EXPECT_EQ(link_ranks(MPI_COMM_SELF, stream.get(), text).nccl, nullptr);
    EXPECT_EQ(text, "");
    const DeviceLinks links = link_ranks(MPI_COMM_WORLD, stream.get(), text);
    EXPECT_EQ(text.starts_with("NCCL"), links.nccl != nullptr) << text;
    EXPECT_EQ(text.starts_with("MPI from"), links.mpi_takes_device_memory) << text;
    EXPECT_NE(text.find("4 MB to a neighbour in "), std::string::npos) << text;
  }

  TEST(Agreement, OfThoseWhoArriveInTime)
  {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    constexpr double long_enough = 20.;
    EXPECT_TRUE(all_arrive(own, long_enough));
    if (rank == 0)
    {
      EXPECT_FALSE(all_arrive(own, 0.1)) << "the others come later";
      MPI_Barrier(MPI_COMM_WORLD);
    }
    else
    {
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_TRUE(all_arrive(own, long_enough));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&own);
  }

  TEST(Agreement, OfTexts)
  {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT_TRUE(is_same_on_all_ranks("tensormg", MPI_COMM_WORLD));
    EXPECT_FALSE(is_same_on_all_ranks("tensormg " + std::to_string(rank), MPI_COMM_WORLD));
    EXPECT_FALSE(is_same_on_all_ranks(rank == 0 ? "tensormg" : "tensormg 2", MPI_COMM_WORLD));
  }
} // namespace
} // namespace tensormg
