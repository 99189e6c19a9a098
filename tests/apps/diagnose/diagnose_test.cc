// The diagnosis: wrong kernels are noticed and end with code 8, theory stands beside the measurement, and
// the files say what was measured and what was not.
#include "apps/diagnose/diagnose.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/common/program.h"
#include "apps/diagnose/classes.h"
#include "apps/diagnose/report.h"
#include "apps/diagnose/run.h"
#include "tests/support/diagnosis.h"
#include "tests/support/json.h"
#include "tests/support/temporary_directory.h"

namespace tensormg::diagnose
{
namespace
{
  using test::TemporaryDirectory;

  TEST(DiagnoseTheory, BandwidthOfAWorkingSet)
  {
    const Machine machine = round_machine();
    EXPECT_DOUBLE_EQ(machine.memory_bandwidth(), 100e9);
    EXPECT_DOUBLE_EQ(machine.scale_bandwidth(1e6), 400e9);
    EXPECT_DOUBLE_EQ(machine.scale_bandwidth(1e3), 400e9); // smaller than all
    EXPECT_DOUBLE_EQ(machine.scale_bandwidth(1e12), 100e9);
    EXPECT_DOUBLE_EQ(machine.scale_bandwidth(1e7), 240e9); // half way between the logarithms
    EXPECT_DOUBLE_EQ(*machine.alpha("FP64 mma"), 2.);
    EXPECT_FALSE(machine.alpha("FP64 FMA"));
    EXPECT_THROW(machine.rate("FP8"), std::logic_error);
  }

  TEST(DiagnoseTheory, PredictionsAndGain)
  {
    const Diagnosis diagnosis = pair_of_kernels();
    const Machine &machine = diagnosis.machines[0];
    const Prediction plain = predict(diagnosis.entries[0], machine);
    EXPECT_DOUBLE_EQ(plain.arithmetic, 1.); // 1e9 flops at 1e12
    EXPECT_DOUBLE_EQ(plain.transfer, 1.);   // 1e8 bytes at 1e11
    EXPECT_DOUBLE_EQ(plain.overlapped(), 1.);
    EXPECT_DOUBLE_EQ(plain.unoverlapped(), 2.);
    EXPECT_DOUBLE_EQ(predict(diagnosis.entries[1], machine).unoverlapped(), 2.); // redundant flops

    EXPECT_FALSE(gain(diagnosis.entries[0], diagnosis));
    const std::optional<Gain> g = gain(diagnosis.entries[1], diagnosis);
    ASSERT_TRUE(g);
    EXPECT_DOUBLE_EQ(g->measured, 1.25);
    EXPECT_DOUBLE_EQ(g->alpha, 2.);
    EXPECT_DOUBLE_EQ(g->bound, 4. / 3.); // at the balance
    EXPECT_DOUBLE_EQ(g->most, 2.);       // 1 + I / B there
    EXPECT_DOUBLE_EQ(g->limit, 4. / 3.);
    EXPECT_DOUBLE_EQ(g->overlapped, 1.);
    EXPECT_DOUBLE_EQ(g->unoverlapped, 1.);
    EXPECT_NE(verdict(diagnosis, diagnosis.entries[1]).find("alpha = 2.00 allows 1.33"),
        std::string::npos)
        << verdict(diagnosis, diagnosis.entries[1]);
  }

