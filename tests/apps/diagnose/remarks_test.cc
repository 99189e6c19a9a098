// What makes the numbers of a run uncertain, and that there is no device, is said.
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/diagnose/machine_run.h"
#include "apps/diagnose/report.h"
#include "kernels/device/device.h"
#include "tests/support/diagnosis.h"
#include "tests/support/json.h"

namespace tensormg::diagnose
{
namespace
{
  /// A host with these rates in FP64.
  Machine host(double all_threads, double one_thread)
  {
    Machine machine = round_machine();
    machine.place = Place::host;
    machine.ceilings.clear();
    for (const CeilingRow &row : ceiling_rows())
      if (row.place == Place::host)
        machine.ceilings.push_back(
            {&row, row.one_thread ? one_thread : all_threads, Milliseconds{}, {}});
    return machine;
  }

  TEST(DiagnoseRemarks, ThreadsThatAreHardlyFasterThanOne)
  {
    EXPECT_EQ(remark_on_threads(host(90e9, 51e9), 2, 2), "");
    EXPECT_EQ(remark_on_threads(host(32e9, 51e9), 1, 2), "");
    EXPECT_EQ(remark_on_threads(host(32e9, 51e9), 2, 2),
        "2 threads are slower than one in FP64 (32.0 and 51.0 GFLOP/s): the machine is busy, and "
        "rates and percentages of the host are uncertain");
    EXPECT_EQ(remark_on_threads(host(55e9, 50e9), 4, 2),
        "4 threads are only 1.10 times as fast as one in FP64 (55.0 and 50.0 GFLOP/s): the machine "
        "is busy, or 2 cores are too few, and rates and percentages of the host are uncertain");
    EXPECT_EQ(remark_on_threads(host(90e9, 50e9), 4, 2), "");
  }

  nlohmann::json json_of(const Diagnosis &diagnosis)
  {
    std::ostringstream text;
    write_json(diagnosis, text);
    return test::parse_json(text.str());
  }

  TEST(DiagnoseRemarks, AreInTheFile)
  {
    Diagnosis diagnosis = pair_of_kernels();
    EXPECT_TRUE(json_of(diagnosis)["machines"][0]["remarks"].empty());
    diagnosis.machines[0].remarks.emplace_back("busy");
    EXPECT_EQ(json_of(diagnosis)["machines"][0]["remarks"][0], "busy");
  }

  TEST(DiagnoseRemarks, WithoutADeviceThatComesFirst)
  {
    Diagnosis diagnosis = pair_of_kernels();
    EXPECT_EQ(no_device_text(diagnosis), "");
    EXPECT_TRUE(json_of(diagnosis)["no_device"].is_null());
    diagnosis = Diagnosis();
    diagnosis.parameters.diagnose.place = "host";
    DiagnoseOptions options;
    options.classes = {"scale"};
    options.memory_megabytes = 1.;
    options.repetitions = 1;
    options.max_seconds = 0.001;
    ThreadTeam team(1);
    std::ostringstream out, err;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
    Progress progress;
    measure_machines(diagnosis, options, team, console, progress);
    EXPECT_TRUE(out.str().starts_with("no device    diagnose.place = host;\n")) << out.str();
    EXPECT_EQ(json_of(diagnosis)["no_device"], "diagnose.place = host");

    diagnosis.no_device.clear();
    diagnosis.parameters.diagnose.place = "auto";
    if (device_count() > 0)
      GTEST_SKIP() << "there is a device";
    measure_machines(diagnosis, options, team, console, progress);
    EXPECT_EQ(json_of(diagnosis)["no_device"], why_no_device());
  }
} // namespace
} // namespace tensormg::diagnose
