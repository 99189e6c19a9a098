// What the comparison knows of the operator's kernels on a device: what they take of it, for every backend, form of the call and
// dimension, and which bounds follow.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "apps/compare/compare.h"
#include "kernels/device/device.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  class CompareOnDevice : public testing::TestWithParam<int>
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };

  TEST_P(CompareOnDevice, KernelsSayWhatTheyTake)
  {
    CompareOptions options;
    options.repetitions = 1;
    options.max_seconds = 1e-9;
    const int dim = GetParam();
    const std::vector<int> degrees =
        test::has_few_cases() ? std::vector{2} : std::vector{1, 3, 4, 8};
    int measured = 0;
    for (const int degree : degrees)
      for (const char *step : {"apply", "chebyshev"})
        for (const Implementation &row : implementations())
        {
          const bool has_cells = row.form == std::string(form_with_cells);
          if ((row.form != std::string("rank2") && !has_cells) || row.place != Place::device)
            continue;
          const Choice choice{dim, degree, 2'000, step, row.form, row.precision, row.backend};
          SCOPED_TRACE(testing::Message()
              << "degree " << degree << ", " << step << ' ' << row.precision << ' ' << row.backend);
          const CompareEntry entry = run_entry(choice, options, MPI_COMM_SELF);
          EXPECT_NE(entry.outcome, Outcome::failed) << entry.reason;
          if (entry.outcome != Outcome::measured)
            continue;
          ++measured;
          EXPECT_EQ(entry.instructions_per_dof, std::nullopt); // nobody counts here
          EXPECT_FALSE(entry.under_load.lasting.has_value()); // a run takes longer than max_seconds
          if (has_cells || row.backend == std::string("device_reference"))
            continue;
          ASSERT_TRUE(entry.resources.has_value());
          EXPECT_GT(entry.resources->shared_bytes, 0);
          EXPECT_GT(entry.resources->occupancy, 0.);
          EXPECT_LE(entry.resources->occupancy, 1.);
          // Every number is written to shared memory and read from there.
          EXPECT_GE(entry.resources->shared_bytes_per_dof.value_or(0.), entry.work.bytes / 2.);
        }
    EXPECT_GE(measured, 20 * static_cast<int>(degrees.size()));
  }

  INSTANTIATE_TEST_SUITE_P(Dimensions, CompareOnDevice, testing::Values(2, 3));

  TEST(CompareResources, ThoseOfTheTileThatRuns)
  {
    using namespace laplace;
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    const auto shared = [](Backend backend, Form form, int degree, std::int64_t cells_x,
                            auto number) {
      return kernel_resources<decltype(number)>(backend, form, 3, degree, std::nullopt, cells_x)
          ->shared_bytes;
    };
    // Tiles of 32 cells in x instead of 64, of 64 instead of 32, and those that there is one of.
    EXPECT_NE(shared(Backend::cuda, Form::residual, 3, 160, float()),
        shared(Backend::cuda, Form::residual, 3, 192, float()));
    EXPECT_NE(shared(Backend::mma, Form::residual, 4, 32, Half()),
        shared(Backend::mma, Form::residual, 4, 64, Half()));
    EXPECT_EQ(shared(Backend::cuda, Form::apply, 3, 160, double()),
        shared(Backend::cuda, Form::apply, 3, 192, double()));
  }

  TEST(CompareCounters, InstructionsOfAKernel)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    CompareOptions options;
    options.repetitions = 3;
    options.max_seconds = 0.05;
    Choice choice{3, 3, 5'000, "apply", "rank2", "single", "cuda"};
    auto counter = std::make_unique<InstructionCounter>(1.);
    if (!counter->trouble().empty()) // as without CUPTI
    {
      EXPECT_EQ(run_entry(choice, options, MPI_COMM_SELF, counter.get()).instructions_per_dof,
          std::nullopt);
      return;
    }
    choice.dofs = 50'000'000;
    const Machine machine = measure_device();
    const double peak = machine.peak(peak::Unit::issue);
    counter.reset(); // there is one at a time
    counter = std::make_unique<InstructionCounter>(peak);
    const CompareEntry entry = run_entry(choice, options, MPI_COMM_SELF, counter.get());
    ASSERT_EQ(entry.outcome, Outcome::measured) << entry.reason;
    ASSERT_TRUE(entry.instructions_per_dof.has_value()) << counter->trouble();
    // At least the useful FMA, and no more than the device can start.
    EXPECT_GT(*entry.instructions_per_dof, entry.work.flops / 2.);
    EXPECT_LT(*entry.instructions_per_dof * entry.dofs_per_second(), 1.1 * peak);
    EXPECT_GT(predicted_milliseconds(predict(entry, machine), "issue").value_or(0.), 0.);

    const double gigahertz = entry.under_load.burst_gigahertz.value_or(0.);
    EXPECT_TRUE(gigahertz > 0.2 && gigahertz < 4.) << gigahertz;
    ASSERT_TRUE(entry.under_load.lasting.has_value());
    EXPECT_LT(entry.under_load.lasting->gigahertz.value_or(9.), 1.05 * gigahertz);
    EXPECT_GT(entry.under_load.lasting->milliseconds, 0.5 * entry.time.median);
  }
} // namespace
} // namespace tensormg