  TEST(DiagnoseTheory, SharedMemoryAndTheClockAreBoundsToo)
  {
    Diagnosis diagnosis = pair_of_kernels();
    Entry &entry = diagnosis.entries[0];
    const auto prediction = [&] { return predict(entry, diagnosis.machines[0]); };
    EXPECT_EQ(prediction().shared, 0.);                            // not counted
    EXPECT_EQ(prediction().at_clock(), prediction().overlapped()); // no clock is known
    EXPECT_STREQ(prediction().bound(), "memory");
    entry.shared_bytes = 1.5e9;
    EXPECT_DOUBLE_EQ(prediction().shared, 1.5);
    EXPECT_DOUBLE_EQ(prediction().overlapped(), 1.5);
    EXPECT_DOUBLE_EQ(prediction().unoverlapped(), 2.);
    EXPECT_STREQ(prediction().bound(), "shared memory");
    entry.clock_ghz = 1.5;
    for (Ceiling &ceiling : diagnosis.machines[0].ceilings)
      ceiling.clock_ghz = 2.;
    EXPECT_DOUBLE_EQ(prediction().slowdown, 4. / 3.);
    EXPECT_DOUBLE_EQ(prediction().at_clock(), 2.);
    const auto says = [&](const char *what) {
      EXPECT_NE(entry_text(diagnosis, entry).find(what), std::string::npos)
          << entry_text(diagnosis, entry);
    };
    says("  clock; shared memory needs 60 %; at 1.50 GHz, where the ceilings had 2.00, 80 %");
    entry.clock_ghz = 2.1;
    EXPECT_EQ(prediction().slowdown, 1.);
    says("none 60%");
  }

  TEST(DiagnoseTheory, OnlyTheSameProblemHasATwin)
  {
    Diagnosis diagnosis = pair_of_kernels();
    diagnosis.entries[0].problem = "another";
    EXPECT_FALSE(gain(diagnosis.entries[1], diagnosis));
    diagnosis = pair_of_kernels();
    diagnosis.entries[0].outcome = Outcome::failed;
    EXPECT_FALSE(gain(diagnosis.entries[1], diagnosis));
  }

  // Rows with faults of all kinds.

  struct Problem
  {
    double error;
    double growth = 1.; ///< of what is allowed
  };
  bool was_timed = false;

  constexpr double does_not_exist = -2., breaks = -3.; ///< instead of an error
  class FakeCandidate : public Candidate
  {
  public:
    explicit FakeCandidate(const Problem &problem)
      : problem_(problem)
    {}
    double error() override
    {
      if (problem_.error == does_not_exist)
        throw std::invalid_argument("not for this size");
      if (problem_.error == breaks)
        throw std::length_error("too long");
      if (problem_.error < 0.)
        throw DeviceError("the device is gone");
      return problem_.error;
    }
    double milliseconds(int runs) override
    {
      was_timed = true;
      return 5. * runs;
    }
    double error_growth() const override { return problem_.growth; }
    Work work() const override { return {1., 16.}; }
    std::vector<Figure> figures() const override { return {{"preprocessing", 3., "products"}}; }

  private:
    Problem problem_;
  };

  std::unique_ptr<Candidate> make(const Problem &problem, ThreadTeam &)
  {
    return std::make_unique<FakeCandidate>(problem);
  }
  std::unique_ptr<Candidate> break_down(const Problem &, ThreadTeam &)
  {
    throw std::domain_error("broken");
  }
  std::unique_ptr<Candidate> refuse(const Problem &, ThreadTeam &)
  {
    throw NotAvailable("not on this machine");
  }

  Entry run_fake(Problem problem,
      std::unique_ptr<Candidate> (*maker)(const Problem &, ThreadTeam &), int *code = nullptr)
  {
    Diagnosis diagnosis;
    diagnosis.parameters.diagnose.place = "both";
    diagnosis.machines.push_back(round_machine());
    DiagnoseOptions options;
    ThreadTeam team(1);
    std::ostringstream out, err;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
    const std::vector<MatrixFile> no_files;
    Run run{diagnosis, options, team, console, no_files};
    const Row<Problem> row{"fake", "double", Place::device, "FP64 FMA", "", 1e-10, maker};
    was_timed = false;
    run_rows<Problem>({&row, 1}, "scale", problem, "a problem", run);
    if (code != nullptr)
      *code = exit_code(diagnosis, console);
    return diagnosis.entries.at(0);
  }

  TEST(DiagnoseRun, RightKernelsAreTimed)
  {
    int code = -1;
    const Entry entry = run_fake({1e-11}, make, &code);
    EXPECT_EQ(entry.outcome, Outcome::measured);
    EXPECT_EQ(entry.time.median, 5.);
    EXPECT_EQ(entry.figures.at(0).name, "preprocessing");
    EXPECT_EQ(code, 0);
  }

