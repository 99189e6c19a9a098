// Whole solves of small problems: every word of the parameters leads to the same solution, and every
// failure to its reason.
#include <cmath>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/solve/solve.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using test::content;
  using test::TemporaryDirectory;

  class Solve : public testing::Test
  {
  protected:
    /// 8 x 4 x 4 cells of degree 2 in a box with two kinds of boundaries, plus `overrides`.
    Parameters small(const std::vector<std::string> &overrides = {}) const
    {
      std::vector<std::string> all{"problem.upper=2,1,1", "problem.coarse_cells=2,1,1",
          "problem.refinements=2", "problem.degree=2", "problem.coefficient=3",
          "problem.right_hand_side=9*pi^2*sin(pi*x)*cos(pi*y)*sin(pi*z)",
          "problem.exact_solution=sin(pi*x)*cos(pi*y)*sin(pi*z)", "boundary.front=neumann",
          "boundary.back=neumann", "output.write_vtu=false",
          "output.directory=" + directory_.path().string()};
      all.insert(all.end(), overrides.begin(), overrides.end());
      return default_parameters(all);
    }

    RunRecord run(const std::vector<std::string> &overrides = {})
    {
      const Parameters parameters = small(overrides);
      out_.str("");
      error_.str("");
      Console console(MPI_COMM_SELF, parameters.output.verbosity, out_, error_);
      return run_solve(parameters, MPI_COMM_SELF, console);
    }

    /// A converged run with at most so many iterations and the error of the discretisation.
    void expect_converged(const std::vector<std::string> &overrides, int max_iterations)
    {
      SCOPED_TRACE(testing::PrintToString(overrides));
      const RunRecord record = run(overrides);
      EXPECT_TRUE(record.report.converged()) << record.report.detail;
      EXPECT_LE(record.report.true_relative_residual, record.tolerance);
      EXPECT_LE(record.report.iterations, max_iterations);
      ASSERT_TRUE(record.l2_error.has_value());
      EXPECT_NEAR(*record.l2_error, discretisation_error, 1e-8);
    }
    static constexpr double discretisation_error = 1.40946e-3;

    const TemporaryDirectory directory_;
    std::ostringstream out_, error_;
  };

  TEST_F(Solve, EverySmootherInEveryPrecision)
  {
    const std::vector<std::pair<std::vector<std::string>, int>> smoothers{
        {{"multigrid.smoother=chebyshev"}, 8},
        {{"multigrid.smoother=chebyshev", "multigrid.chebyshev_kind=first"}, 10},
        {{"multigrid.smoother=jacobi"}, 12},
        {{"multigrid.smoother=patch", "multigrid.degree=1"}, 6},
        {{"multigrid.smoother=patch", "multigrid.schwarz_kind=additive"}, 20}};
    for (const auto &[smoother, iterations] : smoothers)
      for (const std::string precision : {"double", "single", "half"})
      {
        std::vector<std::string> overrides = smoother;
        overrides.push_back("multigrid.precision=" + precision);
        expect_converged(overrides, iterations);
      }
  }

  TEST_F(Solve, EverySolverCycleAndBackend)
  {
    expect_converged({"solver.solver=cg"}, 9);
    expect_converged({"solver.solver=direct"}, 2);
    expect_converged({"solver.full_multigrid=true"}, 8);
    expect_converged({"solver.solver=cg", "solver.full_multigrid=true"}, 8);
    expect_converged({"multigrid.cycle=w"}, 8);
    expect_converged({"operator.backend=reference"}, 8);
    expect_converged({"operator.backend=cpu", "solver.restart=3"}, 12);
    expect_converged({"solver.tolerance=1e-11"}, 12);
  }

  TEST_F(Solve, StartsFromAGuess)
  {
    const std::string u = "sin(pi*x)*cos(pi*y)*sin(pi*z)";
    for (const std::string solver : {"solver.solver=fgmres", "solver.solver=cg"})
    {
      const int from_zero = run({solver}).report.iterations;
      const RunRecord near = run({solver, "problem.initial_guess=" + u});
      EXPECT_TRUE(near.report.converged()) << near.report.detail;
      EXPECT_LT(near.report.iterations, from_zero);
      EXPECT_NEAR(*near.l2_error, discretisation_error, 1e-8);
      // Also where the right-hand side is brought into the range of double precision.
      const RunRecord tiny = run({solver, "problem.right_hand_side=9e-200*pi^2*" + u,
          "problem.initial_guess=1e-200*" + u, "problem.exact_solution="});
      EXPECT_EQ(tiny.report.iterations, near.report.iterations);
      expect_converged({solver, "problem.initial_guess=1e3*(x - y*z)"}, from_zero + 4);
    }
    // Nothing but a constant is undetermined without Dirichlet sides.
    const RunRecord singular =
        run({"boundary.left=neumann", "boundary.right=neumann", "boundary.bottom=neumann",
            "boundary.top=neumann", "problem.right_hand_side=15*pi^2*cos(pi*x)*cos(2*pi*z)",
            "problem.exact_solution=", "problem.initial_guess=1e8 + cos(pi*x)"});
    EXPECT_TRUE(singular.report.converged()) << singular.report.detail;
    try
    {
      run({"problem.initial_guess=if(x < 0.5, 1/0, x)"});
      FAIL();
    }
    catch (const ParameterError &error)
    {
      EXPECT_NE(std::string(error.what()).find("problem.initial_guess"), std::string::npos)
          << error.what();
    }
  }

  TEST_F(Solve, WithoutDirichletSidesTheMeanIsZero)
  {
    const RunRecord record = run({"problem.upper=1", "problem.coarse_cells=1", "problem.degree=3",
        "boundary.left=neumann", "boundary.right=neumann", "boundary.bottom=periodic",
        "boundary.top=periodic", "problem.right_hand_side=15*pi^2*cos(pi*x)*cos(2*pi*z)",
        "problem.exact_solution=cos(pi*x)*cos(2*pi*z)"});
    EXPECT_TRUE(record.report.converged());
    EXPECT_LT(*record.l2_error, 5e-3);
    EXPECT_NE(out_.str().find("mean zero"), std::string::npos);
    EXPECT_EQ(out_.str().find("was removed"), std::string::npos);
  }

  TEST_F(Solve, ThatAMeanIsRemovedIsSaid)
  {
    run({"problem.upper=1", "problem.coarse_cells=1", "boundary.left=neumann",
        "boundary.right=neumann", "boundary.bottom=neumann", "boundary.top=neumann",
        "problem.right_hand_side=x-0.5+1e-7", "problem.exact_solution="});
    EXPECT_NE(
        out_.str().find("the mean of the right-hand side and the fluxes, 1e-07 (4e-07 of that"),
        std::string::npos)
        << out_.str();
  }

  TEST_F(Solve, TwoDimensions)
  {
    const RunRecord record = run({"problem.dimension=2", "problem.upper=2,1",
        "problem.coarse_cells=2,1", "problem.right_hand_side=6*pi^2*sin(pi*x)*cos(pi*y)",
        "problem.exact_solution=sin(pi*x)*cos(pi*y)",
        "problem.exact_gradient=pi*cos(pi*x)*cos(pi*y);-pi*sin(pi*x)*sin(pi*y)"});
    EXPECT_TRUE(record.report.converged());
    EXPECT_LT(*record.l2_error, 1e-2);
    EXPECT_LT(*record.h1_error, 2e-1);
    EXPECT_EQ(record.dofs, 32 * 9);
  }

  TEST_F(Solve, TheEstimatedErrorOfTheIterationIsRight)
  {
    // Against an error of the discretisation that vanishes: u is in the space.
    const RunRecord record = run({"problem.right_hand_side=-6", "problem.exact_solution=x*x",
        "problem.exact_gradient=2*x;0;0", "boundary.right_value=4", "boundary.bottom_value=x*x",
        "boundary.top_value=x*x", "solver.tolerance=1e-5"});
    ASSERT_TRUE(record.algebraic_l2_error.has_value());
    EXPECT_GT(*record.l2_error, 1e-9);
    EXPECT_NEAR(*record.algebraic_l2_error / *record.l2_error, 1., 0.2);
    EXPECT_NEAR(*record.algebraic_h1_error / *record.h1_error, 1., 0.5);
  }

  TEST_F(Solve, ExactSolutionWithHolesGivesNoError)
  {
    RunRecord record = run({"problem.exact_solution=sqrt(x-0.4)"});
    EXPECT_TRUE(record.report.converged());
    EXPECT_FALSE(record.l2_error.has_value());
    EXPECT_NE(
        error_.str().find("problem.exact_solution is infinite or not a number"), std::string::npos)
        << error_.str();
    record = run({"problem.exact_gradient=sqrt(x-0.4);0;0"});
    EXPECT_TRUE(record.l2_error.has_value());
    EXPECT_FALSE(record.h1_error.has_value());
    EXPECT_NE(error_.str().find("problem.exact_gradient is"), std::string::npos) << error_.str();
  }

  TEST_F(Solve, ZeroRightHandSide)
  {
    for (const std::string solver : {"fgmres", "cg", "direct"})
    {
      const RunRecord record = run({"problem.right_hand_side=0", "problem.exact_solution=0",
          "solver.solver=" + solver, "solver.full_multigrid=false"});
      EXPECT_TRUE(record.report.converged()) << solver;
      EXPECT_EQ(*record.l2_error, 0.) << solver;
      EXPECT_EQ(record.report.iterations, 0) << solver;
    }
  }

  TEST_F(Solve, RightHandSidesOfAnySize)
  {
    const std::string f = "9*pi^2*sin(pi*x)*cos(pi*y)*sin(pi*z)",
                      u = "sin(pi*x)*cos(pi*y)*sin(pi*z)";
    for (const std::string solver : {"fgmres", "cg", "direct"})
    {
      const RunRecord one = run({"solver.solver=" + solver});
      // The squares of the outer ones leave the range of double precision.
      for (const std::string size : {"1e-250", "1e-120", "1e120", "1e250"})
      {
        SCOPED_TRACE(solver + " " + size);
        const RunRecord record =
            run({"solver.solver=" + solver, "problem.right_hand_side=" + size + "*" + f,
                "problem.exact_solution=" + size + "*" + u});
        EXPECT_TRUE(record.report.converged());
        EXPECT_EQ(record.report.iterations, one.report.iterations);
        EXPECT_NEAR(record.rhs_norm / one.rhs_norm / std::stod(size), 1., 1e-12);
        EXPECT_NEAR(record.report.residuals[0] / record.rhs_norm, 1., 1e-12);
        EXPECT_NEAR(record.l2_error.value_or(0.) / std::stod(size), discretisation_error, 1e-8);
      }
    }
  }

  TEST_F(Solve, SaysInWhichLevelNumbersAreNotFinite)
  {
    const RunRecord record =
        run({"multigrid.smoother=jacobi", "multigrid.damping=1e30", "output.verbosity=quiet"});
    EXPECT_EQ(record.report.reason, StopReason::not_finite);
    EXPECT_NE(error_.str().find("(not_finite: "), std::string::npos) << error_.str();
    EXPECT_NE(error_.str().find("level "), std::string::npos) << error_.str();
  }

  // Sweeps that enlarge rough errors leave the range of half precision at once, that of single not in five
  // iterations.
  TEST_F(Solve, StartsAgainInSingleWhereHalfLeavesItsRange)
  {
    const std::vector<std::string> broken{"multigrid.smoother=jacobi", "multigrid.damping=500",
        "multigrid.degree=1", "multigrid.precision=half", "solver.max_iterations=5",
        "output.verbosity=quiet"};
    std::vector<std::string> without_fallback = broken;
    without_fallback.push_back("multigrid.precision_fallback=false");
    const RunRecord failed = run(without_fallback);
    EXPECT_EQ(failed.report.reason, StopReason::not_finite);
    EXPECT_EQ(failed.report.precision_fallback, "");

    const RunRecord record = run(broken);
    EXPECT_NE(record.report.precision_fallback.find("level "), std::string::npos);
    EXPECT_NE(error_.str().find("single"), std::string::npos) << error_.str();
    EXPECT_EQ(record.report.reason, StopReason::iteration_limit) << record.report.detail;
    EXPECT_EQ(precision_word(record), "single");
    std::ostringstream json;
    write_run_json(record, json);
    EXPECT_EQ(test::parse_json(json.str())["precision_fallback"], record.report.precision_fallback);
  }

  // Coarse levels leave the range first; those above them stay in half until they do.
  TEST_F(Solve, RaisesLevelAfterLevel)
  {
    const RunRecord record = run({"problem.refinements=4", "multigrid.smoother=jacobi",
        "multigrid.damping=30", "multigrid.degree=1", "multigrid.precision=half",
        "solver.max_iterations=3", "output.verbosity=quiet"});
    EXPECT_NE(error_.str().find("starts again with "), std::string::npos) << error_.str();
    EXPECT_NE(error_.str().find("starts again in single precision"), std::string::npos);
    EXPECT_NE(record.report.precision_fallback.find("; then "), std::string::npos);
    EXPECT_TRUE(std::isfinite(record.report.true_relative_residual));
  }

  TEST_F(Solve, LevelsInSingle)
  {
    const RunRecord half = run({"multigrid.precision=half"});
    for (const std::string solver : {"fgmres", "cg"})
    {
      const RunRecord record = run({"multigrid.precision=half", "multigrid.single_levels=2",
          "solver.full_multigrid=true", "solver.solver=" + solver});
      EXPECT_TRUE(record.report.converged()) << record.report.detail;
      EXPECT_LE(record.report.iterations, half.report.iterations);
      EXPECT_NEAR(*record.l2_error / *half.l2_error, 1., 1e-3);
      EXPECT_EQ(precision_word(record), "half");
      std::ostringstream json;
      write_run_json(record, json);
      EXPECT_EQ(test::parse_json(json.str())["single_levels"], 2);
    }
  }

  TEST_F(Solve, AnInterruptedRunLeavesNoRecordOfTheFormerOne)
  {
    run();
    EXPECT_TRUE(std::filesystem::exists(directory_ / "run.json"));
    // A refused run has not touched anything, a failing one has.
    EXPECT_THROW(run({"problem.refinements=14"}), ParameterError);
    EXPECT_TRUE(std::filesystem::exists(directory_ / "run.json"));
    EXPECT_THROW(run({"problem.right_hand_side=x > 1.9 ? sqrt(-1) : 1"}), ParameterError);
    EXPECT_TRUE(std::filesystem::exists(directory_ / "run.json"));
    EXPECT_THROW(
        run({"problem.right_hand_side=1e200", "problem.coefficient=1e-200"}), ParameterError);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run.json"));
  }

  TEST_F(Solve, OneLevel)
  {
    expect_converged({"problem.coarse_cells=8,4,4", "problem.refinements=0"}, 4);
  }

  TEST_F(Solve, IterationLimitIsNoSuccess)
  {
    const RunRecord record = run({"solver.max_iterations=2"});
    EXPECT_EQ(record.report.reason, StopReason::iteration_limit);
    EXPECT_GT(record.report.true_relative_residual, record.tolerance);
    EXPECT_NE(error_.str().find(
                  "tensormg: error: the solve did not converge (iteration_limit: tolerance "),
        std::string::npos);
    const auto json = test::parse_json(content(directory_ / "run.json"));
    EXPECT_EQ(json["converged"], false);
    EXPECT_EQ(json["exit_code"], 3);
    Console silent = Console::silent(MPI_COMM_SELF);
    EXPECT_EQ(solve_program(small({"solver.max_iterations=2"}), MPI_COMM_SELF, silent), 3);
    EXPECT_EQ(solve_program(small(), MPI_COMM_SELF, silent), 0);
  }

  TEST_F(Solve, ToleranceBelowRoundingStagnates)
  {
    for (const std::string solver : {"fgmres", "cg"})
    {
      const RunRecord record = run({"solver.tolerance=1e-17", "solver.solver=" + solver});
      EXPECT_EQ(record.report.reason, StopReason::stagnated) << solver;
      EXPECT_LT(record.report.true_relative_residual, 1e-12) << solver;
    }
    // Nor is a direct solve judged by another tolerance than that of the user.
    const RunRecord record = run({"solver.tolerance=1e-17", "solver.solver=direct"});
    EXPECT_EQ(record.report.reason, StopReason::stagnated);
    EXPECT_EQ(record.tolerance, 1e-17);
    EXPECT_LT(record.report.true_relative_residual, 1e-13);
    EXPECT_NE(record.report.detail.find("rounding limits the direct solve to "), std::string::npos);
    expect_converged({"solver.tolerance=1e-13", "solver.solver=direct"}, 3);
  }

  TEST_F(Solve, Refusals)
  {
    expect_message([&] { run({"problem.refinements=14"}); },
        {"problem.refinements = 14", "degrees of freedom need",
            "the largest number of refinements"});
    test::write(directory_ / "file", "");
    expect_message([&] { run({"output.directory=" + (directory_ / "file/x").string()}); },
        {"output.directory", "cannot be created"});
    expect_message(
        [&] {
          run({"boundary.left=neumann", "boundary.right=neumann", "boundary.bottom=neumann",
              "boundary.top=neumann", "problem.right_hand_side=1"});
        },
        {"the problem has no solution"});
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run.json"));
  }

  TEST_F(Solve, VerbosityAndFiles)
  {
    run({"output.verbosity=quiet"});
    EXPECT_EQ(out_.str().find("converged: "), 0U) << out_.str();
    EXPECT_EQ(out_.str().find('\n'), out_.str().size() - 1) << out_.str();
    run({"output.verbosity=verbose"});
    EXPECT_NE(out_.str().find("lambda_max"), std::string::npos);
    for (const char *file : {"run.json", "residuals.csv", "parameters.prm"})
      EXPECT_GT(content(directory_ / file).size(), 10U) << file;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "solution.vtu"));
  }

  TEST_F(Solve, FieldOutput)
  {
    RunRecord record = run({"output.write_vtu=true", "output.name=u"});
    EXPECT_TRUE(std::filesystem::exists(directory_ / "u.vtu"));
    EXPECT_EQ(record.files.size(), 4U);
    record = run({"output.write_vtu=true", "output.name=v", "output.vtu_max_cells=127"});
    EXPECT_FALSE(std::filesystem::exists(directory_ / "v.vtu"));
    EXPECT_TRUE(record.report.converged());
    EXPECT_NE(error_.str().find("tensormg: warning: "), std::string::npos);
    EXPECT_NE(error_.str().find("output.vtu_max_cells = 127"), std::string::npos);
    run({"output.write_vtu=true", "output.name=w", "output.vtu_max_cells=127",
        "output.vtu_coarsening=1"});
    EXPECT_TRUE(std::filesystem::exists(directory_ / "w.vtu"));
    EXPECT_LT(content(directory_ / "w.vtu").size(), content(directory_ / "u.vtu").size() / 2);
    run({"output.write_vtu=true", "output.name=part", "output.vtu_max_cells=127",
        "output.vtu_upper=0.25"});
    EXPECT_LT(content(directory_ / "part.vtu").size(), content(directory_ / "u.vtu").size() / 2);
  }

  TEST_F(Solve, RecordIsComplete)
  {
    const RunRecord record = run();
    EXPECT_GT(record.setup_seconds, 0.);
    EXPECT_GT(record.rhs_seconds, 0.);
    EXPECT_GT(record.report.seconds, 0.);
    EXPECT_GE(
        record.total_seconds, record.setup_seconds + record.rhs_seconds + record.report.seconds);
    EXPECT_GT(record.peak_memory_bytes, record.memory.bytes());
    EXPECT_GT(record.lambda_max.value_or(0.), 1.5);
    EXPECT_EQ(record.report.residuals.size(), record.report.iterations + 1U);
    ASSERT_EQ(record.levels.size(), 3U);
    for (const LevelRecord &level : record.levels)
      EXPECT_EQ(level.times.visits, record.report.iterations);
  }
} // namespace
} // namespace tensormg
