// Kernels are compared with the fastest of several, which is named: in the gain, and of sparse products over all matrices.
#include "apps/diagnose/spmv/twins.h"

#include <array>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/diagnose/library.h"
#include "apps/diagnose/report.h"
#include "apps/diagnose/run.h"
#include "tests/support/diagnosis.h"

namespace tensormg::diagnose
{
namespace
{
  TEST(DiagnoseTwins, Names)
  {
    EXPECT_TRUE(twin_names("").empty());
    EXPECT_EQ(twin_names("a"), std::vector<std::string>{"a"});
    EXPECT_EQ(twin_names("a, b"), (std::vector<std::string>{"a", "b"}));
  }

  TEST(DiagnoseTwins, TheFastestCounts)
  {
    Diagnosis diagnosis;
    diagnosis.machines.push_back(round_machine());
    diagnosis.entries = {measured_entry("a", "FP64 FMA", 3.), measured_entry("b", "FP64 FMA", 2.),
        measured_entry("c", "FP64 FMA", 1.)};
    Entry entry = measured_entry("own", "FP64 FMA", 1.);
    EXPECT_EQ(fastest_twin(entry, diagnosis), "");
    entry.twins = {"a", "b"};
    EXPECT_EQ(fastest_twin(entry, diagnosis), "b");
    diagnosis.entries[1].problem = "another";
    EXPECT_EQ(fastest_twin(entry, diagnosis), "a");
    diagnosis.entries[0].outcome = Outcome::failed;
    EXPECT_EQ(fastest_twin(entry, diagnosis), "a"); // the first one
    EXPECT_EQ(entry.twin, "");
  }

  // A table with two libraries.

  struct Problem
  {
    std::array<double, 2> milliseconds; ///< of the libraries
  };
  template <int which>
  class Timed : public Candidate
  {
  public:
    explicit Timed(const Problem &problem)
      : milliseconds_(which < 2 ? problem.milliseconds.at(which % 2) : 1.)
    {}
    double error() override { return 0.; }
    double milliseconds(int runs) override { return milliseconds_ * runs; }
    Work work() const override { return {1., 16.}; }

  private:
    double milliseconds_;
  };
  template <int which>
  std::unique_ptr<Candidate> make(const Problem &problem, ThreadTeam &)
  {
    return std::make_unique<Timed<which>>(problem);
  }

  constexpr std::array rows{Row<Problem>{"a", "double", Place::device, "FP64 FMA", "", 1., make<0>},
      Row<Problem>{"b", "double", Place::device, "FP64 FMA", "", 1., make<1>},
      Row<Problem>{"own", "double", Place::device, "FP64 FMA", "a, b", 1., make<2>}};