  TEST(DiagnoseRun, MistakesInATableAreFound)
  {
    const auto check = [](std::vector<Row<Problem>> rows) { check_rows<Problem>(rows); };
    const Row<Problem> plain{"plain", "double", Place::device, "FP64 FMA", "", 0., make};
    const Row<Problem> tensor{"tensor", "double", Place::device, "FP64 mma", "plain", 0., make};
    EXPECT_NO_THROW(check({plain, tensor}));
    EXPECT_THROW(check({tensor, plain}), std::logic_error);
    Row<Problem> wrong = plain;
    wrong.place = Place::host;
    EXPECT_THROW(check({wrong, tensor}), std::logic_error); // a twin in another place
    wrong.ceiling = "FP64 mma";
    EXPECT_THROW(check({wrong}), std::logic_error); // the host has none
  }

  TEST(DiagnoseRun, WrongKernelsAreNotTimedAndEndWithCodeEight)
  {
    for (const double error : {2e-10, std::numeric_limits<double>::infinity(),
             std::numeric_limits<double>::quiet_NaN(), -1., breaks})
    {
      int code = -1;
      const Entry entry = run_fake({error}, make, &code);
      EXPECT_EQ(entry.outcome, Outcome::failed) << error;
      EXPECT_FALSE(was_timed);
      EXPECT_FALSE(entry.reason.empty());
      EXPECT_EQ(code, exit_check_failed);
    }
  }

  TEST(DiagnoseRun, LargeProblemsMayBeAllowedLargerErrors)
  {
    const Entry entry = run_fake({2e-10, 4.}, make);
    EXPECT_EQ(entry.outcome, Outcome::measured);
    EXPECT_EQ(entry.tolerance, 4. * 1e-10);
    EXPECT_EQ(run_fake({5e-10, 4.}, make).outcome, Outcome::failed);
  }

  TEST(DiagnoseRun, KernelsThatRefuseAProblemDoNotEndTheRun)
  {
    const Entry entry = run_fake({does_not_exist}, make);
    EXPECT_EQ(entry.outcome, Outcome::not_available);
    EXPECT_EQ(entry.reason, "not for this size");
    EXPECT_FALSE(was_timed);
    int code = -1;
    EXPECT_EQ(run_fake({0.}, break_down, &code).outcome, Outcome::failed);
    EXPECT_EQ(code, exit_check_failed);
  }

  TEST(DiagnoseRun, WhatHasNoTimeIsLeftOutAndListed)
  {
    RunClock clock(1e9);
    EXPECT_NEAR(clock.begin_class(1., 4.), 0.25e9, 1e6);
    EXPECT_FALSE(clock.is_spent());
    RunClock spent(1e-9);
    while (spent.elapsed() <= 1e-9)
      ;
    EXPECT_EQ(spent.begin_class(1., 1.), 0.);
    while (!spent.is_spent())
      ;

    Diagnosis diagnosis;
    diagnosis.parameters.diagnose.place = "both";
    diagnosis.machines.push_back(round_machine());
    DiagnoseOptions options;
    ThreadTeam team(1);
    std::ostringstream out, err;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
    const std::vector<MatrixFile> no_files;
    diagnose::Run run{diagnosis, options, team, console, no_files, spent};
    const Row<Problem> row{"fake", "double", Place::device, "FP64 FMA", "", 1e-10, make};
    was_timed = false;
    run_rows<Problem>({&row, 1}, "scale", {0.}, "a problem", run);
    EXPECT_FALSE(was_timed);
    ASSERT_EQ(diagnosis.entries.size(), 1u);
    EXPECT_EQ(diagnosis.entries[0].outcome, Outcome::not_available);
    EXPECT_NE(diagnosis.entries[0].reason.find("diagnose.time_limit"), std::string::npos);
    EXPECT_NE(out.str().find("left out"), std::string::npos);
  }

