// Which matrices are available in which format, and what becomes of kernels for which memory is too small.
#include <limits>
#include <new>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "apps/common/program.h"
#include "apps/diagnose/classes.h"
#include "apps/diagnose/run.h"
#include "apps/diagnose/spmv/spmv.h"
#include "kernels/diagnostics/sparse/matrix_market.h"

namespace tensormg::diagnose
{
namespace
{
  /// Why the matrix is not available in the format; empty if it is.
  template <typename Number>
  std::string refusal(const std::string &entries)
  {
    const auto matrix = sparse::parse_matrix_market(
        "%%MatrixMarket matrix coordinate real general\n2 3 4\n" + entries, "a matrix");
    ThreadTeam team(2);
    const ProductProblem problem(matrix, team);
    try
    {
      require_within_format<Number>(problem);
    }
    catch (const NotAvailable &error)
    {
      return error.what();
    }
    return "";
  }

  void expect_contains(const std::string &text, const std::string &part)
  {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  TEST(DiagnoseFormats, OfEntries)
  {
    const std::string others = "2 1 1\n2 2 1\n2 3 1\n";
    EXPECT_EQ(refusal<double>("1 1 1e39\n" + others), "");
    expect_contains(refusal<float>("1 1 1e39\n" + others), "1e+39 is beyond FP32");
    expect_contains(refusal<float>("1 1 -3.5e38\n" + others), "beyond FP32");
    EXPECT_EQ(refusal<float>("1 1 -1e38\n" + others), "");
    expect_contains(refusal<Half>("1 1 65505\n" + others), "beyond FP16");
    EXPECT_EQ(refusal<Half>("1 1 65504\n" + others), "");
    EXPECT_EQ(refusal<float>("1 1 1e-60\n" + others), ""); // becomes zero
  }

  TEST(DiagnoseFormats, OfSums)
  {
    const auto row = [](const std::string &value) {
      return "1 1 " + value + "\n1 2 " + value + "\n1 3 -" + value + "\n2 1 1\n";
    };
    expect_contains(refusal<double>(row("1.7e308")), "beyond sums in FP64");
    expect_contains(refusal<float>(row("3e38")), "beyond sums in FP32");
    EXPECT_EQ(refusal<float>(row("3e37")), "");
    EXPECT_EQ(refusal<Half>(row("65504")), ""); // sums are in FP32
  }

  /// What has only few bits left is compared with what the format can hold.
  TEST(DiagnoseFormats, BelowTheNormalNumbers)
  {
    const auto matrix = sparse::parse_matrix_market(
        "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1e-44\n1 2 3e-45\n", "a matrix");
    ThreadTeam team(1);
    const ProductReference<float> reference(matrix, team);
    const float y = static_cast<float>(matrix.value[0]) * reference.x[0] +
        static_cast<float>(matrix.value[1]) * reference.x[1];
    EXPECT_LT(reference.error_of(&y), 1e-6);
    const float wrong = 1e-37F;
    EXPECT_GT(reference.error_of(&wrong), 1.);
  }

  // Kernels for which there is no memory, at each place where that can be found out.

  struct Problem
  {
    bool when_made;
  };

  class Candidate : public diagnose::Candidate
  {
  public:
    double error() override { throw std::bad_alloc(); }
    double milliseconds(int) override { return 1.; }
    Work work() const override { return {1., 16.}; }
  };

  std::unique_ptr<diagnose::Candidate> make(const Problem &problem, ThreadTeam &team)
  {
    if (problem.when_made)
      team.run([](int) { throw std::bad_alloc(); });
    return std::make_unique<Candidate>();
  }

  TEST(DiagnoseMemory, ThatIsTooSmallSaysNothingAboutAKernel)
  {
    for (const bool when_made : {true, false})
    {
      Diagnosis diagnosis;
      diagnosis.parameters.diagnose.place = "host";
      diagnosis.parameters.diagnose.classes = {"scale"};
      DiagnoseOptions options;
      ThreadTeam team(2);
      std::ostringstream out, err;
      Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
      const std::vector<MatrixFile> no_files;
      diagnose::Run run{diagnosis, options, team, console, no_files};
      const Row<Problem> row{"large", "double", Place::host, "FP64 FMA", "", 1e-10, make};
      run_rows<Problem>({&row, 1}, "scale", {when_made}, "a problem", run);
      const Entry &entry = diagnosis.entries.at(0);
      EXPECT_EQ(entry.outcome, Outcome::not_available);
      expect_contains(entry.reason, "host memory is too small; ");
      EXPECT_EQ(exit_code(diagnosis, console), exit_unexpected);
      expect_contains(err.str(), "nothing could be measured: host memory is too small");
    }
  }

  /// The generators' limits too: entries of the report, and the run goes on.
  TEST(DiagnoseMemory, MatricesThatAreTooLargeAreLeftOut)
  {
    Diagnosis diagnosis;
    diagnosis.parameters.diagnose.place = "host";
    DiagnoseOptions options;
    options.matrices = {"poisson7", "power_law"};
    options.cached_megabytes = options.memory_megabytes = 1e9;
    ThreadTeam team(1);
    std::ostringstream out, err;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
    const std::vector<MatrixFile> no_files;
    diagnose::Run run{diagnosis, options, team, console, no_files};
    run_spmv(run);
    ASSERT_EQ(diagnosis.entries.size(), 2u);
    for (const Entry &entry : diagnosis.entries)
    {
      EXPECT_EQ(entry.outcome, Outcome::not_available);
      expect_contains(entry.reason, "of host memory, ");
    }
  }
} // namespace
} // namespace tensormg::diagnose
