// Solves side by side: every combination, what does not exist, and results that do not agree.
#include "apps/compare/solve.h"

#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/common/program.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  class CompareSolve : public testing::Test
  {
  protected:
    Parameters small(const std::vector<std::string> &overrides = {}) const
    {
      std::vector<std::string> all{"compare.solve=true", "compare.dofs=5000",
          "compare.degrees=2, 3", "compare.backends=cpu, mma", "compare.precisions=single, half",
          "compare.solvers=fgmres, direct", "compare.repetitions=2", "problem.dimension=2",
          "problem.right_hand_side=2*pi^2*sin(pi*x)*sin(pi*y)",
          "problem.exact_solution=sin(pi*x)*sin(pi*y)",
          "output.directory=" + directory_.path().string()};
      all.insert(all.end(), overrides.begin(), overrides.end());
      return default_parameters(all);
    }

    const test::TemporaryDirectory directory_;
    std::ostringstream out_, error_;
    Console console_{MPI_COMM_SELF, Verbosity::normal, out_, error_};
  };

  TEST_F(CompareSolve, EveryCombinationNearTheWantedSize)
  {
    std::vector<SolveEntry> entries = run_solves(small(), MPI_COMM_SELF, console_);
    check_solves(entries);
    ASSERT_EQ(entries.size(), 16u); // 2 degrees, 2 methods, 2 precisions, 2 backends
    for (const SolveEntry &entry : entries)
    {
      if (entry.parameters.backend == "mma")
      {
        EXPECT_FALSE(entry.record.has_value());
        EXPECT_NE(entry.reason.find("mma"), std::string::npos) << entry.reason;
        continue;
      }
      ASSERT_TRUE(entry.record.has_value()) << entry.reason;
      EXPECT_EQ(entry.reason, "");
      EXPECT_EQ(entry.repetitions, 2);
      EXPECT_GE(entry.slowest_seconds, entry.record->report.seconds);
      // 32^2 cells of 3^2 modes: 9216; 16^2: 2304. 16^2 of 4^2: 4096.
      EXPECT_EQ(entry.record->dofs, entry.parameters.problem.degree == 2 ? 9216 : 4096);
    }
  }

  TEST_F(CompareSolve, ResultsThatDoNotAgreeAreNamed)
  {
    std::vector<SolveEntry> entries =
        run_solves(small({"compare.degrees=3", "compare.backends=cpu"}), MPI_COMM_SELF, console_);
    ASSERT_EQ(entries.size(), 4u);
    *entries[1].record->l2_error *= 1.5;
    entries[2].record->report.reason = StopReason::stagnated;
    std::vector<SolveEntry> backends(2, entries[0]);
    backends[1].parameters.backend = "another";
    *backends[1].record->l2_error *= 1.2;
    check_solves(backends);
    EXPECT_EQ(backends[1].reason, "") << "rounding may differ";
    *backends[1].record->l2_error *= 2.;
    check_solves(backends);
    EXPECT_EQ(backends[0].reason, "");
    EXPECT_NE(backends[1].reason.find("with the backend cpu"), std::string::npos);
    check_solves(entries);
    EXPECT_EQ(entries[0].reason, "");
    EXPECT_NE(entries[1].reason.find("L2 error"), std::string::npos);
    EXPECT_NE(entries[2].reason.find("stagnated"), std::string::npos);
    EXPECT_EQ(entries[3].reason, "");
  }

  TEST_F(CompareSolve, ProgramWritesTheRecords)
  {
    EXPECT_EQ(compare_solves(small({"compare.degrees=2"}), MPI_COMM_SELF, console_), 0)
        << error_.str();
    const auto json = test::parse_json(test::content(directory_.path() / "compare_solve.json"));
    EXPECT_TRUE(json["device"].is_null()) << "only the host has solved";
    EXPECT_FALSE(json["git"].get<std::string>().empty());
    ASSERT_EQ(json["entries"].size(), 8u);
    EXPECT_EQ(json["entries"][0]["backend"], "cpu");
    EXPECT_TRUE(json["entries"][0]["run"]["converged"]);
    EXPECT_TRUE(json["entries"][1]["run"].is_null());
    EXPECT_NE(out_.str().find("L2 error"), std::string::npos);
  }

  TEST_F(CompareSolve, ExitCodes)
  {
    EXPECT_EQ(
        compare_solves(small({"compare.backends=mma"}), MPI_COMM_SELF, console_), exit_unexpected);
    EXPECT_EQ(compare_solves(small({"compare.backends=cpu", "solver.max_iterations=1",
                                 "compare.solvers=fgmres"}),
                  MPI_COMM_SELF, console_),
        exit_check_failed);
    EXPECT_NE(error_.str().find("did not converge"), std::string::npos);
  }
} // namespace
} // namespace tensormg