  TEST(DiagnoseTwins, InATable)
  {
    Diagnosis diagnosis;
    diagnosis.parameters.diagnose.place = "both";
    diagnosis.machines.push_back(round_machine());
    DiagnoseOptions options;
    ThreadTeam team(1);
    std::ostringstream out, err;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
    const std::vector<MatrixFile> no_files;
    diagnose::Run run{diagnosis, options, team, console, no_files};
    run_rows<Problem>(rows, "spmv", {{3., 2.}}, "first", run);
    run_rows<Problem>(rows, "spmv", {{4., 5.}}, "second", run);
    ASSERT_EQ(diagnosis.entries.size(), 6U);
    EXPECT_EQ(diagnosis.entries[2].twin, "b");
    EXPECT_EQ(diagnosis.entries[5].twin, "a");
    EXPECT_EQ(gain(diagnosis.entries[2], diagnosis)->measured, 2.);
    EXPECT_NE(out.str().find("2.00 x b"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("4.00 x a"), std::string::npos);
    EXPECT_NE(verdicts_text(diagnosis).find("2.83 (2.00 to 4.00) x a or b"), std::string::npos)
        << verdicts_text(diagnosis);
    std::ostringstream text;
    write_json(diagnosis, text);
    const auto json = nlohmann::json::parse(text.str())["entries"][5]["gain"];
    EXPECT_EQ(json["twin"], "a");
    EXPECT_EQ(json["fastest_of"], (std::vector<std::string>{"a", "b"}));
  }

  TEST(DiagnoseTwins, MistakesInATableAreFound)
  {
    std::array wrong = rows;
    wrong[2].twin = "a, c";
    EXPECT_THROW(check_rows<Problem>(wrong), std::logic_error);
    wrong[2].twin = "a";
    EXPECT_NO_THROW(check_rows<Problem>(wrong));
  }

  // Sparse products.

  Entry product(const char *kernel, const char *precision, const char *matrix, double milliseconds,
      double bytes)
  {
    Entry entry = measured_entry(kernel, "FP64 FMA", milliseconds);
    entry.class_name = "spmv";
    entry.problem = matrix;
    entry.precision = precision;
    entry.working_set = bytes;
    if (entry.kernel == "csr_merge")
      entry.twin = milliseconds < 2. ? "cusparse_csr2" : "cusparse_csr1";
    return entry;
  }

  Diagnosis sparse_products()
  {
    Diagnosis diagnosis;
    diagnosis.machines.push_back(round_machine());
    diagnosis.parameters.diagnose.cached_megabytes = 16.;
    diagnosis.entries = {
        product("cusparse_csr1", "double", "large", 9., 40e6),
        product("cusparse_csr2", "double", "large", 4., 40e6),
        product("csr_merge", "double", "large", 1., 40e6),
        product("cusparse_csr2", "half", "large", 1.2, 33e6),
        product("csr_merge", "half", "large", 1.5, 33e6),
        product("cusparse_csr2", "half", "other", 9., 25e6),
        product("csr_merge", "half", "other", 1.5, 25e6), // large in double alone
        product("cusparse_csr1", "double", "other", 3., 50e6),
        product("csr_merge", "double", "other", 3., 50e6),
        product("cusparse_csr1", "double", "small", 9., 30e6),
        product("csr_merge", "double", "small", 3., 30e6),
    };
    return diagnosis;
  }

  TEST(DiagnoseLibrary, MeanOverTheMatricesThatMemoryBounds)
  {
    Diagnosis diagnosis = sparse_products();
    const std::vector<LibraryComparison> found = csr_against_library(diagnosis);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].precision, "double");
    ASSERT_EQ(found[0].matrices.size(), 2U); // without the small one
    EXPECT_EQ(found[0].matrices[0].algorithm, "cusparse_csr2");
    EXPECT_EQ(found[0].matrices[0].quotient, 4.);
    EXPECT_DOUBLE_EQ(found[0].mean, 2.);
    EXPECT_EQ(found[1].precision, "half");
    EXPECT_DOUBLE_EQ(found[1].mean, 0.8);
    EXPECT_NE(
        verdicts_text(diagnosis).find(
            "  double: 2.00 on 2 matrices: large 4.00 (cusparse_csr2); other 1.00 (cusparse_csr1)\n"
            "  half: 0.800 on 1 matrix: large 0.800 (cusparse_csr2)\n"),
        std::string::npos)
        << verdicts_text(diagnosis);

    std::ostringstream text;
    write_json(diagnosis, text);
    const auto json = nlohmann::json::parse(text.str())["csr_against_library"];
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[0]["geometric_mean"], found[0].mean);
    EXPECT_EQ(json[0]["matrices"][1]["problem"], "other");
    EXPECT_EQ(json[0]["matrices"][1]["algorithm"], "cusparse_csr1");
    EXPECT_EQ(json[0]["matrices"][1]["quotient"], 1.);
  }

  TEST(DiagnoseLibrary, NothingToCompare)
  {
    Diagnosis diagnosis = sparse_products();
    for (Entry &entry : diagnosis.entries)
      if (entry.kernel != "csr_merge")
        entry.outcome = Outcome::not_available;
    EXPECT_TRUE(csr_against_library(diagnosis).empty());
    EXPECT_EQ(library_text(diagnosis), "");
    diagnosis = sparse_products();
    for (Entry &entry : diagnosis.entries)
      entry.place = Place::host;
    EXPECT_TRUE(csr_against_library(diagnosis).empty());
  }
} // namespace
} // namespace tensormg::diagnose
