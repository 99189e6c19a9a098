// What bounds the kernels of a diagnosis: theory, the hardware's counters, or what their warps wait for.
#include "apps/diagnose/counters.h"

#include <sstream>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/diagnose/bounds.h"
#include "apps/diagnose/report.h"
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
    diagnosis.entries.push_back(counted(1.15, 20., "waiting for code"));
    diagnosis.entries.push_back(counted(1.1, 90., "waiting for code")); // reaches 90 %
    EXPECT_EQ(bounds_text(diagnosis),
        "\nbounds       of the device's kernels, by number\n"
        "  theory explains at least 80 % of the time: memory 3\n"
        "  of these, where it explains less than 90 %, what the counters say: L2 busy 1, waiting for code 1\n"
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

  TEST(DiagnoseCounters, TheClockIsABoundOnScreenAndInAllFiles)
  {
    Diagnosis diagnosis;
    diagnosis.machines.push_back(round_machine());
    for (Ceiling &ceiling : diagnosis.machines[0].ceilings)
      ceiling.clock_ghz = 2.;
    diagnosis.entries.push_back(measured_entry("kernel", "FP64 FMA", 2.8));
    Entry &entry = diagnosis.entries.back();
    entry.executed_flops = 2e9; // 2 ms
    entry.clock_ghz = 1.6;
    const auto holds = [&] {
      const char *const bound = bound_that_holds(entry, predict(entry, diagnosis.machines[0]));
      return std::string(bound != nullptr ? bound : "none");
    };
    EXPECT_EQ(holds(), "clock"); // 2.5 of 2.8 ms
    EXPECT_FALSE(reaches_target(entry, predict(entry, diagnosis.machines[0])));
    EXPECT_TRUE(
        verdict(diagnosis, entry)
            .starts_with(
                "bound by clock: theory needs 71 % of the time, for arithmetic; at 1.60 GHz, "
                "where the ceilings had 2.00, 89 %"))
        << verdict(diagnosis, entry);
    EXPECT_NE(entry_text(diagnosis, entry).find("  clock; at 1.60 GHz"), std::string::npos);
    entry.counters = counted(1., 90., "issuing").counters;
    EXPECT_NE(verdict(diagnosis, entry).find("89 %; counters: L2 busy to 90 %"), std::string::npos);
    EXPECT_NE(bounds_text(diagnosis).find("80 % of the time: clock 1\n"), std::string::npos);
    std::ostringstream json, csv;
    write_json(diagnosis, json);
    const auto written = nlohmann::json::parse(json.str())["entries"][0];
    EXPECT_EQ(written["bound"], "clock");
    EXPECT_EQ(written["bound_holds"], true);
    write_csv(diagnosis, csv);
    EXPECT_NE(csv.str().find(",clock,"), std::string::npos);

    entry.time.median = 2.4;
    EXPECT_EQ(holds(), "arithmetic");
    EXPECT_TRUE(
        verdict(diagnosis, entry)
            .starts_with("bound by arithmetic: theory needs 83 % of the time; at 1.60 GHz"));
    EXPECT_TRUE(reaches_target(entry, predict(entry, diagnosis.machines[0])));
    entry.time.median = 4.;
    EXPECT_EQ(holds(), "none");
    EXPECT_STREQ(nearest_bound(entry, predict(entry, diagnosis.machines[0])), "arithmetic");
    EXPECT_TRUE(verdict(diagnosis, entry)
                    .starts_with("at no bound: theory needs 50 % of the time, for arithmetic"));
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
