// Every kernel on tensors that the comparison has a row for, as it is checked before it is timed, on a device.
#include <gtest/gtest.h>

#include <vector>

#include "apps/compare/compare.h"
#include "apps/compare/tensor/tensor.h"
#include "kernels/device/device.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  class CompareTensorOnDevice : public testing::TestWithParam<const char *>
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };

  TEST_P(CompareTensorOnDevice, AgreesWithTheReference)
  {
    const std::string form = GetParam();
    CompareOptions options;
    options.repetitions = 1;
    options.max_seconds = 1e-9;
    int measured = 0;
    const std::vector<int> degrees =
        test::has_few_cases() ? std::vector{1, 4} : std::vector{1, 3, 4, 7};
    for (const int degree : degrees)
      for (const Implementation &row : implementations())
      {
        if (row.form != form || row.place != Place::device)
          continue;
        const Choice choice{degree == 1 ? 2 : 3, degree, test::has_few_cases() ? 8'000 : 20'000,
            "apply", form, row.precision, row.backend};
        SCOPED_TRACE(testing::Message()
            << "degree " << degree << ", " << row.precision << ' ' << row.backend);
        const CompareEntry entry = run_entry(choice, options, MPI_COMM_SELF);
        EXPECT_NE(entry.outcome, Outcome::failed) << entry.reason;
        if (entry.outcome != Outcome::measured)
        {
          EXPECT_NE(entry.reason.find("no kernel for"), std::string::npos) << entry.reason;
          continue;
        }
        ++measured;
        EXPECT_GT(entry.dofs, 4'000);
        ASSERT_TRUE(entry.resources.has_value());
        EXPECT_GT(entry.resources->occupancy, 0.);
        const std::string backend = row.backend;
        if (form != patch_inverse_form && choice.dim == 3 &&
            (backend == "cuda" || backend.find("staged") != std::string::npos))
        {
          EXPECT_GE(entry.resources->wavefronts.value_or(0.), 1.);
        }
      }
    EXPECT_GT(
        measured, (form == patch_inverse_form ? 30 : 60) * static_cast<int>(degrees.size()) / 4);
  }

  INSTANTIATE_TEST_SUITE_P(Forms, CompareTensorOnDevice, testing::ValuesIn(tensor_forms),
      [](const auto &info) { return std::string(info.param); });
} // namespace
} // namespace tensormg
