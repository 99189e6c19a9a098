// Runs on curved cells: what they tell, write, and refuse.
#include "apps/solve/blocks.h"

#include <cmath>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/solve/solve.h"
#include "operators/block_solver/block_memory.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using Words = std::vector<std::string>;

  class Blocks : public testing::Test
  {
  protected:
    Parameters parameters(const Words &overrides) const
    {
      Words all{"problem.dimension=2", "problem.refinements=2", "mesh.type=generate",
          "mesh.generator=hyper_shell", "mesh.generator_arguments=0,0 : 0.5 : 1 : 5 : true",
          "problem.right_hand_side=0", "problem.exact_solution=log(x^2+y^2)/2",
          "problem.exact_gradient=x/(x^2+y^2); y/(x^2+y^2)",
          "boundary.conditions=0: dirichlet log(0.5); 1: robin 2, 1",
          "output.directory=" + (directory_ / "out").string()};
      all.insert(all.end(), overrides.begin(), overrides.end());
      return default_parameters(all);
    }
    RunRecord run(const Words &overrides = {})
    {
      out_.str("");
      Console console(MPI_COMM_SELF, Verbosity::normal, out_, out_);
      return run_solve(parameters(overrides), MPI_COMM_SELF, console);
    }
    void expect_refused(const Words &overrides, const Words &parts)
    {
      SCOPED_TRACE(parts.front());
      Console console = Console::silent(MPI_COMM_SELF);
      expect_message([&] { dry_run_solve(parameters(overrides), MPI_COMM_SELF, console); }, parts);
    }

    const test::TemporaryDirectory directory_;
    std::ostringstream out_;
  };

  TEST_F(Blocks, WhatARunTells)
  {
    const RunRecord record = run();
    EXPECT_TRUE(record.report.converged());
    EXPECT_LE(record.report.iterations, 8);
    EXPECT_LT(*record.l2_error, 1e-5);
    EXPECT_LT(*record.h1_error, 1e-3);
    EXPECT_GT(*record.algebraic_l2_error, 0.);
    EXPECT_LT(*record.algebraic_l2_error, 1e-7);
    ASSERT_TRUE(record.mesh);
    ASSERT_EQ(record.mesh->boundaries.size(), 2u);
    EXPECT_NEAR(record.mesh->boundaries[0].flux, -2. * 3.14159265, 1e-3);
    EXPECT_NEAR(record.mesh->boundaries[0].flux + record.mesh->boundaries[1].flux, 0., 1e-6);
    EXPECT_EQ(record.mesh->boundaries[1].condition, "robin 2, 1");
    for (const char *part : {"hyper_shell(0,0 : 0.5 : 1 : 5 : true)",
             "5 blocks of 4 x 4 cells of degree 3", "flux K du/dn", "restart 30"})
      EXPECT_NE(out_.str().find(part), std::string::npos) << part << out_.str();
    const nlohmann::json json = test::parse_json(test::content(directory_ / "out" / "run.json"));
    EXPECT_EQ(json["mesh"]["blocks"], 5);
    EXPECT_NEAR(json["mesh"]["boundaries"][1]["area"].get<double>(), 2. * 3.14159265, 1e-3);
    EXPECT_NEAR(json["mesh"]["materials"][0]["volume"].get<double>(), 0.75 * 3.14159265, 1e-4);
    EXPECT_NEAR(json["mesh"]["smallest_angle"].get<double>(), 90., 1.);
    // At the outer circle a cell is pi/10 long and 1/8 wide.
    EXPECT_NEAR(json["mesh"]["largest_aspect_ratio"].get<double>(), 0.8 * 3.14159265, 1e-2);
    EXPECT_LT(json["mesh"]["mean_aspect_ratio"], 0.8 * 3.14159265);
    EXPECT_TRUE(std::filesystem::exists(directory_ / "out" / "solution.vtu"));
  }

  // What is left of the iteration is nearly all of the errors here.
  TEST_F(Blocks, WhatTheToleranceLeaves)
  {
    const RunRecord record = run({"solver.tolerance=0.1"});
    EXPECT_NEAR(*record.algebraic_l2_error, *record.l2_error, 0.3 * *record.l2_error);
    EXPECT_NEAR(*record.algebraic_h1_error, *record.h1_error, 0.3 * *record.h1_error);
  }

  // The same in double, single and half, by cg, and from the solution.
  TEST_F(Blocks, ChoicesOfASolve)
  {
    const double error = *run().l2_error;
    for (const Words &choice : {Words{"multigrid.precision=double"},
             Words{"multigrid.precision=half"}, Words{"solver.solver=cg"},
             Words{"multigrid.smoother=jacobi"}, Words{"multigrid.cycle=w"}})
      EXPECT_NEAR(*run(choice).l2_error, error, 1e-3 * error) << choice.front();
    EXPECT_LE(run({"problem.initial_guess=log(x^2+y^2)/2"}).report.iterations, 5);
    // Numbers far from one.
    EXPECT_TRUE(run({"problem.coefficient=1e-200", "boundary.conditions=*: dirichlet x*1e150"})
                    .report.converged());
  }

  TEST_F(Blocks, ASolveThatDoesNotConverge)
  {
    const RunRecord record = run({"solver.max_iterations=2"});
    EXPECT_EQ(record.report.reason, StopReason::iteration_limit);
    EXPECT_EQ(exit_code(record), 3);
    EXPECT_NE(out_.str().find("must not be used"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(directory_ / "out" / "solution_not_converged.vtu"));
  }

  // Blocks that are not refined have levels of lower degrees, and the run tells of them.
  TEST_F(Blocks, ManyBlocks)
  {
    const Words words{"problem.dimension=2", "problem.refinements=0", "problem.degree=3",
        "problem.coarse_cells=40", "mesh.type=mapped", "mesh.map=x + 0.1*sin(3*y); y + 0.05*x^2",
        "problem.right_hand_side=1", "output.directory=" + (directory_ / "out").string()};
    for (const char *solver : {"solver.solver=cg", "solver.solver=fgmres"})
    {
      out_.str("");
      Console console(MPI_COMM_SELF, Verbosity::normal, out_, out_);
      Words all = words;
      all.push_back(solver);
      const RunRecord record = run_solve(default_parameters(all), MPI_COMM_SELF, console);
      EXPECT_TRUE(record.report.converged());
      EXPECT_LE(record.report.iterations, 9);
      ASSERT_EQ(record.levels.size(), 2u);
      EXPECT_EQ(record.levels[0].dofs, 1600 * 4);
      EXPECT_EQ(record.levels[1].dofs, 1600 * 16);
      EXPECT_GT(record.levels[0].times.visits, 0);
      EXPECT_EQ(record.mesh->linear_levels, 0);
    }
    const std::string text = "degrees 3, 1 and 1521 vertices, ";
    for (const std::string &part : {"coarse       " + text, std::string("2 levels")})
      EXPECT_NE(out_.str().find(part), std::string::npos) << part << out_.str();
    const nlohmann::json json = test::parse_json(test::content(directory_ / "out" / "run.json"));
    EXPECT_EQ(json["mesh"]["coarse_solver"].get<std::string>().find(text), 0u);
    EXPECT_EQ(json["levels"].size(), 2u);
  }

  // K jumps from cell to cell: vertices serve it, and the run tells why.
  TEST_F(Blocks, CoefficientsThatJumpInBlocks)
  {
    const auto run_with = [&](const std::string &coarsening) {
      out_.str("");
      Console console(MPI_COMM_SELF, Verbosity::normal, out_, out_);
      return run_solve(
          default_parameters(
              Words{"problem.dimension=2", "problem.degree=2", "problem.refinements=3",
                  "problem.coarse_cells=2", "mesh.type=mapped", "mesh.map=x + 0.1*y*(1-y); y",
                  "problem.coefficient=if(sin(16*pi*(x - 0.1*y*(1-y)))*sin(16*pi*y) > 0, 1e4, 1)",
                  "problem.right_hand_side=1", "multigrid.coarsening=" + coarsening,
                  "output.directory=" + (directory_ / "out").string()}),
          MPI_COMM_SELF, console);
    };
    const RunRecord record = run_with("auto");
    EXPECT_TRUE(record.report.converged());
    EXPECT_LE(record.report.iterations, 12);
    ASSERT_EQ(record.levels.size(), 2u);
    EXPECT_EQ(record.levels[0].dofs, 256 * 4);
    EXPECT_GT(record.levels[0].times.visits, 0);
    const std::string text =
        "vertices: the coefficient of neighbours in a block differs by up to 1e+04";
    EXPECT_NE(out_.str().find(text), std::string::npos) << out_.str();
    EXPECT_NE(
        out_.str().find("degrees 2, 1 and 225 vertices, dense direct solver"), std::string::npos);
    const nlohmann::json json = test::parse_json(test::content(directory_ / "out" / "run.json"));
    EXPECT_EQ(json["mesh"]["coarsening"], text);
    const RunRecord of_cells = run_with("cells");
    EXPECT_EQ(of_cells.levels.size(), 4u);
    EXPECT_GT(of_cells.report.iterations, record.report.iterations);
    EXPECT_EQ(of_cells.mesh->coarsening, "cells: multigrid.coarsening");
  }

  // All vertices are on every rank.
  // Cells that a jump of K cuts: with K at points the smoother fails, with means of cells vertices take any jump.
  TEST_F(Blocks, CoefficientsThatJumpInCells)
  {
    const Words cut{"problem.degree=2", "problem.refinements=3",
        "problem.exact_solution=", "problem.exact_gradient=", "problem.right_hand_side=1",
        "boundary.conditions=*: dirichlet 0", "solver.max_iterations=40",
        "problem.coefficient=if(sin(20*x)*sin(20*y) > 0, 1e4, 1)"};
    EXPECT_FALSE(run(cut).report.converged());
    Words means = cut;
    means.emplace_back("problem.coefficient_in_cell=mean");
    const RunRecord record = run(means);
    EXPECT_TRUE(record.report.converged());
    EXPECT_LE(record.report.iterations, 22);
    EXPECT_EQ(record.mesh->coarsening.rfind("vertices", 0), 0u) << record.mesh->coarsening;
  }

  // Where K does not vary in cells its means are K.
  TEST_F(Blocks, MeansOfOneCoefficient)
  {
    const Words by_ring{"problem.coefficient=if(x > 0, 1 + 0*y, 1)", "solver.tolerance=1e-12"};
    Words means = by_ring;
    means.emplace_back("problem.coefficient_in_cell=mean");
    EXPECT_NEAR(*run(by_ring).l2_error, *run(means).l2_error, 1e-12);
  }

  TEST_F(Blocks, MemoryOfVertices)
  {
    const auto plan = [](Coarsening coarsening, int n_ranks) {
      SolverOptions options;
      options.multigrid.coarsening = coarsening;
      return make_memory_plan({.n_blocks = 64, .refinements = 4, .n_ranks = n_ranks}, options);
    };
    const double vertices = 64. * 4096.;
    for (const int n_ranks : {1, 16})
      EXPECT_GT(plan(Coarsening::vertices, n_ranks).items.back().bytes, 1000. * vertices);
    EXPECT_LT(plan(Coarsening::cells, 16).items.back().bytes, 1e8);
    EXPECT_GT(plan(Coarsening::vertices, 1).bytes(), plan(Coarsening::cells, 1).bytes());
  }

  TEST_F(Blocks, ADryRunWritesNothingAndShowsTheMesh)
  {
    Console console(MPI_COMM_SELF, Verbosity::normal, out_, out_);
    dry_run_solve(parameters({}), MPI_COMM_SELF, console);
    for (const char *part :
        {"volume 2.36", "angles 90.0 to 90.0 degrees", "aspect ratio up to 2.51"})
      EXPECT_NE(out_.str().find(part), std::string::npos) << part << out_.str();
    EXPECT_NE(out_.str().find("nothing was solved or written"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out"));
  }

  TEST_F(Blocks, Probes)
  {
    // Inside of a cell, where cells meet, and on the outer boundary.
    const RunRecord record = run({"output.probes=0.6 0.3; 0.75 0; 0 1", "solver.tolerance=1e-10"});
    ASSERT_EQ(record.probes.size(), 3u);
    for (const PointValue &probe : record.probes)
    {
      const auto [x, y, z] = probe.point;
      const double r2 = x * x + y * y;
      EXPECT_NEAR(probe.value, 0.5 * std::log(r2), 2e-5);
      EXPECT_NEAR(probe.gradient[0], x / r2, 2e-3);
      EXPECT_NEAR(probe.gradient[1], y / r2, 2e-3);
    }
    EXPECT_NE(out_.str().find("d/dx"), std::string::npos);
    expect_refused(
        {"output.probe_lines=0 0 : 0.1 0 : 9"}, {"output.probe_lines", "no point of line 1"});
    expect_refused({"output.probes=0.6 0.3; 0.1 0.2"}, {"output.probes", "(0.1, 0.2)", "outside"});
  }

  // From the middle of the ring, where no cells are, through it; the outer end is a node of the mesh.
  TEST_F(Blocks, ProbeLines)
  {
    const RunRecord record = run({"output.probe_lines=0 0 : 1 0 : 9", "solver.tolerance=1e-10"});
    ASSERT_EQ(record.probe_lines.size(), 1u);
    const std::vector<PointValue> &values = record.probe_lines.front();
    for (std::size_t i = 0; i < 9; ++i)
      if (i < 4)
        EXPECT_TRUE(std::isnan(values[i].value));
      else
        EXPECT_NEAR(values[i].value, std::log(double(i) / 8.), 2e-5);
    EXPECT_NE(out_.str().find("4 of its 9 points lie outside of the mesh"), std::string::npos)
        << out_.str();
    const std::string text = test::content(directory_ / "out" / "solution_line_1.csv");
    EXPECT_NE(text.find("x,y,z,distance,u,gradient_x"), std::string::npos);
    EXPECT_NE(text.find("\n0.375,0,0,0.375,nan,nan,nan,nan\n0.5,0,0,0.5,-0.69"), std::string::npos)
        << text;
  }

  TEST_F(Blocks, ProbeLinesOfEarlierRuns)
  {
    const std::string line = "0 0 : 1 0 : 9", base = (directory_ / "out" / "solution").string();
    run({"output.probe_lines=" + line + "; " + line + "; " + line});
    test::write(directory_ / "out" / "solution_line_4.csv", "id,x,y,z,distance,mine\n");
    run({"output.probe_lines=" + line});
    EXPECT_TRUE(std::filesystem::exists(base + "_line_1.csv"));
    EXPECT_FALSE(std::filesystem::exists(base + "_line_2.csv"));
    EXPECT_FALSE(std::filesystem::exists(base + "_line_3.csv"));
    EXPECT_TRUE(std::filesystem::exists(base + "_line_4.csv"));
    EXPECT_EQ(out_.str().find("earlier run"), std::string::npos) << out_.str();
    run();
    EXPECT_TRUE(std::filesystem::exists(base + "_line_1.csv"));
    EXPECT_NE(out_.str().find("solution_line_1.csv is of an earlier run"), std::string::npos)
        << out_.str();
    run({"output.probe_lines=" + line, "solver.max_iterations=1"});
    EXPECT_FALSE(std::filesystem::exists(base + "_line_1.csv"));
    EXPECT_TRUE(std::filesystem::exists(base + "_not_converged_line_1.csv"));
  }

  TEST_F(Blocks, Refusals)
  {
    expect_refused({"mesh.generator=hyper_shel"}, {"mesh.generator", "hyper_shel"});
    expect_refused({"mesh.generator_arguments=1"},
        {"mesh.generator", "does not match", "allowed: center : inner_radius : outer_radius"});
    expect_refused({"mesh.generator_arguments=0,0 : 1 : 0.5 : 5 : true"},
        {"mesh.generator_arguments", "inner_radius = 1, outer_radius = 0.5",
            "with 0 < inner_radius < outer_radius"});
    expect_refused({"boundary.conditions=7: neumann 0"}, {"no boundary '7'", "allowed: 0, 1"});
    expect_refused({"boundary.conditions=0: neumann 0"}, {"'1' of the mesh has none"});
    expect_refused({"problem.right_hand_side=1/(x-x)"}, {"problem.right_hand_side", "at ("});
    expect_refused({"problem.coefficient=-x"},
        {"problem.coefficient = -x: K is not positive definite at (", "in a cell of block ",
            "allowed: numbers > 0"});
    expect_refused({"problem.coefficient=1; 1; 2"}, {"not positive definite at ("});
    expect_refused({"multigrid.replicated_dofs=1000"},
        {"multigrid.replicated_dofs = 1000", "allowed: the default"});
    expect_refused({"problem.coefficient=1 + foo"}, {"problem.coefficient = '1 + foo'", "foo"});
    expect_refused({"problem.reaction=-1"}, {"problem.reaction = -1: the reaction is -1"});
    expect_refused({"boundary.conditions=*: robin -2, 0"},
        {"boundary.conditions", "r of a robin boundary is -2"});
    expect_refused({"boundary.conditions=*: neumann 1"}, {"do not balance"});
    // Nothing holds the solution, though the conditions could.
    expect_refused(
        {"problem.reaction=0*x", "boundary.conditions=*: neumann 0"}, {"zero everywhere"});
    expect_refused({"boundary.conditions=*: robin 0*x, 0"}, {"zero everywhere"});
    expect_refused({"problem.constants=material=7"}, {"problem.constants", "material"});
    expect_refused({"multigrid.precision=half", "multigrid.single_levels=3"},
        {"multigrid.single_levels", "at most 2"});
    expect_refused({"problem.initial_guess=log(x-10)"}, {"problem.initial_guess", "at ("});
    expect_refused({"problem.refinements=20"}, {"available", "problem.refinements = "});
    expect_refused(
        {"problem.refinements=30", "problem.dimension=3",
            "mesh.generator_arguments=0,0,0 : 0.5 : 1 : 6 : true", "problem.exact_gradient="},
        {"problem.refinements"});
  }

  /// Two squares that do not touch.
  TEST_F(Blocks, PartsThatAreNotConnected)
  {
    test::write(directory_ / "two.ucd",
        "8 3 0 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n5 2 0 0\n6 3 0 0\n7 2 1 0\n8 3 1 0\n"
        "1 0 quad 1 2 4 3\n2 0 quad 5 6 8 7\n3 1 line 1 2\n");
    const Words two{"mesh.type=file", "mesh.generator=", "mesh.generator_arguments=",
        "mesh.file=" + (directory_ / "two.ucd").string(),
        "problem.exact_solution=", "problem.exact_gradient="};
    const auto with = [&](const std::string &conditions) {
      Words all = two;
      all.push_back("boundary.conditions=" + conditions);
      return all;
    };
    expect_refused(with("1: dirichlet 0; *: neumann 0"), {"not connected", "the cell at (2, 0)"});
    expect_refused(with("*: neumann 0"), {"not connected"});
    EXPECT_TRUE(run(with("*: dirichlet 1")).report.converged());
  }

  // Where the polynomials of cells explain that fluxes do not balance.
  TEST_F(Blocks, NeumannOnCirclesBalances)
  {
    EXPECT_TRUE(run({"mesh.generator=hyper_ball", "mesh.generator_arguments=0,0 : 1 : false",
                        "problem.degree=1", "problem.refinements=3", "problem.exact_solution=",
                        "problem.exact_gradient=", "problem.right_hand_side=-4",
                        "boundary.conditions=*: neumann 2"})
                    .report.converged());
  }

  // auto takes double, and says where that is not enough.
  TEST_F(Blocks, CoefficientsOfManyMagnitudes)
  {
    EXPECT_TRUE(run({"problem.coefficient=exp(20*x)", "problem.exact_solution=",
                        "problem.exact_gradient=", "boundary.conditions=*: dirichlet y"})
                    .report.converged());
    EXPECT_NE(
        out_.str().find("double precision: entries of the diagonal differ by"), std::string::npos)
        << out_.str();
    for (const char *relaxation : {"cells", "lines", "cells_and_lines"})
      expect_message(
          [&] {
            run({"problem.coefficient=exp(80*x)", "problem.exact_solution=",
                "problem.exact_gradient=", "boundary.conditions=*: dirichlet y",
                "multigrid.coarsening=cells", std::string("multigrid.relaxation=") + relaxation});
          },
          {"problem.coefficient = exp(80*x)", "more than double precision holds"});
  }

  // Within a ring K is 1e12, and what the tolerance leaves there is more than what flows.
  TEST_F(Blocks, FluxesThatDoNotBalance)
  {
    const RunRecord good = run();
    EXPECT_TRUE(good.mesh->is_balanced());
    EXPECT_LT(std::abs(good.mesh->defect), 1e-6);
    EXPECT_EQ(out_.str().find("do not balance"), std::string::npos);

    const RunRecord bad = run({"problem.coefficient=if(x^2+y^2 < 0.55, 1e12, 1)",
        "problem.coefficient_in_cell=mean", "problem.exact_solution=", "problem.exact_gradient="});
    double sum = 0.;
    for (const auto &boundary : bad.mesh->boundaries)
      sum += boundary.flux;
    EXPECT_DOUBLE_EQ(bad.mesh->defect, sum);
    EXPECT_FALSE(bad.mesh->is_balanced()) << sum;
    EXPECT_NE(out_.str().find("these fluxes do not balance"), std::string::npos) << out_.str();
    const nlohmann::json json = test::parse_json(test::content(directory_ / "out" / "run.json"));
    EXPECT_EQ(json["mesh"]["balance"]["is_balanced"], false);
    EXPECT_EQ(json["mesh"]["balance"]["defect"].get<double>(), sum);
  }

  TEST_F(Blocks, RobinCoefficientsOfMappedSides)
  {
    const Words mapped{"problem.dimension=2", "mesh.type=mapped", "mesh.map=x; y",
        "boundary.left=robin", "output.directory=" + (directory_ / "out").string()};
    Console console = Console::silent(MPI_COMM_SELF);
    for (const auto &[r, message] :
        {std::pair{"0-1", "is -1"}, std::pair{"log(y-0.5)", "not a number at ("}})
    {
      Words all = mapped;
      all.push_back(std::string("boundary.left_robin_coefficient=") + r);
      expect_message([&] { dry_run_solve(default_parameters(all), MPI_COMM_SELF, console); },
          {"boundary.left_robin_coefficient", message});
    }
  }

  TEST_F(Blocks, AMapThatFolds)
  {
    const Words folded{"problem.dimension=2", "mesh.type=mapped",
        "mesh.map=x; y + 3*x*y*(1-y)*(0.5-x)*9",
        "output.directory=" + (directory_ / "out").string()};
    Console console = Console::silent(MPI_COMM_SELF);
    expect_message([&] { dry_run_solve(default_parameters(folded), MPI_COMM_SELF, console); },
        {"mesh.map", "a cell of block ", "is folded at (", "allowed: det J > 0",
            "mesh.degree = 1"});
  }
} // namespace
} // namespace tensormg
