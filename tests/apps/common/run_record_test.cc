// The record of a run and the texts and files that are made from it.
#include <cmath>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/common/output.h"
#include "apps/common/report.h"
#include "apps/common/run_record.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using test::content;
  using test::TemporaryDirectory;

  /// A run that ended well, with numbers that are easy to recognise.
  RunRecord sample(const std::vector<std::string> &overrides = {})
  {
    std::vector<std::string> all{"problem.dimension=2", "problem.refinements=2"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const Parameters parameters = default_parameters(all);
    RunRecord record =
        begin_record(parameters, make_grid(parameters.problem, MPI_COMM_SELF), "cpu");
    record.memory.items = {{"solution", "double", 2, 4096.}};
    record.budget = {4096., 1e9, 1};
    record.report.reason = StopReason::converged;
    record.report.iterations = 2;
    record.report.residuals = {8., 0.4, 0.02};
    record.report.true_relative_residual = 0.0025;
    record.report.seconds = 0.5;
    record.rhs_norm = 8.;
    record.levels.back().times = {0.1, 0.05, 0., 3};
    record.l2_error = 1e-3;
    return record;
  }

  nlohmann::json json_of(const RunRecord &record)
  {
    std::ostringstream text;
    write_run_json(record, text);
    return test::parse_json(text.str());
  }

  TEST(RunRecord, Json)
  {
    const nlohmann::json json = json_of(sample());
    EXPECT_EQ(json["converged"], true);
    EXPECT_EQ(json["reason"], "converged");
    EXPECT_EQ(json["exit_code"], 0);
    EXPECT_EQ(json["dimension"], 2);
    EXPECT_EQ(json["cells"], nlohmann::json({4, 4}));
    EXPECT_EQ(json["dofs"], 16 * 16);
    EXPECT_EQ(json["iterations"], 2);
    EXPECT_NEAR(json["reduction"].get<double>(), 0.05, 1e-15);
    EXPECT_EQ(json["residuals"].size(), 3U);
    EXPECT_EQ(json["dofs_per_second"], 512.);
    EXPECT_EQ(json["l2_error"], 1e-3);
    EXPECT_TRUE(json["h1_error"].is_null());
    EXPECT_TRUE(json["lambda_max"].is_null());
    EXPECT_TRUE(json["integral"].is_null() && json["probes"].is_null());
    EXPECT_EQ(json["levels"].size(), 3U);
    EXPECT_EQ(json["levels"][2]["visits"], 3);
    EXPECT_EQ(json["memory"]["vectors"][0]["count"], 2);
    EXPECT_EQ(json["parameters"]["problem"]["dimension"], "2");
    EXPECT_EQ(json["basis_precision"], "single");
    EXPECT_EQ(json_of(sample({"multigrid.precision=double"}))["basis_precision"], "double");
    EXPECT_EQ(json_of(sample({"solver.basis_precision=double"}))["basis_precision"], "double");
    EXPECT_EQ(json_of(sample({"solver.solver=cg"}))["basis_precision"], "single");
    EXPECT_TRUE(json_of(sample({"solver.solver=direct"}))["basis_precision"].is_null());
    for (const char *key : {"backend", "instruction_set", "precision", "solver", "smoother",
             "cycle", "setup_seconds", "setup_parts", "scale_bytes_per_second", "rhs_seconds",
             "solve_seconds", "energy_joules", "ranks", "threads", "peak_memory_bytes", "version",
             "git_hash", "compiler", "host_cpu", "date"})
      EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json["date"].get<std::string>().size(), std::string("2000-01-01T00:00:00Z").size());
  }

  TEST(RunRecord, JsonOfFailure)
  {
    RunRecord record = sample({"output.name=na\xffme"});
    record.report.reason = StopReason::not_finite;
    record.report.detail = "NaN on level 3";
    record.report.true_relative_residual = NAN;
    const nlohmann::json json = json_of(record);
    EXPECT_EQ(json["converged"], false);
    EXPECT_EQ(json["exit_code"], 5);
    EXPECT_EQ(json["detail"], "NaN on level 3");
    EXPECT_TRUE(json["true_relative_residual"].is_null());
  }

  TEST(RunRecord, ParametersInJsonGiveTheSameRun)
  {
    const RunRecord record = sample({"solver.tolerance=3e-7", "problem.upper=1,2.5"});
    const TemporaryFile file("again.json", json_of(record)["parameters"].dump());
    std::ostringstream before, after;
    print_parameters(record.parameters, before);
    print_parameters(read_parameters(file.path()), after);
    EXPECT_EQ(before.str(), after.str());
  }

  TEST(RunRecord, ResidualsCsv)
  {
    std::ostringstream text;
    write_residuals_csv(sample(), text);
    std::istringstream lines(text.str());
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "iteration,residual,relative_residual");
    std::getline(lines, line);
    EXPECT_EQ(line, "0,8,1");
    int further = 0;
    while (std::getline(lines, line))
      ++further;
    EXPECT_EQ(further, 2);
  }

  TEST(RunRecord, PeakMemory)
  {
    EXPECT_GT(peak_memory(), 1e6);
    EXPECT_LT(peak_memory(), 1e13);
  }

  TEST(RunRecord, TheLogFileIsOneOfTheFiles)
  {
    const TemporaryDirectory directory;
    const std::string path = (directory / "a").string();
    for (const bool is_there : {false, true})
    {
      RunRecord record = sample({"output.directory=" + path, "output.log_file=log.txt"});
      prepare_directory(path, MPI_COMM_SELF);
      if (is_there)
        std::ofstream(path + "/log.txt") << "words";
      write_record(record, MPI_COMM_SELF);
      EXPECT_EQ(record.files.size(), is_there ? 4U : 3U);
      EXPECT_EQ(record.files.back(), path + (is_there ? "/log.txt" : "/parameters.prm"));
    }
  }

  TEST(RunRecord, Files)
  {
    const TemporaryDirectory directory;
    RunRecord record = sample({"output.directory=" + (directory / "a/b").string()});
    prepare_directory(record.parameters.output.directory, MPI_COMM_SELF);
    write_record(record, MPI_COMM_SELF);
    EXPECT_EQ(record.files.size(), 3U);
    const nlohmann::json json = test::parse_json(content(directory / "a/b/run.json"));
    EXPECT_EQ(json["files"].size(), 3U);
    // Nothing temporary stays behind.
    int files = 0;
    for ([[maybe_unused]] const auto &entry :
        std::filesystem::directory_iterator(directory / "a/b"))
      ++files;
    EXPECT_EQ(files, 3);
    const Parameters again = read_parameters((directory / "a/b/parameters.prm").string());
    EXPECT_EQ(again.problem.refinements, 2);
  }

  TEST(Output, UnusableDirectories)
  {
    const TemporaryDirectory directory;
    test::write(directory / "file", "");
    const auto complain = [&](const std::string &path, const std::string &part) {
      expect_message([&] { prepare_directory(path, MPI_COMM_SELF); },
          {"output.directory = '" + path + "'", part, "allowed: a directory"});
    };
    complain((directory / "file").string(), "cannot be created");
    complain((directory / "file/below").string(), "cannot be created");
    complain("/proc/tensormg", "cannot be created");
    complain("/proc/self", "cannot be written to");
  }

  TEST(Output, WriteFileReplacesOrFails)
  {
    const TemporaryDirectory directory;
    write_file(directory / "file", "one");
    write_file(directory / "file", "two");
    EXPECT_EQ(content(directory / "file"), "two");
    EXPECT_THROW(write_file(directory / "not/there", "x"), std::runtime_error);
    std::filesystem::create_directories(directory / "taken/inside");
    EXPECT_THROW(write_file(directory / "taken", "x"), std::runtime_error);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()),
                  std::filesystem::directory_iterator()),
        2);
  }

  TEST(Output, TroubleOnTheFirstRankIsEverybodys)
  {
    EXPECT_THROW(
        on_first_rank(MPI_COMM_WORLD, [] { throw std::logic_error("x"); }), std::runtime_error);
    EXPECT_NO_THROW(on_first_rank(MPI_COMM_WORLD, [] {}));
  }

  void expect_parts(const std::string &text, const std::vector<std::string> &parts)
  {
    for (const std::string &part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in\n" << text;
  }

  TEST(Report, Header)
  {
    const RunRecord record = sample({"solver.tolerance=1e-6", "boundary.left=neumann"});
    const std::string text = header_text(record, false);
    expect_parts(text,
        {"tensormg ", "(0, 1) x (0, 1)\n", "dirichlet on right, front, back; neumann on left",
            "4 x 4 cells of degree 3, 256 DoFs, 3 levels\n", "fgmres to 1e-06", "v-cycle in single",
            "1 rank, 1 thread", "4.00 KiB needed", "vectors on rank 0", "solution",
            "solver.tolerance = 1e-06\n", "boundary.left = neumann\n"});
    EXPECT_EQ(text.find("solver.restart"), std::string::npos);
    expect_parts(header_text(record, true),
        {"solver.restart = 10", "restart 10, basis in single precision", "partition"});
  }

  TEST(Report, Methods)
  {
    expect_parts(header_text(sample({"solver.solver=direct"}), false), {"direct"});
    expect_parts(header_text(sample({"multigrid.smoother=patch", "solver.solver=cg"}), false),
        {"cg to 1e-08, vectors in single precision; ", "multiplicative patch smoother, 4 sweeps"});
    expect_parts(header_text(sample({"multigrid.smoother=jacobi", "multigrid.degree=1",
                                 "solver.full_multigrid=true", "multigrid.precision=half"}),
                     false),
        {"from full multigrid with 2 cycles per level", "half precision",
            "jacobi smoother, 1 sweep\n"});
  }

  TEST(Report, Summary)
  {
    RunRecord record = sample();
    expect_parts(summary_text(record, false),
        {"converged after 2 iterations, mean reduction 0.0500", "residual     2.50e-03",
            "L2 1.00e-03", "solve 500 ms"});
    expect_parts(levels_text(record), {"4 x 4", "256", "30.0", "outer", "70.0"});
    expect_parts(result_line(record), {"converged: 2 iterations", "256 DoFs", "L2 1.00e-03"});
    EXPECT_EQ(result_line(record).find('\n'), result_line(record).size() - 1);
    record.algebraic_l2_error = 4.95e-13;
    expect_parts(summary_text(record, false),
        {"error        L2 1.00e-03\n             more iterations would change the solution by about "
         "4.95e-13 in L2\n"});
    record.l2_error.reset();
    expect_parts(summary_text(record, false),
        {"accuracy     more iterations", "the error of the discretisation is not known\n"});
    record.report.reason = StopReason::stagnated;
    record.report.detail = "the residual stays";
    expect_parts(summary_text(record, true), {"stagnated after", "the residual stays"});
  }

  TEST(Report, SolvesWithoutAnIteration)
  {
    const auto text_of = [](const std::vector<std::string> &overrides, double rhs_norm) {
      RunRecord record = sample(overrides);
      record.report.iterations = 0;
      record.rhs_norm = rhs_norm;
      return summary_text(record, false);
    };
    expect_parts(text_of({"solver.full_multigrid=true"}, 1.),
        {"converged by the full-multigrid start, 0 iterations of fgmres\n"});
    expect_parts(text_of({"problem.initial_guess=x", "solver.solver=cg"}, 1.),
        {"converged with the initial guess, 0 iterations of cg\n"});
    expect_parts(text_of({}, 0.), {"converged after 0 iterations\n"});
  }

  TEST(Report, Iterations)
  {
    expect_parts(iteration_text(0, 1., 0.), {"iteration", "1.00e+00"});
    expect_parts(iteration_text(12, 0.01, 0.1), {"12", "1.00e-02", "0.100"});
  }
} // namespace
} // namespace tensormg
