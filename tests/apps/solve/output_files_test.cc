// The files of a run: whose they are, what is said before a solve that could not be written, what they are called.
#include "apps/common/output.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apps/solve/solve.h"
#include "operators/data/npy_array.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  namespace fs = std::filesystem;
  using test::content;
  using test::write;

  class OutputFiles : public testing::Test
  {
  protected:
    Parameters parameters(const std::vector<std::string> &overrides) const
    {
      std::vector<std::string> all{"problem.dimension=2", "problem.refinements=3",
          "problem.degree=2", "output.directory=" + directory_.path().string()};
      all.insert(all.end(), overrides.begin(), overrides.end());
      return default_parameters(all);
    }
    /// What is said goes to one text.
    RunRecord run(const std::vector<std::string> &overrides = {})
    {
      screen_.str("");
      Console console(MPI_COMM_SELF, Verbosity::normal, screen_, screen_);
      return run_solve(parameters(overrides), MPI_COMM_SELF, console);
    }
    bool has(const std::string &name) const { return fs::exists(directory_ / name); }
    nlohmann::json record() const { return test::parse_json(content(directory_ / "run.json")); }
    void expect_said(const std::string &text) const
    {
      EXPECT_NE(screen_.str().find(text), std::string::npos) << screen_.str();
    }

    const test::TemporaryDirectory directory_;
    std::ostringstream screen_;
  };

  /// As if another process held the directory.
  class OtherRun
  {
  public:
    OtherRun(const fs::path &directory, const std::string &text)
      : file_(::open((directory / lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666))
    {
      write(directory / lock_name, text);
      EXPECT_EQ(::flock(file_, LOCK_EX | LOCK_NB), 0);
    }
    ~OtherRun() { ::close(file_); } // as a process that is killed
    OtherRun(const OtherRun &) = delete;
    OtherRun &operator=(const OtherRun &) = delete;

  private:
    int file_;
  };

  TEST_F(OutputFiles, ASecondRunIsRefused)
  {
    run();
    const std::string before = content(directory_ / "run.json");
    {
      const OtherRun other(directory_.path(), "4711 elsewhere\n");
      expect_message([&] { run({"problem.right_hand_side=2"}); },
          {"output.directory = '" + directory_.path().string() +
                  "' is in use by another run (process 4711 on elsewhere)",
              "allowed: a directory"});
      EXPECT_EQ(content(directory_ / "run.json"), before);
      EXPECT_TRUE(has(lock_name));
    }
    {
      const OtherRun other(directory_.path(), ""); // before it has written its name
      expect_message([&] { run(); }, {"is in use by another run;"});
    }
    EXPECT_NO_THROW(run()); // nobody holds what is still there
    EXPECT_FALSE(has(lock_name));
  }

  TEST_F(OutputFiles, AProcessMayClaimADirectoryAgain)
  {
    const OutputDirectory outer(directory_.path(), MPI_COMM_SELF);
    EXPECT_NO_THROW(run());
    EXPECT_TRUE(has(lock_name));
    EXPECT_NE(content(directory_ / lock_name).find(std::to_string(::getpid())), std::string::npos);
  }

  TEST_F(OutputFiles, WhatAKilledRunLeftGoes)
  {
    const std::vector<std::string> others{
        "tensormg-00.part", "solution.part", "tensormg-0123456789abcdeg.part", "x.vtu.part"};
    for (const std::string &name : others)
      write(directory_ / name, "x");
    write(directory_ / "tensormg-0123456789abcdef.part", "x");
    run();
    EXPECT_FALSE(has("tensormg-0123456789abcdef.part"));
    for (const std::string &name : others)
      EXPECT_TRUE(has(name)) << name;
  }

  TEST_F(OutputFiles, NamesThatNoFileCanHaveAreRefusedBeforeTheSolve)
  {
    run();
    const auto refuse = [&](const std::vector<std::string> &overrides,
                            const std::vector<std::string> &parts) {
      expect_message([&] { run(overrides); }, parts);
      EXPECT_EQ(screen_.str().find("iteration"), std::string::npos);
    };
    refuse({"output.name=" + std::string(300, 'n')},
        {"output.name = 'nnn", "(300 characters)", "cannot be written (File name too long)"});
    refuse({"output.name=" + std::string(240, 'n')}, {"File name too long"});
    EXPECT_TRUE(has("run.json"));
    EXPECT_NO_THROW(run({"output.name=" + std::string(230, 'n')}));
    fs::create_directories(directory_ / "u.vtu");
    refuse({"output.name=u"}, {"output.name = 'u': the file u.vtu", "(Is a directory)"});
    EXPECT_NO_THROW(run({"output.name=u", "output.write_vtu=false"}));
    fs::remove(directory_ / "run.json");
    fs::create_directories(directory_ / "run.json");
    refuse({}, {"its file run.json cannot be written (Is a directory)"});
    EXPECT_TRUE(has("run.json"));
  }

  TEST_F(OutputFiles, TheRecordTellsOfAFieldThatCouldNotBeWritten)
  {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{60'000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small); // like a full disk
    EXPECT_THROW(run({"problem.refinements=6"}), std::runtime_error);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, previous);
    EXPECT_EQ(record()["converged"], true);
    EXPECT_EQ(record()["exit_code"], 1);
    EXPECT_NE(
        record()["files_trouble"].get<std::string>().find("File too large"), std::string::npos);
    EXPECT_EQ(record()["files"].size(), 3U);
    EXPECT_FALSE(has("solution.vtu"));
    run();
    EXPECT_TRUE(record()["files_trouble"].is_null());
    EXPECT_EQ(record()["exit_code"], 0);
  }

  TEST_F(OutputFiles, WhatHasNotConvergedIsCalledSo)
  {
    run();
    EXPECT_TRUE(has("solution.vtu"));
    EXPECT_EQ(run({"solver.max_iterations=1"}).report.reason, StopReason::iteration_limit);
    EXPECT_TRUE(has("solution_not_converged.vtu"));
    EXPECT_FALSE(has("solution.vtu")) << "that of the run before";
    EXPECT_EQ(record()["files"][0], (directory_ / "solution_not_converged.vtu").string());
    run();
    EXPECT_TRUE(has("solution.vtu"));
    EXPECT_FALSE(has("solution_not_converged.vtu"));
  }

  TEST_F(OutputFiles, AFieldOfAnEarlierRunIsNamed)
  {
    run();
    run({"output.write_vtu=false"});
    expect_said("tensormg: warning: " + (directory_ / "solution.vtu").string() +
        " is of an earlier run: this one writes no field");
    run({"output.vtu_max_cells=1"});
    expect_said("is of an earlier run");
    EXPECT_TRUE(has("solution.vtu"));
    fs::remove(directory_ / "solution.vtu");
    write(directory_ / "solution.vtu", "somebody else's");
    run({"output.write_vtu=false"});
    EXPECT_EQ(screen_.str().find("earlier run"), std::string::npos);
  }

  TEST_F(OutputFiles, ThatAFieldIsTooLargeIsSaidBeforeTheSolve)
  {
    run({"output.vtu_max_cells=63"});
    expect_said("the solution will not be written for ParaView (output.vtu_max_cells = 63)");
    expect_said("output.write_npy = true would write it as an array of any size");
    EXPECT_LT(screen_.str().find("will not be written"), screen_.str().find("iteration  relative"));
    run({"output.vtu_max_cells=64"});
    EXPECT_EQ(screen_.str().find("will not be written"), std::string::npos);
  }

  TEST_F(OutputFiles, ArraysAreOfAnySizeAndTell)
  {
    run({"output.write_npy=true", "output.vtu_max_cells=63", "output.field_name=T",
        "output.field_unit=K"});
    expect_said("output.write_npy writes all of it as an array");
    EXPECT_FALSE(has("solution.vtu"));
    EXPECT_EQ(NpyArray((directory_ / "solution.npy").string()).shape(),
        (std::vector<std::int64_t>{8, 8, 3, 3}));
    const nlohmann::json about = test::parse_json(content(directory_ / "solution.json"));
    EXPECT_EQ(about["shape"], (std::vector<int>{8, 8, 3, 3}));
    EXPECT_TRUE(about["field_name"] == "T" && about["field_unit"] == "K");
    EXPECT_EQ(about["converged"], true);
    EXPECT_EQ(record()["files"][0], (directory_ / "solution.json").string());
    EXPECT_EQ(record()["files"][1], (directory_ / "solution.npy").string());
    run({"output.write_npy=true", "output.write_vtu=false", "solver.max_iterations=1"});
    EXPECT_TRUE(has("solution_not_converged.npy"));
    EXPECT_EQ(
        test::parse_json(content(directory_ / "solution_not_converged.json"))["converged"], false);
    expect_said((directory_ / "solution.json").string() + " and its array are of an earlier run");
    EXPECT_TRUE(has("solution.npy")) << "another run may begin with it";
    fs::create_directories(directory_ / "u.npy");
    expect_message(
        [&] {
          run({"output.write_npy=true", "output.name=u"});
        },
        {"output.name = 'u': the file u.npy cannot be written (Is a directory)"});
  }

  TEST_F(OutputFiles, AnArrayNeedsTheWholeSolution)
  {
    Parameters p = parameters({"output.vtu_lower=0.4", "output.vtu_upper=0.6"});
    const Grid grid = make_grid(p.problem, MPI_COMM_SELF);
    EXPECT_LT(part_of_output(grid, p.output).finest().block.cells[1], 8);
    p.output.write_npy = true;
    EXPECT_EQ(part_of_output(grid, p.output).finest().block, grid.finest().block);
    p.output.write_vtu = false;
    EXPECT_FALSE(has_no_field(p.output, grid));
    p.output.write_npy = false;
    EXPECT_TRUE(has_no_field(p.output, grid));
  }

  TEST_F(OutputFiles, FieldsInDoubleAreNamed)
  {
    run({"problem.right_hand_side=1e40"});
    expect_said("fields       u in double precision, since single would not show the values\n");
  }
} // namespace
} // namespace tensormg
