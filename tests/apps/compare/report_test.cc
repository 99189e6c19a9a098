// What the screen and the files show of a comparison, and the instructions that counters saw.
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/common/program.h"
#include "apps/compare/compare.h"
#include "apps/compare/report.h"
#include "kernels/device/device.h"
#include "tests/support/json.h"

namespace tensormg
{
namespace
{
  TEST(CompareCounters, InstructionsFromTheShareOfIssueSlots)
  {
    counters::Use use;
    use.units = {{"memory", 90.}, {"issue", 25.}};
    // A quarter of 4 ms at 2e12 per second.
    EXPECT_DOUBLE_EQ(count_instructions(use, 4., 2e12).value_or(0.), 2e9);
    use.units.pop_back();
    EXPECT_EQ(count_instructions(use, 4., 2e12), std::nullopt);
  }

  TEST(CompareCounters, WithoutThemTheReasonIsTold)
  {
    class Never : public Candidate
    {
    public:
      std::int64_t dofs() const override { return 1; }
      std::array<std::int64_t, 3> cells() const override { return {1, 1, 1}; }
      laplace::Work work() const override { return {1., 1.}; }
      double error() override { return 0.; }
      double milliseconds(int) override
      {
        ADD_FAILURE() << "a run that nobody counts";
        return 1.;
      }
    };
    if (device_count() == 0)
    {
      InstructionCounter counter(1e12);
      EXPECT_NE(counter.trouble(), "");
      Never candidate;
      EXPECT_EQ(counter.per_run(candidate, 1, 1.), std::nullopt);
    }

    Comparison comparison;
    comparison.machines.emplace_back();
    EXPECT_EQ(machines_text(comparison).find("counters"), std::string::npos);
    comparison.no_counters = "not allowed";
    EXPECT_NE(machines_text(comparison).find("no bound by issue: not allowed"), std::string::npos);
    std::ostringstream json;
    write_compare_json(comparison, json);
    EXPECT_EQ(test::parse_json(json.str())["no_counters"], "not allowed");
  }

  TEST(CompareReport, TheLineOfAMeasuredEntryInTheCsv)
  {
    Comparison comparison;
    Machine &machine = comparison.machines.emplace_back();
    machine.scale_bandwidth = 1e12;
    machine.peaks = {{peak::Unit::fp64, 1e13}, {peak::Unit::shared_memory, 1e13}};
    CompareEntry &entry = comparison.entries.emplace_back();
    entry.dofs = 1'000'000'000;
    entry.work = {16., 25.};
    entry.time.median = 20.;
    entry.choice = {3, 4, 1000, "apply", "rank2", "single", "cpu"};
    entry.outcome = Outcome::measured;
    entry.error = 0.25;
    entry.time.spread = 0.5;
    entry.resources = Resources{128, 65536, 0.25, 180., std::nullopt};
    entry.under_load = {1.5, UnderLoad::Lasting{25., 1.25}};
    std::ostringstream csv, json;
    write_compare_csv(comparison, csv);
    std::istringstream lines(csv.str());
    std::string names, values;
    std::getline(lines, names);
    std::getline(lines, values);
    std::map<std::string, std::string> columns;
    const auto split_all = [](const std::string &line) { // split() leaves out what is empty
      std::vector<std::string> parts;
      std::istringstream stream(line + ',');
      for (std::string part; std::getline(stream, part, ',');)
        parts.push_back(part);
      return parts;
    };
    const auto keys = split_all(names), parts = split_all(values);
    ASSERT_EQ(keys.size(), parts.size()) << csv.str();
    for (std::size_t i = 0; i < keys.size(); ++i)
      columns[keys[i]] = parts[i];
    EXPECT_EQ(columns["milliseconds"], "20");
    EXPECT_EQ(columns["milliseconds_between_quartiles"], "0.5");
    EXPECT_EQ(columns["predicted_milliseconds_memory"], "16");
    EXPECT_EQ(columns["predicted_milliseconds_shared_memory"], "18");
    EXPECT_EQ(columns["predicted_milliseconds_issue"], "");
    EXPECT_EQ(columns["instructions_per_dof"], "");
    EXPECT_EQ(columns["registers"], "128");
    EXPECT_EQ(columns["bound"], "shared memory");
    EXPECT_EQ(columns["bound_holds"], "1");
    EXPECT_EQ(columns["reason"], "");
    EXPECT_EQ(columns["clock_ghz"], "1.5");
    EXPECT_EQ(columns["lasting_milliseconds"], "25");
    EXPECT_EQ(columns["lasting_clock_ghz"], "1.25");

    EXPECT_NE(bounds_text(comparison, 0).find("40.0 at 1.25"), std::string::npos)
        << bounds_text(comparison, 0);
    write_compare_json(comparison, json);
    const auto object = test::parse_json(json.str())["entries"][0];
    EXPECT_EQ(object["clock_ghz"], 1.5);
    EXPECT_EQ(object["lasting_milliseconds"], 25.);
    EXPECT_EQ(object["lasting_clock_ghz"], 1.25);
    entry.under_load = {};
    std::ostringstream without;
    write_compare_json(comparison, without);
    EXPECT_TRUE(test::parse_json(without.str())["entries"][0]["lasting_clock_ghz"].is_null());
  }

  TEST(CompareReport, AFailedCheckIsNamedAndNotTimed)
  {
    Comparison comparison;
    comparison.machines.emplace_back();
    CompareEntry entry;
    entry.choice = {3, 4, 1000, "apply", "rank2", "single", "cpu"};
    entry.outcome = Outcome::failed;
    entry.error = 0.25;
    entry.reason = "differs, \"much\"";
    comparison.entries.push_back(entry);
    EXPECT_NE(entry_text(comparison, entry).find("FAILED: differs"), std::string::npos);
    EXPECT_NE(verdicts_text(comparison).find("p = 4, single: cpu FAILED"), std::string::npos);
    std::ostringstream csv, json;
    write_compare_csv(comparison, csv);
    EXPECT_NE(csv.str().find("failed,0.25,"), std::string::npos);
    EXPECT_NE(csv.str().find("\"differs, \"\"much\"\"\""), std::string::npos);
    write_compare_json(comparison, json);
    const auto object = test::parse_json(json.str());
    EXPECT_EQ(object["entries"].size(), 0u);
    EXPECT_EQ(object["failed"][0]["error"], 0.25);

    std::ostringstream out, error;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, error);
    EXPECT_EQ(compare_exit_code(comparison, MPI_COMM_SELF, console), exit_check_failed);
    EXPECT_NE(error.str().find("1 entry of 1 failed the check"), std::string::npos);
  }
} // namespace
} // namespace tensormg
