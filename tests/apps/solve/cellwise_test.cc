// Runs whose cells have numbers of their own: exact solutions, orders, units, and what a run tells of them.
#include <cmath>
#include <cstring>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/solve/solve.h"
#include "operators/data/npy_array.h"
#include "tests/support/json.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using Words = std::vector<std::string>;

  class Cellwise : public testing::Test
  {
  protected:
    RunRecord run(const Words &base, const Words &overrides = {})
    {
      Words all{"problem.dimension=2", "output.write_vtu=false", "operator.backend=cpu",
          "solver.max_iterations=300", "output.directory=" + (directory_ / "out").string()};
      all.insert(all.end(), base.begin(), base.end());
      all.insert(all.end(), overrides.begin(), overrides.end());
      const Parameters parameters = default_parameters(all);
      out_.str("");
      Console console(MPI_COMM_SELF, Verbosity::normal, out_, out_);
      const RunRecord record = run_solve(parameters, MPI_COMM_SELF, console);
      EXPECT_TRUE(record.report.converged()) << record.report.detail;
      return record;
    }
    std::string put(const std::string &name, const std::vector<std::int64_t> &shape,
        const std::vector<double> &numbers) const
    {
      std::string bytes(numbers.size() * sizeof(double), '\0');
      std::memcpy(bytes.data(), numbers.data(), bytes.size());
      test::write(directory_ / name, npy_head(shape) + bytes);
      return (directory_ / name).string();
    }

    const test::TemporaryDirectory directory_;
    std::ostringstream out_;
  };

  TEST_F(Cellwise, FastDiagonalisationIsTakenOrRefused)
  {
    const Words named{"multigrid.coarsening=fast_diagonalisation",
        "problem.coefficient_in_cell=mean", "problem.refinements=2"};
    EXPECT_EQ(run(named, {"problem.coefficient=exp(x)*(1+y)"}).report.iterations, 1);
    EXPECT_NE(out_.str().find("fast diagonalisation in double precision"), std::string::npos);
    EXPECT_THROW(run(named, {"problem.coefficient=1+x+y"}), ParameterError);
  }

  // Layers of K = 2, 0.05 and 10, each of thickness 1 between u = 1 and u = 0: the flux is 1 / (1/2 + 1/0.05 + 1/10).
  const Words wall{"problem.upper=3,1", "problem.coarse_cells=3,1", "problem.refinements=2",
      "problem.right_hand_side=0", "problem.constants=r1=0.5,r2=20,r3=0.1,r=20.6",
      "problem.exact_solution=1-if(x<1, r1*x, if(x<2, r1+r2*(x-1), r1+r2+r3*(x-2)))/r",
      "problem.exact_gradient=-if(x<1,r1,if(x<2,r2,r3))/r; 0", "boundary.left_value=1",
      "boundary.front=neumann", "boundary.back=neumann", "solver.tolerance=1e-13"};
  constexpr double flux_of_wall = 1. / 20.6;

  TEST_F(Cellwise, LayersAreExact)
  {
    const std::string k = "if(x<1, 2, if(x<2, 0.05, 10))";
    const std::string voxels = put("k.npy", {2, 3}, {2., 0.05, 10., 2., 0.05, 10.});
    const std::vector<Words> ways{{"problem.coefficient=" + k},
        {"problem.coefficient=" + k + "; 7"},
        {"problem.coefficient=k", "problem.fields=k=" + voxels},
        {"problem.coefficient=k", "problem.fields=k=" + voxels, "problem.coefficient_in_cell=mean"},
        {"problem.coefficient=" + k, "boundary.front=periodic", "boundary.back=periodic"}};
    for (const Words &way : ways)
      for (const int degree : {1, 2, 3})
      {
        SCOPED_TRACE(testing::PrintToString(way) + " degree " + std::to_string(degree));
        Words all = way;
        all.push_back("problem.degree=" + std::to_string(degree));
        const RunRecord record = run(wall, all);
        EXPECT_LT(record.l2_error.value_or(1.), 1e-10);
        EXPECT_LT(record.h1_error.value_or(1.), 1e-9);
        EXPECT_NEAR(record.numbers->side_flux[0].value_or(0.), flux_of_wall, 1e-10);
        EXPECT_NEAR(record.numbers->side_flux[1].value_or(0.), -flux_of_wall, 1e-10);
      }
  }

  // With a continuous flux: u = sin(2 pi x) sin(pi y) / K, zero where K jumps.
  Words smooth(int degree, int refinements)
  {
    return {"problem.coefficient=if(x<0.5,1,4)", "problem.reaction=if(x<0.5,3,0)",
        "problem.right_hand_side=(5*pi^2+if(x<0.5,3,0))*sin(2*pi*x)*sin(pi*y)",
        "problem.exact_solution=sin(2*pi*x)*sin(pi*y)/if(x<0.5,1,4)", "solver.tolerance=1e-12",
        "problem.degree=" + std::to_string(degree),
        "problem.refinements=" + std::to_string(refinements)};
  }

  TEST_F(Cellwise, OrderIsDegreePlusOneWhereKJumpsOnFaces)
  {
    for (const int degree : {1, 2, 3})
    {
      const double coarse = run(smooth(degree, 3)).l2_error.value_or(0.),
                   fine = run(smooth(degree, 4)).l2_error.value_or(0.);
      EXPECT_GT(std::log2(coarse / fine), degree + 0.8) << degree;
    }
  }

  // -(K u')' with K = 1 + x: the means of cells leave u_h' = flux / mean.
  TEST_F(Cellwise, MeansOfASmoothCoefficientHaveOrderTwo)
  {
    std::vector<double> errors;
    for (const char *refinements : {"3", "4"})
      errors.push_back(
          run({"problem.coefficient=1+x", "problem.coefficient_in_cell=mean", "problem.degree=3",
                  "problem.right_hand_side=0", "problem.exact_solution=log(1+x)/log(2)",
                  "boundary.right_value=1", "boundary.front=neumann", "boundary.back=neumann",
                  std::string("problem.refinements=") + refinements})
              .l2_error.value_or(0.));
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2., 0.2);
  }

  TEST_F(Cellwise, UnitsDoNotMatter)
  {
    const auto scaled = [&](const char *factor) {
      return run({"problem.coefficient=s*if(x<0.5,1,if(y<0.5,0.1,20))",
          "problem.reaction=s*if(x<0.5,2,0)", std::string("problem.constants=s=") + factor,
          "problem.refinements=4", "problem.degree=2", "multigrid.precision=double"});
    };
    const RunRecord one = scaled("1");
    for (const char *factor : {"1e-12", "1e-5", "3", "1e12"})
    {
      SCOPED_TRACE(factor);
      const RunRecord record = scaled(factor);
      EXPECT_EQ(record.report.iterations, one.report.iterations);
      const double s = std::stod(factor), integral = one.numbers->integral;
      EXPECT_NEAR(s * record.numbers->integral, integral, 1e-7 * integral);
      EXPECT_NEAR(s * record.numbers->maximum, one.numbers->maximum, 1e-7 * one.numbers->maximum);
      EXPECT_NEAR(
          s * *record.algebraic_l2_error, *one.algebraic_l2_error, 0.01 * *one.algebraic_l2_error);
    }
  }

  TEST_F(Cellwise, FluxesBalanceTheRightHandSide)
  {
    const RunRecord record = run({"problem.coefficient=if(x<0.5,1,if(y<0.25,0.1,20))",
        "problem.refinements=3", "problem.degree=2", "solver.tolerance=1e-12"});
    double sum = 1.; // int f
    for (int side = 0; side < 4; ++side)
      sum += record.numbers->side_flux[static_cast<std::size_t>(side)].value_or(0.);
    EXPECT_NEAR(sum, 0., 1e-9);
  }

  TEST_F(Cellwise, ReactionFixesTheConstant)
  {
    const RunRecord record = run({"problem.reaction=if(x<0.5,2,5)", "problem.refinements=2",
        "problem.right_hand_side=if(x<0.5,6,15)", "problem.exact_solution=3",
        "boundary.left=neumann", "boundary.right=neumann", "boundary.front=neumann",
        "boundary.back=neumann", "problem.coefficient=0.25", "solver.tolerance=1e-11"});
    EXPECT_LT(record.l2_error.value_or(1.), 1e-9);
    EXPECT_NE(out_.str().find("-div(K grad u) + c u = f, K = 0.25, c = if(x<0.5,2,5), on (0, 1)"),
        std::string::npos)
        << out_.str();
    EXPECT_EQ(out_.str().find("mean zero"), std::string::npos);
  }

  TEST_F(Cellwise, ARunTellsTheRange)
  {
    const RunRecord record = run(wall, {"problem.coefficient=if(x<1, 2, if(x<2, 0.05, 10))"});
    EXPECT_NE(out_.str().find("K = if(x<1, 2, if(x<2, 0.05, 10)), on"), std::string::npos);
    EXPECT_NE(out_.str().find("K from 0.0500 to 10.0\n"), std::string::npos) << out_.str();
    std::ostringstream json;
    write_run_json(record, json);
    EXPECT_EQ(test::parse_json(json.str())["coefficient_range"], (std::vector<double>{0.05, 10.}));
    EXPECT_FALSE(
        run(wall, {"problem.coefficient=2", "problem.exact_solution=", "problem.exact_gradient="})
            .coefficient_range.has_value());
  }
} // namespace
} // namespace tensormg
