// The numbers about a solution in run.json and on the screen, and that fluxes balance the right-hand side.
// ranks: 1 2
#include <cmath>

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
  class Numbers : public testing::Test
  {
  protected:
    RunRecord run(const std::vector<std::string> &overrides)
    {
      std::vector<std::string> all{"output.directory=" + directory_.path().string(),
          "output.write_vtu=false", "problem.degree=2", "problem.refinements=2"};
      all.insert(all.end(), overrides.begin(), overrides.end());
      screen_.str("");
      Console console(MPI_COMM_WORLD, Verbosity::normal, screen_, screen_);
      RunRecord record = run_solve(default_parameters(all), MPI_COMM_WORLD, console);
      MPI_Barrier(MPI_COMM_WORLD);
      return record;
    }
    nlohmann::json json() const { return test::parse_json(test::content(directory_ / "run.json")); }

    const test::TemporaryDirectory directory_{MPI_COMM_WORLD};
    std::ostringstream screen_;
  };

  TEST_F(Numbers, FluxesBalanceTheRightHandSide)
  {
    const std::vector<std::string> mixed{"problem.coefficient=3", "problem.upper=1,2,1",
        "problem.coarse_cells=3,2,2", "problem.right_hand_side=1 + x^2*y", "boundary.left=neumann",
        "boundary.left_value=sin(y)", "boundary.right_value=exp(z)", "boundary.front=periodic",
        "boundary.back=periodic", "boundary.top_value=x"};
    const double source = 2. + 2. / 3.; // int 1 + x^2 y
    for (const double tolerance : {1e-4, 1e-11})
    {
      std::vector<std::string> all = mixed;
      all.push_back("solver.tolerance=" + std::to_string(tolerance));
      if (tolerance < 1e-6)
        all.back() = "solver.tolerance=1e-11";
      const RunRecord record = run(all);
      ASSERT_TRUE(record.report.converged());
      double sum = source, size = source;
      for (const std::optional<double> &flux : record.numbers->side_flux)
      {
        sum += flux.value_or(0.);
        size += std::abs(flux.value_or(0.));
      }
      EXPECT_LT(std::abs(sum), 100. * tolerance * size);
      EXPECT_FALSE(record.numbers->side_flux[2].has_value());
    }
    if (const nlohmann::json record = json(); true)
    {
      EXPECT_EQ(record["side_flux"].size(), 4U);
      EXPECT_NEAR(record["side_flux"]["left"].get<double>(), 1. - std::cos(2.), 1e-6);
      EXPECT_FALSE(record["side_flux"].contains("front"));
    }
  }

  TEST_F(Numbers, AreThoseOfTheSolution)
  {
    // u = x + 2y + 3z is in the space.
    std::vector<std::string> all{"problem.right_hand_side=0", "solver.tolerance=1e-12",
        "output.probes=0.5 0.5 0.5; 0, 1, 0.3", "output.field_name=T", "output.field_unit=K",
        "output.probe_lines=0 0 0 : 1 1 1 : 3; 0.5 0.5 0.5 : 2 0.5 0.5 : 4"};
    for (const char *side : side_names)
      all.push_back(std::string("boundary.") + side + "_value=x+2*y+3*z");
    run(all);
    const nlohmann::json record = json();
    EXPECT_NEAR(record["integral"].get<double>(), 3., 1e-9);
    EXPECT_NEAR(record["mean"].get<double>(), 3., 1e-9);
    EXPECT_GT(record["minimum"].get<double>(), 0.);
    EXPECT_LT(record["maximum"].get<double>(), 6.);
    EXPECT_NEAR(record["l2_norm"].get<double>(), std::sqrt(9. + 14. / 12.), 1e-9);
    ASSERT_EQ(record["probes"].size(), 2U);
    EXPECT_EQ(record["probes"][1]["point"], (std::vector<double>{0., 1., 0.3}));
    EXPECT_NEAR(record["probes"][1]["value"].get<double>(), 2.9, 1e-8);
    EXPECT_NEAR(record["probes"][0]["gradient"][2].get<double>(), 3., 1e-7);
    EXPECT_EQ(record["probe_lines"][1], (nlohmann::json{{"points", 4}, {"outside", 2}}));
    std::istringstream lines(test::content(directory_ / "solution_line_2.csv"));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "x,y,z,distance,T [K],gradient_x,gradient_y,gradient_z");
    for (const double x : {0.5, 1.})
    {
      std::array<double, 8> numbers{};
      char comma = 0;
      for (double &number : numbers)
        lines >> number >> std::noskipws >> comma >> std::skipws;
      const std::array<double, 8> expected{x, 0.5, 0.5, x - 0.5, x + 2.5, 1., 2., 3.};
      for (std::size_t i = 0; i < 8; ++i)
        EXPECT_NEAR(numbers[i], expected[i], 1e-7);
    }
    std::getline(lines, line);
    EXPECT_EQ(line, "1.5,0.5,0.5,1,nan,nan,nan,nan");
    if (!screen_.str().empty())
    {
      EXPECT_NE(screen_.str().find("T [K]"), std::string::npos) << screen_.str();
      EXPECT_NE(screen_.str().find("2.900000e+00"), std::string::npos) << screen_.str();
    }
  }

  TEST_F(Numbers, AreOfTheFinestGridOrUnknown)
  {
    run({"output.write_vtu=true", "output.vtu_coarsening=1"});
    const nlohmann::json record = json();
    for (const char *key :
        {"integral", "mean", "minimum", "maximum", "l2_norm", "side_flux", "probes"})
    {
      ASSERT_TRUE(record.contains(key));
      EXPECT_TRUE(record[key].is_null()) << key;
    }
    EXPECT_TRUE(run({"output.vtu_coarsening=1"}).numbers.has_value());
  }

  TEST_F(Numbers, TheSameEachTime)
  {
    const RunRecord first = run({}), second = run({});
    EXPECT_EQ(first.numbers->integral, second.numbers->integral);
    EXPECT_EQ(first.numbers->l2_norm, second.numbers->l2_norm);
    EXPECT_EQ(first.numbers->side_flux, second.numbers->side_flux);
  }
} // namespace
} // namespace tensormg
