// The convergence study: orders are those of the theory, and wrong ones are noticed.
#include <cmath>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/common/program.h"
#include "apps/converge/converge.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using test::content;
  using test::TemporaryDirectory;

  /// A study of one degree with given errors, refinements 1, 2, ...
  Study study_of(const std::vector<double> &l2_errors, const std::vector<double> &h1_errors = {})
  {
    Study study;
    study.parameters.converge.order_tolerance = 0.2;
    study.degrees.push_back({2, {}});
    for (std::size_t i = 0; i < l2_errors.size(); ++i)
    {
      RunRecord run;
      run.parameters.problem.refinements = static_cast<int>(i) + 1;
      run.l2_error = l2_errors[i];
      if (!h1_errors.empty())
        run.h1_error = h1_errors[i];
      study.degrees.back().runs.push_back(run);
    }
    return study;
  }

  TEST(Orders, Observed)
  {
    EXPECT_DOUBLE_EQ(observed_order(8., 1., 1), 3.);
    EXPECT_DOUBLE_EQ(observed_order(16., 1., 2), 2.);
  }

  TEST(Orders, JudgedOnTheFinestPair)
  {
    EXPECT_FALSE(find_missed_order(study_of({1e-1, 1e-1, 1e-1 / 8.})));
    EXPECT_FALSE(find_missed_order(study_of({1e-1, 1e-1 / std::exp2(2.81)})));
    const auto missed = find_missed_order(study_of({1e-1, 1e-1 / 8., 1e-1 / 8. / std::exp2(2.79)}));
    ASSERT_TRUE(missed.has_value());
    EXPECT_EQ(missed->degree, 2);
    EXPECT_EQ(missed->norm, "L2");
    EXPECT_EQ(missed->expected, 3.);
    EXPECT_NEAR(missed->measured, 2.79, 1e-12);
  }

  /// On grids that are too coarse for the solution: what helps is said.
  TEST(Orders, ThatStillRise)
  {
    const auto text_of = [](const std::vector<double> &orders) {
      std::vector<double> errors{0.1};
      for (const double order : orders)
        errors.push_back(errors.back() / std::exp2(order));
      ConvergeOptions options;
      options.order_tolerance = 0.2;
      options.refinements = {1, 2, 3, 4};
      return missed_order_text(find_missed_order(study_of(errors)).value(), options);
    };
    EXPECT_EQ(text_of({1.5, 2.25, 2.67}),
        "degree 2: the L2 error falls with order 2.67 on the finest grids; expected 3.00 with a "
        "tolerance of 0.200. The orders still rise (1.50, 2.25, 2.67), as they do on grids that are "
        "too coarse for the solution (pre-asymptotic): add finer ones (converge.refinements = ..., 5). "
        "converge.check_orders = false does without the check");
    for (const std::vector<double> &orders :
        {std::vector<double>{2.5, 1.5}, {1.5, 1.5, 1.6}, {2., 2.5, 2.4}})
      EXPECT_NE(text_of(orders).find("The orders do not rise (" +
                    std::string(orders[0] == 2.5 ? "2.50"
                            : orders[0] == 2.    ? "2.00"
                                                 : "1.50")),
          std::string::npos)
          << text_of(orders);
    EXPECT_NE(text_of({2.}).find("One pair of grids does not tell why: grids may be too coarse"),
        std::string::npos);
    EXPECT_NE(text_of({2.}).find("problem.exact_solution"), std::string::npos);
  }

  TEST(Orders, OfTheGradient)
  {
    EXPECT_FALSE(find_missed_order(study_of({1., 1. / 8.}, {1., 1. / 4.})));
    const auto missed = find_missed_order(study_of({1., 1. / 8.}, {1., 1. / 2.}));
    ASSERT_TRUE(missed.has_value());
    EXPECT_EQ(missed->norm, "gradient");
    EXPECT_EQ(missed->expected, 2.);
  }

  TEST(Orders, RoundingAndToleranceAreNotJudged)
  {
    // The last error is rounding: the pair before it counts.
    EXPECT_FALSE(find_missed_order(study_of({8e-10, 1e-10, 5e-12})));
    EXPECT_TRUE(find_missed_order(study_of({2e-10, 1e-10, 5e-12})));
    EXPECT_TRUE(unjudged_degrees(study_of({8e-10, 1e-10, 5e-12})).empty());
    EXPECT_EQ(unjudged_degrees(study_of({1e-10, 5e-12})), std::vector<int>{2});

    Study study = study_of({8e-4, 1e-4, 0.9e-4});
    EXPECT_TRUE(find_missed_order(study));
    study.degrees[0].runs[2].algebraic_l2_error = 1e-5;
    EXPECT_FALSE(find_missed_order(study));
    EXPECT_NE(study_text(study).find("tolerance"), std::string::npos);
    EXPECT_NE(study_text(study).find("lower solver.tolerance"), std::string::npos);
  }

  class Converge : public testing::Test
  {
  protected:
    Parameters small(const std::vector<std::string> &overrides = {}) const
    {
      std::vector<std::string> all{"problem.dimension=2",
          "problem.right_hand_side=2*pi^2*sin(pi*x)*sin(pi*y)",
          "problem.exact_solution=sin(pi*x)*sin(pi*y)",
          "problem.exact_gradient=pi*cos(pi*x)*sin(pi*y);pi*sin(pi*x)*cos(pi*y)",
          "converge.degrees=1,2,3,5", "converge.refinements=3,4", "converge.order_tolerance=0.2",
          "solver.tolerance=1e-12", "output.directory=" + directory_.path().string()};
      all.insert(all.end(), overrides.begin(), overrides.end());
      return default_parameters(all);
    }

    int run(const std::vector<std::string> &overrides = {})
    {
      const Parameters parameters = small(overrides);
      out_.str("");
      error_.str("");
      Console console(MPI_COMM_SELF, parameters.output.verbosity, out_, error_);
      return converge_program(parameters, MPI_COMM_SELF, console);
    }

    const TemporaryDirectory directory_;
    std::ostringstream out_, error_;
  };

  TEST_F(Converge, OrdersAndFiles)
  {
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(error_.str(), "");
    EXPECT_NE(out_.str().find("L2 rate"), std::string::npos);
    EXPECT_NE(out_.str().find("gradient rate"), std::string::npos);

    const std::string csv = content(directory_ / "converge.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 2);
    const auto json = test::parse_json(content(directory_ / "converge.json"));
    EXPECT_EQ(json["degrees"].size(), 4U);
    EXPECT_TRUE(json["missed_order"].is_null());
    EXPECT_NEAR(json["solution_norm"].get<double>(), 0.5, 1e-10);
    for (const auto &degree : json["degrees"])
      EXPECT_NEAR(
          degree["runs"][1]["l2_order"].get<double>(), degree["degree"].get<int>() + 1, 0.2);
    EXPECT_TRUE(std::filesystem::exists(directory_ / "runs/degree_3_refinements_4/run.json"));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "runs/degree_3_refinements_4/solution.vtu"));
  }

  TEST_F(Converge, MissedOrder)
  {
    // An "exact" solution that is not one: the error stays.
    EXPECT_EQ(run({"problem.exact_solution=1.001*sin(pi*x)*sin(pi*y)"}), exit_order_missed);
    EXPECT_NE(error_.str().find("tensormg: error: degree 1: the L2 error falls with order"),
        std::string::npos)
        << error_.str();
    EXPECT_NE(error_.str().find("expected 2.00"), std::string::npos);
    for (const char *way : {"pre-asymptotic", "converge.refinements", "converge.check_orders"})
      EXPECT_NE(error_.str().find(way), std::string::npos) << error_.str();
    const auto json = test::parse_json(content(directory_ / "converge.json"));
    EXPECT_EQ(json["missed_order"]["orders"].size(), 1U);
    EXPECT_FALSE(json["missed_order"]["rising"]);
    EXPECT_EQ(
        run({"problem.exact_solution=1.001*sin(pi*x)*sin(pi*y)", "converge.check_orders=false"}),
        0);
  }

  TEST_F(Converge, FailedSolve)
  {
    EXPECT_EQ(run({"solver.max_iterations=2"}), 3);
    EXPECT_NE(
        error_.str().find("degree 1, refinements 3: the solve did not converge"), std::string::npos)
        << error_.str();
    EXPECT_TRUE(std::filesystem::exists(directory_ / "converge.csv"));
  }

  // Without an exact solution the orders are those of differences to solutions on halved cells, which are of the size of the errors.
  TEST_F(Converge, CurvedCellsAgainstFinerSolutions)
  {
    const std::vector<std::string> ring{"mesh.type=generate", "mesh.generator=hyper_shell",
        "mesh.generator_arguments=0,0 : 0.5 : 1 : 5 : true", "problem.right_hand_side=0",
        "boundary.conditions=0: dirichlet log(0.5); 1: robin 2, 1", "converge.degrees=1,3",
        "converge.refinements=1,2,4", "output.directory=" + directory_.path().string()};
    const auto errors_of = [&](std::vector<std::string> all, const std::string &exact,
                               const std::string &gradient) {
      all.insert(
          all.end(), {"problem.exact_solution=" + exact, "problem.exact_gradient=" + gradient});
      EXPECT_EQ(run(all), 0) << error_.str();
      return test::parse_json(content(directory_ / "converge.json"));
    };
    const auto exact = errors_of(ring, "log(x^2+y^2)/2", "x/(x^2+y^2); y/(x^2+y^2)");
    EXPECT_EQ(exact["reference"], "exact");
    const auto finer = errors_of(ring, "", "");
    EXPECT_EQ(finer["reference"], "finer");
    EXPECT_NE(out_.str().find("differences to the solution on cells of half the size"),
        std::string::npos);
    EXPECT_NEAR(finer["solution_norm"].get<double>(), exact["solution_norm"].get<double>(), 1e-4);
    EXPECT_NEAR(finer["gradient_norm"].get<double>(), exact["gradient_norm"].get<double>(), 1e-2);
    for (std::size_t d = 0; d < 2; ++d)
    {
      const auto &runs = finer["degrees"][d]["runs"];
      const double degree = finer["degrees"][d]["degree"].get<double>();
      ASSERT_EQ(runs.size(), 3u);
      EXPECT_NEAR(runs[2]["l2_order"].get<double>(), degree + 1., 0.2);
      EXPECT_NEAR(runs[2]["h1_order"].get<double>(), degree, 0.2);
      for (std::size_t r = 0; r < 3; ++r)
      {
        const double share = runs[r]["l2_error"].get<double>() /
            exact["degrees"][d]["runs"][r]["l2_error"].get<double>();
        EXPECT_GT(share, 0.4); // that of the geometry is the smaller one on halved cells
        EXPECT_LT(share, 1.);
      }
    }
    EXPECT_EQ(content(directory_ / "converge.csv").find("exact"), std::string::npos);
    // Nothing holds the constant: means do not count.
    std::vector<std::string> free = ring;
    free[3] = "problem.right_hand_side=x";
    free[4] = "boundary.conditions=*: neumann 0";
    free[5] = "converge.degrees=2";
    free[6] = "converge.refinements=2,3";
    free.push_back("solver.tolerance=1e-9");
    EXPECT_NEAR(
        errors_of(free, "", "")["degrees"][0]["runs"][1]["l2_order"].get<double>(), 3., 0.2);
    // What the tolerance leaves of gradients is no rate.
    std::vector<std::string> loose = ring;
    loose[5] = "converge.degrees=3";
    loose.insert(loose.end(), {"solver.tolerance=1e-2", "converge.check_orders=false"});
    const auto rough = errors_of(loose, "", "");
    EXPECT_EQ(rough["degrees"][0]["runs"][2]["limited_by"], "tolerance");
    EXPECT_TRUE(rough["degrees"][0]["runs"][2]["h1_order"].is_null());
    // Levels below the finest one are of the same cells.
    std::vector<std::string> vertices = ring;
    vertices[5] = "converge.degrees=1";
    vertices[6] = "converge.refinements=2,3";
    vertices.push_back("multigrid.coarsening=vertices");
    EXPECT_NEAR(
        errors_of(vertices, "", "")["degrees"][0]["runs"][1]["l2_order"].get<double>(), 2., 0.2);
  }

  TEST_F(Converge, NeedsAnExactSolution)
  {
    expect_message(
        [&] {
          run({"problem.exact_solution=", "problem.exact_gradient="});
        },
        {"problem.exact_solution", "mesh.type = mapped and mesh.map = x; y"});
    expect_message(
        [&] {
          run({"problem.exact_solution=sqrt(x-0.1)", "problem.exact_gradient="});
        },
        {"problem.exact_solution is infinite or not a number", "needs errors"});
  }
} // namespace
} // namespace tensormg