  TEST(DiagnoseRun, ErrorsAboveTheirBoundAreFailures)
  {
    Diagnosis diagnosis;
    diagnosis.parameters.diagnose.classes = {"precision"};
    diagnosis.accuracies.push_back({"TF32", "1", 16, 1e-4, 1e-3, true, ""});
    std::ostringstream out, err;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
    EXPECT_EQ(exit_code(diagnosis, console), 0);
    diagnosis.accuracies[0].error = 2e-3;
    EXPECT_EQ(exit_code(diagnosis, console), exit_check_failed);
    EXPECT_NE(accuracy_text(diagnosis, 0).find("FAILED: TF32, sums of 16"), std::string::npos);
    diagnosis.accuracies[0].in_range = false; // overflow is no mistake of the method
    diagnosis.accuracies[0].error = std::numeric_limits<double>::infinity();
    EXPECT_EQ(exit_code(diagnosis, console), 0);
  }

  TEST(DiagnoseRun, NothingMeasuredIsNoSuccess)
  {
    int code = -1;
    const Entry entry = run_fake({0.}, refuse, &code);
    EXPECT_EQ(entry.outcome, Outcome::not_available);
    EXPECT_EQ(entry.reason, "not on this machine");
    EXPECT_EQ(code, exit_unexpected);
  }

  TEST(DiagnoseFiles, SayWhatWasMeasuredAndWhatWasNot)
  {
    Diagnosis diagnosis = pair_of_kernels();
    diagnosis.entries.push_back(measured_entry("wrong", "FP64 FMA", 1.));
    diagnosis.entries.back().outcome = Outcome::failed;
    diagnosis.entries.back().reason = "a \"reason\"";
    diagnosis.entries.back().error = 0.5;
    std::ostringstream text;
    write_json(diagnosis, text);
    const auto json = test::parse_json(text.str());
    ASSERT_EQ(json["entries"].size(), 3u);
    EXPECT_EQ(json["entries"][1]["gain"]["bound_unoverlapped"], 4. / 3.);
    EXPECT_EQ(json["entries"][1]["figures"][0]["name"], "redundancy");
    EXPECT_EQ(json["entries"][0]["gain"], nullptr);
    EXPECT_EQ(json["entries"][2]["outcome"], "failed");
    EXPECT_FALSE(json["entries"][2].contains("milliseconds"));
    for (const auto &row : json["classes"])
    {
      EXPECT_EQ(row["exists"], find_class(row["name"]).run != nullptr);
    }
    text.str("");
    write_csv(diagnosis, text);
    std::istringstream lines(text.str());
    std::string line, header;
    std::getline(lines, header);
    int count = 0;
    for (; std::getline(lines, line); ++count)
      EXPECT_EQ(
          std::count(line.begin(), line.end(), ','), std::count(header.begin(), header.end(), ','))
          << line;
    EXPECT_EQ(count, 3);
    EXPECT_NE(line.size() + text.str().find("\"a \"\"reason\"\"\""), std::string::npos);
  }

  // The whole program on the host, small.
  TEST(DiagnoseProgram, MeasuresTheHost)
  {
    const TemporaryDirectory directory;
    Parameters parameters =
        default_parameters({"diagnose.classes=ceilings, scale", "diagnose.quick=true",
            "diagnose.place=host", "diagnose.threads=2", "diagnose.cached_megabytes=0.1",
            "diagnose.memory_megabytes=1", "output.directory=" + directory.path().string()});
    std::ostringstream out, err;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
    EXPECT_EQ(program(parameters, MPI_COMM_SELF, console), 0) << out.str() << err.str();
    const auto json = test::parse_json(test::content(directory.path() / "diagnose.json"));
    EXPECT_EQ(json["machines"].size(), 1u);
    EXPECT_EQ(json["machines"][0]["ceilings"].size(), 4u);
    ASSERT_EQ(json["entries"].size(), 4u);
    for (const auto &entry : json["entries"])
    {
      EXPECT_EQ(entry["outcome"], "measured");
      EXPECT_EQ(entry["error"], 0.);
      EXPECT_GT(entry["milliseconds"], 0.);
    }
    EXPECT_TRUE(std::filesystem::exists(directory.path() / "diagnose.csv"));
  }
} // namespace
} // namespace tensormg::diagnose
