// The benchmark of curved cells on a device: what it measures has been compared with the host.
#include "apps/benchmark/curved_device.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/parameters/parameters.h"
#include "kernels/device/device.h"

namespace tensormg
{
namespace
{
  TEST(CurvedBenchmarkOnDevice, ComparesAndMeasures)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    BenchmarkOptions options;
    options.degrees = {1};
    options.dofs = 1;
    options.repetitions = 1;
    const nlohmann::json result = run_curved_benchmark_on_device(options);
    const nlohmann::json &entry = result["entries"].at(0);
    EXPECT_EQ(entry["dofs"], 32 * 32 * 32);
    ASSERT_EQ(entry["operators"].size(), 6u);
    for (const nlohmann::json &op : entry["operators"])
    {
      EXPECT_LT(op["difference_from_host"], op["precision"] == "half" ? 1e-2 : 1e-4);
      EXPECT_GT(op["apply"]["percent_of_scale"], 0.);
      EXPECT_GT(op["step"]["bytes_per_dof"], op["apply"]["bytes_per_dof"].get<double>());
    }
    ASSERT_EQ(entry["solves"].size(), 6u);
    for (const nlohmann::json &solve : entry["solves"])
    {
      EXPECT_LE(solve["iterations"], 12);
      EXPECT_LE(solve["true_relative_residual"], 1e-8);
    }
    EXPECT_NE(curved_device_benchmark_table(result).find("| 1 | 16^3 | double | at points |"),
        std::string::npos);

    options.dofs = std::int64_t{1} << 40;
    EXPECT_THROW(run_curved_benchmark_on_device(options), ParameterError);
  }
} // namespace
} // namespace tensormg
