// What bounds the kernels of a diagnosis: theory, the hardware's counters, or what their warps wait for.
#include "apps/diagnose_counters.h"

#include <sstream>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/diagnose_report.h"
#include "tests/support/diagnosis.h"

namespace tensormg::diagnose
{
namespace
{
  /// A kernel that needs 1 ms by theory.
  Entry counted(double milliseconds, double l2_percent, const char *wait)
  {
    Entry entry = measured_entry("kernel", "FP64 FMA", milliseconds);
    counters::Use use;
    use.units = {{"memory", 10.}, {"L2", l2_percent}};
    use.resident_warps = 25.;
    use.waits = {{wait, 70.}, {"issuing", 30.}};
    entry.counters = use;
    return entry;
  }

  Diagnosis counted_kernels()
  {
    Diagnosis diagnosis;
    diagnosis.machines.push_back(round_machine());
    diagnosis.entries = {counted(1.2, 90., "waiting at a barrier"),
        counted(2., 80., "waiting at a barrier"), counted(2., 79., "waiting at a barrier"),
        counted(2., 10., "waiting at a barrier"), counted(2., 10., "waiting for code")};
    diagnosis.entries.push_back(measured_entry("uncounted", "FP64 FMA", 9.));
    diagnosis.entries.push_back(counted(9., 99., "issuing"));
    diagnosis.entries.back().outcome = Outcome::failed;
    return diagnosis;
  }

  TEST(DiagnoseCounters, KernelsByBound)
  {
    Diagnosis diagnosis = counted_kernels();
    EXPECT_EQ(bounds_text(diagnosis),
        "\nbounds       of the device's kernels, by number\n"
        "  theory explains at least 80 % of the time: memory 1\n"
        "  of the others, a part is busy to at least 80 % (hardware counters): L2 1\n"
        "  of the rest, what takes most of the time of their warps: waiting at a barrier 2, not counted 1, "
        "waiting for code 1\n");
    diagnosis.no_counters = "they broke";
    EXPECT_TRUE(
        bounds_text(diagnosis).starts_with("\nbounds       not all are known: they broke\n"));
    for (Entry &entry : diagnosis.entries)
      entry.counters.reset();
    EXPECT_EQ(bounds_text(diagnosis), "\nbounds       not all are known: they broke\n");
    diagnosis.no_counters.clear();
    EXPECT_EQ(bounds_text(diagnosis), "");
  }

  TEST(DiagnoseCounters, AreInTheFileAndInTheVerdict)
  {
    const Diagnosis diagnosis = counted_kernels();
    EXPECT_NE(verdict(diagnosis, diagnosis.entries[1]).find("; counters: L2 busy to 80 %"),
        std::string::npos);
    EXPECT_EQ(verdict(diagnosis, diagnosis.entries[5]).find("counters"), std::string::npos);
    std::ostringstream text;
    write_json(diagnosis, text);
    const auto json = nlohmann::json::parse(text.str());
    const auto &counters = json["entries"][4]["counters"];
    EXPECT_EQ(counters["units"]["L2"], 10.);
    EXPECT_EQ(counters["resident_warps"], 25.);
    EXPECT_EQ(counters["time_of_warps"]["waiting for code"], 70.);
    EXPECT_TRUE(json["entries"][5]["counters"].is_null());
    EXPECT_TRUE(json["no_counters"].is_null());
  }

  /// Counts how often it exists.
  class Nothing : public Candidate
  {
  public:
    explicit Nothing(int &number)
      : number_(number)
    {
      ++number_;
    }
    ~Nothing() override { --number_; }
    double error() override { return 0.; }
    double milliseconds(int) override { return 1.; }
    Work work() const override { return {}; }

  private:
    int &number_;
  };

  TEST(DiagnoseCounters, NobodyWaitsWhereNothingIsCounted)
  {
    Diagnosis diagnosis = counted_kernels();
    int number = 0;
    RunCounters none(false);
    EXPECT_EQ(none.trouble(), "");
    none.keep(std::make_unique<Nothing>(number), diagnosis);
    none.keep(nullptr, diagnosis);
    EXPECT_EQ(number, 0);
    EXPECT_FALSE(none.are_waiting() || none.are_large());
    EXPECT_EQ(none.count(diagnosis), "");
  }
} // namespace
} // namespace tensormg::diagnose
