// Expressions are looked at where a solve evaluates them, and what is wrong is said with the place in the file.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/solve/solve.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  const std::string f = "problem.right_hand_side=";

  void expect_refused(
      const std::vector<std::string> &overrides, const std::vector<std::string> &parts)
  {
    SCOPED_TRACE(overrides.front());
    expect_message([&] { default_parameters(overrides); }, parts);
  }

  TEST(ExpressionChecks, WhereNoQuadraturePointLiesNothingIsEvaluated)
  {
    const std::string charge = "1/sqrt((x-0.5)^2+(y-0.5)^2+(z-0.5)^2)";
    for (const std::string &overrides : {f + charge, "problem.exact_solution=" + charge, f + "1/x",
             f + "1/(x-0.5)", f + "log(x)", std::string("boundary.top_value=1/(x-0.5)")})
      EXPECT_NO_THROW(default_parameters({overrides})) << overrides;
  }

  TEST(ExpressionChecks, ValuesAtQuadraturePointsMustBeFinite)
  {
    const std::string allowed = "allowed: an expression in x, y, z and the constants pi, finite at";
    expect_refused({f + "x>0.9?1/0:1"},
        {"--set problem.right_hand_side = 'x>0.9?1/0:1' is infinite at (0.9", allowed});
    expect_refused({f + "sqrt(-1)"}, {"is not a number at (0.0", allowed});
    expect_refused({f + "1/0"}, {"is infinite at", allowed});
    expect_refused({"boundary.left_value=y<0.1?1/0:1"},
        {"--set boundary.left_value = 'y<0.1?1/0:1' is infinite at (0, 0.00", allowed});
    expect_refused(
        {"boundary.top_value=1/(z-1)"}, {"boundary.top_value", "is infinite at", ", 1)"});
    expect_refused({"problem.initial_guess=log(-x)"}, {"problem.initial_guess", "not a number"});
    // In an odd number of cells with an odd number of points, the centre is one.
    expect_refused({f + "1/(x-0.5)", "problem.coarse_cells=3", "problem.refinements=0"},
        {"is infinite at (0.5, "});
    // Two coordinates in 2D.
    const TemporaryFile file("a.prm",
        "subsection problem\n  set dimension = 2\n  set right_hand_side = x>0.5?1/0:1\nend\n");
    expect_message([&] { read_parameters(file.path()); },
        {file.path() + ":3: problem.right_hand_side = 'x>0.5?1/0:1' is infinite at (0.5",
            "and the constants"});
    try
    {
      read_parameters(file.path());
    }
    catch (const ParameterError &error)
    {
      const std::string message = error.what();
      const std::size_t open = message.find(" at (") + 5;
      const std::string point = message.substr(open, message.find(')', open) - open);
      EXPECT_EQ(std::count(point.begin(), point.end(), ','), 1) << message;
    }
  }

  TEST(ExpressionChecks, LargeGridsAreSampledToTheirSides)
  {
    for (const std::string last : {"x>0.9999", "y>0.9999", "z<0.0001"})
    {
      EXPECT_THROW(
          default_parameters({"problem.refinements=10", f + last + "?1/0:1"}), ParameterError);
      EXPECT_NO_THROW(default_parameters({"problem.refinements=4", f + last + "?1/0:1"}));
    }
  }

  TEST(ExpressionChecks, SolutionsMayHaveHolesButNotBeNowhere)
  {
    EXPECT_NO_THROW(default_parameters({"problem.exact_solution=sqrt(x-0.4)"}));
    expect_refused({"problem.exact_solution=log(-1-x)"},
        {"problem.exact_solution = 'log(-1-x)' is not a number at"});
    expect_refused({"problem.exact_solution=x", "problem.exact_gradient=1;0;log(-1-x)"},
        {"problem.exact_gradient = 'log(-1-x)' is not a number at"});
  }

  TEST(ExpressionChecks, OneParserForChecksAndSolves)
  {
    for (const std::string random : {"rand()", "rand_seed(3)", "x + rand()"})
      expect_refused({f + random},
          {"--set problem.right_hand_side = '" + random + "' cannot be parsed", "\"rand",
              "allowed: an expression in x, y, z"});
    EXPECT_NO_THROW(default_parameters({f + "sin (x) + if(x < 0.5, 1, erfc(y))"}));
  }

  TEST(ExpressionChecks, LongOnesAreCutInMessages)
  {
    std::string sum = "x";
    while (sum.size() < 15'000)
      sum += " + x";
    EXPECT_NO_THROW(default_parameters({f + sum}));
    for (const std::string &bad : {sum + " + q", sum + " + " + sum, "(" + sum, "q + " + sum})
      try
      {
        default_parameters({f + bad});
        ADD_FAILURE();
      }
      catch (const ParameterError &error)
      {
        EXPECT_LT(std::string(error.what()).size(), 700U) << error.what();
        EXPECT_NE(std::string(error.what()).find(std::to_string(bad.size()) + " characters)"),
            std::string::npos)
            << error.what();
      }
    expect_refused({f + sum + " + " + sum}, {"the longest one has 19999"});
  }

  TEST(ExpressionChecks, ALatePlaceIsNamedToo)
  {
    const test::TemporaryDirectory directory;
    const TemporaryFile file("a.prm",
        "subsection problem\n  set dimension = 2\n  set refinements = 7\n"
        "  set right_hand_side = abs(x-0.3371)<0.001 ? 1/0 : 1\nend\nsubsection output\n  set "
        "directory = " +
            directory.path().string() + "\nend\n");
    const Parameters parameters = read_parameters(file.path()); // no sample lies there
    Console silent = Console::silent(MPI_COMM_SELF);
    expect_message([&] { run_solve(parameters, MPI_COMM_SELF, silent); },
        {file.path() +
                ":4: problem.right_hand_side = 'abs(x-0.3371)<0.001 ? 1/0 : 1' is infinite at (0.33",
            "allowed: an expression in x, y and"});
  }

  TEST(ExpressionChecks, RightHandSidesBeyondDoublePrecision)
  {
    const test::TemporaryDirectory directory;
    Console silent = Console::silent(MPI_COMM_SELF);
    expect_message(
        [&] {
          run_solve(
              default_parameters({f + "1e200", "problem.coefficient=1e-200", "problem.dimension=2",
                  "problem.refinements=2", "output.directory=" + directory.path().string()}),
              MPI_COMM_SELF, silent);
        },
        {"--set problem.right_hand_side = 1e200, problem.coefficient = 1e-200: ",
            "leaves the range of double precision"});
  }
} // namespace
} // namespace tensormg
