// Solves on curved cells with all work on a device against those of the host: iterations, solution, what is told and refused.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/solve/solve.h"
#include "kernels/device/device.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using Words = std::vector<std::string>;

  class BlocksOnDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    RunRecord run(const std::string &backend, const Words &words)
    {
      Words all{"operator.backend=" + backend, "output.write_vtu=false",
          "output.directory=" + (directory_ / backend).string()};
      all.insert(all.end(), words.begin(), words.end());
      out_.str("");
      Console console(MPI_COMM_SELF, Verbosity::normal, out_, out_);
      return run_solve(default_parameters(all), MPI_COMM_SELF, console);
    }
    void compare(const Words &words)
    {
      SCOPED_TRACE(words.front());
      const RunRecord host = run("cpu", words), device = run("cuda", words);
      ASSERT_TRUE(host.report.converged());
      ASSERT_TRUE(device.report.converged()) << out_.str();
      EXPECT_EQ(device.backend, "cuda");
      EXPECT_NEAR(device.report.iterations, host.report.iterations, 1);
      EXPECT_LE(device.report.true_relative_residual, 1e-8);
      EXPECT_NEAR(device.numbers->integral, host.numbers->integral,
          1e-6 * std::abs(host.numbers->integral));
      EXPECT_NEAR(device.numbers->l2_norm, host.numbers->l2_norm, 1e-6 * host.numbers->l2_norm);
      EXPECT_EQ(device.mesh->relaxation, host.mesh->relaxation);
      EXPECT_GT(device.levels.back().times.visits, 0);
    }
    static Words with(Words words, const Words &more)
    {
      words.insert(words.end(), more.begin(), more.end());
      return words;
    }
    static Words ring()
    {
      return {"problem.dimension=2", "problem.refinements=2", "problem.degree=3",
          "mesh.type=generate", "mesh.generator=hyper_shell",
          "mesh.generator_arguments=0,0 : 0.5 : 1 : 5 : true", "problem.right_hand_side=1+x",
          "boundary.conditions=0: dirichlet log(0.5); 1: robin 2, 1"};
    }
    static Words ball()
    {
      return {"problem.dimension=3", "problem.refinements=1", "problem.degree=2",
          "mesh.type=generate", "mesh.generator=hyper_ball",
          "mesh.generator_arguments=0,0,0 : 1 : false", "problem.right_hand_side=1",
          "boundary.conditions=*: dirichlet 0"};
    }

    const test::TemporaryDirectory directory_;
    std::ostringstream out_;
  };

  TEST_F(BlocksOnDevice, EqualsTheHost)
  {
    compare(with({"multigrid.relaxation=diagonal"}, ring()));
    compare(with({"multigrid.relaxation=diagonal", "multigrid.precision=double"}, ring()));
    compare(with({"multigrid.relaxation=diagonal", "multigrid.precision=half"}, ring()));
    compare(with({"problem.reaction=1+y^2", "multigrid.relaxation=diagonal"}, ring()));
    compare(with({"solver.solver=cg", "multigrid.relaxation=diagonal"}, ring()));
    compare(with({"multigrid.relaxation=diagonal"}, ball()));
  }
  TEST_F(BlocksOnDevice, Relaxations)
  {
    for (const char *relaxation : {"cells", "lines", "cells_and_lines"})
      compare(with({std::string("multigrid.relaxation=") + relaxation}, ring()));
    compare(with({"multigrid.relaxation=cells"}, ball()));
  }
  TEST_F(BlocksOnDevice, OneMetricPerCell)
  {
    compare(with({"multigrid.operator=cell_mean", "multigrid.relaxation=diagonal"}, ring()));
    compare({"problem.dimension=2", "problem.refinements=2", "problem.degree=3", "mesh.type=mapped",
        "mesh.map=x+0.3*y; y", "problem.right_hand_side=1"});
  }
  TEST_F(BlocksOnDevice, Vertices)
  {
    compare(with({"multigrid.coarsening=vertices", "multigrid.relaxation=diagonal"}, ring()));
    compare(with(
        {"problem.coefficient=if(x > 0, 1, 1e4)", "problem.coefficient_in_cell=mean"}, ring()));
  }
  TEST_F(BlocksOnDevice, GivenStart)
  {
    compare(with({"problem.initial_guess=x*y", "multigrid.relaxation=diagonal"}, ring()));
  }
  TEST_F(BlocksOnDevice, Automatic)
  {
    EXPECT_EQ(run("auto", with({"multigrid.relaxation=diagonal"}, ring())).backend, "cuda");
    EXPECT_NE(out_.str().find("backend      cuda"), std::string::npos) << out_.str();
  }
} // namespace
} // namespace tensormg
