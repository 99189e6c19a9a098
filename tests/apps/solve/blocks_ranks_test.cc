// Solves on curved cells give on several ranks what they give on one, and files and refusals of all.
//
// ranks: 1 2 3 4
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/solve/solve.h"
#include "operators/mesh/agreement.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using Words = std::vector<std::string>;
  using test::TemporaryDirectory;

  int n_ranks()
  {
    int n = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    return n;
  }

  RunRecord solve(MPI_Comm communicator, Words overrides, const std::filesystem::path &directory)
  {
    overrides.push_back("output.directory=" + directory.string());
    overrides.emplace_back("solver.tolerance=1e-12");
    Console silent = Console::silent(communicator);
    return run_solve(default_parameters(overrides), communicator, silent);
  }
  RunRecord solve(MPI_Comm communicator, const Words &overrides)
  {
    const TemporaryDirectory directory(communicator);
    return solve(communicator, overrides, directory.path());
  }

  Words with(Words words, const Words &more)
  {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  void expect_near(double all, double one, double size) { EXPECT_NEAR(all, one, 1e-10 * size); }

  void expect_independent_of_ranks(const Words &problem)
  {
    SCOPED_TRACE(testing::PrintToString(problem));
    const RunRecord one = solve(MPI_COMM_SELF, problem), all = solve(MPI_COMM_WORLD, problem);
    // A singular system may end at its rounding.
    EXPECT_EQ(all.report.reason, one.report.reason) << all.report.detail;
    EXPECT_TRUE(one.report.converged() || one.is_singular) << one.report.detail;
    EXPECT_NEAR(all.report.iterations, one.report.iterations, 2);
    EXPECT_EQ(all.dofs, one.dofs);
    EXPECT_EQ(all.ranks, n_ranks());
    EXPECT_EQ(all.levels.back().distributed, n_ranks() > 1);
    expect_near(all.rhs_norm, one.rhs_norm, one.rhs_norm);
    const double size = one.numbers->l2_norm;
    expect_near(all.numbers->l2_norm, size, size);
    expect_near(all.numbers->integral, one.numbers->integral, size);
    expect_near(all.numbers->minimum, one.numbers->minimum, size);
    expect_near(all.numbers->maximum, one.numbers->maximum, size);
    if (one.l2_error)
      expect_near(*all.l2_error, *one.l2_error, size);
    ASSERT_EQ(all.probes.size(), one.probes.size());
    for (std::size_t p = 0; p < one.probes.size(); ++p)
    {
      expect_near(all.probes[p].value, one.probes[p].value, 10. * size);
      for (int d = 0; d < 3; ++d)
        expect_near(all.probes[p].gradient[d], one.probes[p].gradient[d], 1000. * size);
    }
    ASSERT_EQ(all.probe_lines.size(), one.probe_lines.size());
    for (std::size_t l = 0; l < one.probe_lines.size(); ++l)
      for (std::size_t i = 0; i < one.probe_lines[l].size(); ++i)
        if (std::isnan(one.probe_lines[l][i].value))
          EXPECT_TRUE(std::isnan(all.probe_lines[l][i].value));
        else
          expect_near(all.probe_lines[l][i].value, one.probe_lines[l][i].value, 10. * size);
    expect_near(all.mesh->volume, one.mesh->volume, one.mesh->volume);
    expect_near(all.mesh->least_quality, one.mesh->least_quality, 1.);
    expect_near(all.mesh->mean_quality, one.mesh->mean_quality, 1.);
    expect_near(all.mesh->largest_kappa, one.mesh->largest_kappa, 1.);
    expect_near(all.mesh->shape.smallest_angle, one.mesh->shape.smallest_angle, 90.);
    expect_near(all.mesh->shape.mean_aspect_ratio, one.mesh->shape.mean_aspect_ratio, 1.);
    ASSERT_EQ(all.mesh->boundaries.size(), one.mesh->boundaries.size());
    for (std::size_t b = 0; b < one.mesh->boundaries.size(); ++b)
    {
      expect_near(all.mesh->boundaries[b].area, one.mesh->boundaries[b].area, 10.);
      expect_near(all.mesh->boundaries[b].flux, one.mesh->boundaries[b].flux, 100.);
    }
  }

  const Words shell{"problem.dimension=2", "problem.refinements=5", "problem.degree=3",
      "mesh.type=generate", "mesh.generator=hyper_shell",
      "mesh.generator_arguments=0,0 : 0.5 : 1 : 5 : true", "problem.right_hand_side=x",
      "problem.exact_solution=log(x^2+y^2)/2", "output.probes=0.6 0.3; 0 0.75",
      "output.probe_lines=0 0 : 1 0 : 5",
      "boundary.conditions=0: dirichlet log(0.5); 1: robin 2, 1"};

  TEST(BlockSolveRanks, Shells)
  {
    expect_independent_of_ranks(with(shell,
        {"problem.reaction=1+x^2", "mesh.averages=harmonic",
            "problem.coefficient=if(x < y, 1, 50)"}));
    expect_independent_of_ranks(
        with(shell, {"solver.solver=cg", "multigrid.precision=half", "problem.initial_guess=x*y"}));
    // Nothing holds the constant.
    expect_independent_of_ranks(with(shell, {"boundary.conditions=*: neumann"}));
  }

  TEST(BlockSolveRanks, ThreeDimensions)
  {
    expect_independent_of_ranks({"problem.refinements=3", "problem.degree=2", "mesh.type=generate",
        "mesh.generator=hyper_ball", "mesh.generator_arguments=0,0,0 : 1 : false",
        "problem.right_hand_side=exp(x)", "boundary.conditions=*: dirichlet y",
        "output.probes=0 0 0; 0.3 0.2 0.1"});
    expect_independent_of_ranks({"problem.refinements=4", "problem.degree=2", "mesh.type=mapped",
        "mesh.map=x+0.1*sin(3*y); y+0.1*z^2; z", "boundary.left=periodic",
        "boundary.right=periodic", "problem.right_hand_side=exp(x)*y", "boundary.top=robin",
        "boundary.top_value=1", "boundary.top_robin_coefficient=2"});
  }

  // A field is in pieces, and those of other numbers of ranks are gone.
  TEST(BlockSolveRanks, Files)
  {
    const TemporaryDirectory directory(MPI_COMM_WORLD);
    const RunRecord record = solve(MPI_COMM_WORLD, shell, directory.path());
    const auto exists = [&](const std::string &name) {
      return std::filesystem::exists(directory.path() / name);
    };
    EXPECT_TRUE(exists("run.json"));
    EXPECT_EQ(exists("solution.vtu"), n_ranks() == 1);
    EXPECT_EQ(exists("solution.pvtu"), n_ranks() > 1);
    for (int r = 0; r < 4; ++r)
      EXPECT_EQ(
          exists("solution.000" + std::to_string(r) + ".vtu"), n_ranks() > 1 && r < n_ranks());
  }

  // What is wrong in the part of one rank, and too small meshes.
  TEST(BlockSolveRanks, RefusalsAndSmallMeshes)
  {
    const auto message = [](const Words &words) {
      try
      {
        solve(MPI_COMM_WORLD, words);
      }
      catch (const ParameterError &error)
      {
        return std::string(error.what());
      }
      return std::string();
    };
    for (const Words &wrong :
        {Words{"problem.reaction=x+0.99"}, {"problem.right_hand_side=1/if(x>0.95,0,1)"},
            {"problem.coefficient=if(y<-0.95,-1,1)"}, {"output.probes=3 3"}})
    {
      const std::string text = message(with(shell, wrong));
      EXPECT_FALSE(text.empty()) << wrong.front();
      EXPECT_TRUE(is_same_on_all_ranks(text, MPI_COMM_WORLD)) << text;
    }
    const RunRecord small = solve(MPI_COMM_WORLD, with(shell, {"problem.refinements=2"}));
    EXPECT_TRUE(small.report.converged());
    EXPECT_FALSE(small.levels.back().distributed);
  }
} // namespace
} // namespace tensormg
