// The files in params/: all are read, and the exact solutions in them solve the stated problems; one is solved.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include <deal.II/base/function_parser.h>
#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/quadrature_lib.h>
#include <gtest/gtest.h>

#include "apps/parameters/parameters.h"
#include "apps/parameters/table.h"
#include "apps/solve/solve.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using dealii::FunctionParser;
  using dealii::Point;

  std::vector<std::filesystem::path> shipped_files()
  {
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::directory_iterator(source_directory() / "params"))
      if (entry.is_regular_file()) // params/voxels needs an array, which a script makes
        files.push_back(entry.path());
    return files;
  }

  /// An expression of the problem as a function of the point.
  template <int dim>
  class Expression
  {
  public:
    Expression(const std::string &expression, const Problem &problem)
    {
      function_.initialize(
          FunctionParser<dim>::default_variable_names(), expression, problem.constants);
    }
    double operator()(const Point<dim> &x) const { return function_.value(x); }
    /// Derivative of order 1 or 2 by central differences of fourth order.
    double derivative(const Point<dim> &x, unsigned int d, int order) const
    {
      const double h = 2e-3;
      const auto at = [&](int step) {
        Point<dim> shifted = x;
        shifted[d] += step * h;
        return function_.value(shifted);
      };
      if (order == 1)
        return (at(-2) - 8. * at(-1) + 8. * at(1) - at(2)) / (12. * h);
      return (-at(-2) + 16. * at(-1) - 30. * at(0) + 16. * at(1) - at(2)) / (12. * h * h);
    }

  private:
    FunctionParser<dim> function_{1};
  };

  /// A few points of the unit box without symmetry, moved into the box of the problem.
  template <int dim>
  std::vector<Point<dim>> sample_points(const Problem &problem)
  {
    std::vector<Point<dim>> points;
    for (const std::array<double, 3> unit :
        {std::array<double, 3>{0.13, 0.27, 0.71}, {0.82, 0.55, 0.34}, {0.41, 0.93, 0.08}})
    {
      Point<dim> x;
      for (std::size_t d = 0; d < dim; ++d)
        x[static_cast<unsigned int>(d)] =
            problem.lower[d] + unit[d] * (problem.upper[d] - problem.lower[d]);
      points.push_back(x);
    }
    return points;
  }

  /// K of direction d at the point.
  template <int dim>
  double coefficient(const Problem &problem, unsigned int d, const Point<dim> &x)
  {
    const auto &parts = problem.cell_coefficient;
    if (parts[0].empty())
      return problem.coefficient;
    return Expression<dim>(parts[parts[1].empty() ? 0 : d], problem)(x);
  }

  /// -div(K grad u) + c u = f inside of cells, the gradient, the conditions on every side, and mean zero where it is
  /// chosen.
  template <int dim>
  void check_exact_solution(const Problem &problem)
  {
    const Expression<dim> u(problem.exact_solution, problem);
    const Expression<dim> f(problem.right_hand_side, problem);
    for (Point<dim> x : sample_points<dim>(problem))
    {
      double divergence = 0.;
      for (unsigned int d = 0; d < dim; ++d)
      {
        divergence += coefficient<dim>(problem, d, x) * u.derivative(x, d, 2);
        if (!problem.exact_gradient[0].empty())
        {
          const Expression<dim> component(problem.exact_gradient[d], problem);
          EXPECT_NEAR(component(x), u.derivative(x, d, 1), 1e-6) << "component " << d;
        }
      }
      const double reaction =
          problem.reaction.empty() ? 0. : Expression<dim>(problem.reaction, problem)(x) * u(x);
      EXPECT_NEAR(reaction - divergence, f(x), 1e-6 * (1. + std::abs(f(x))));

      for (unsigned int s = 0; s < 2 * dim; ++s)
      {
        SCOPED_TRACE(side_names[s]);
        const unsigned int d = s / 2;
        const double outward = s % 2 == 0 ? -1. : 1.;
        Point<dim> on_side = x;
        on_side[d] = s % 2 == 0 ? problem.lower[d] : problem.upper[d];
        const Expression<dim> value(problem.boundary_value[s], problem);
        if (problem.boundary[s] == BoundaryKind::dirichlet)
        {
          EXPECT_NEAR(u(on_side), value(on_side), 1e-12);
        }
        else if (problem.boundary[s] == BoundaryKind::neumann)
        {
          const double flux =
              coefficient<dim>(problem, d, on_side) * outward * u.derivative(on_side, d, 1);
          EXPECT_NEAR(flux, value(on_side), 1e-6);
        }
        else
        {
          Point<dim> opposite = on_side;
          opposite[d] = s % 2 == 0 ? problem.upper[d] : problem.lower[d];
          EXPECT_NEAR(u(on_side), u(opposite), 1e-12);
          EXPECT_NEAR(u.derivative(on_side, d, 1), u.derivative(opposite, d, 1), 1e-6);
        }
      }
    }

    if (problem.is_singular())
    {
      double mean = 0.;
      const dealii::QGauss<dim> quadrature(16);
      for (unsigned int q = 0; q < quadrature.size(); ++q)
      {
        Point<dim> x;
        for (unsigned int d = 0; d < dim; ++d)
          x[d] = problem.lower[d] + quadrature.point(q)[d] * (problem.upper[d] - problem.lower[d]);
        mean += quadrature.weight(q) * u(x);
      }
      EXPECT_NEAR(mean, 0., 1e-12);
    }
  }

  TEST(ShippedParameters, AreThereAndRead)
  {
    std::set<std::string> names;
    for (const auto &file : shipped_files())
    {
      SCOPED_TRACE(file.string());
      EXPECT_EQ(file.extension(), ".prm");
      names.insert(file.stem().string());
      Parameters p;
      ASSERT_NO_THROW(p = read_parameters(file.string()));
      EXPECT_NE(p.output.directory, Parameters{}.output.directory) << "runs would mix their files";
      if (p.output.write_vtu)
      {
        double cells = 1.;
        for (int d = 0; d < p.problem.dim; ++d)
          cells *= static_cast<double>(p.problem.cells(d));
        EXPECT_LE(cells, static_cast<double>(p.output.vtu_max_cells)) << "would not be written";
      }
    }
    for (const char *name : {"quickstart", "square_2d", "manufactured_3d", "gaussian_charges",
             "heat_conduction", "layered_wall", "doubly_periodic", "pure_neumann", "throughput",
             "discretisation_error", "compare", "diagnose"})
      EXPECT_EQ(names.count(name), 1u) << name;
  }

  TEST(ShippedParameters, BeginWithADescription)
  {
    for (const auto &file : shipped_files())
    {
      SCOPED_TRACE(file.string());
      std::ifstream stream(file);
      std::ostringstream text;
      text << stream.rdbuf();
      EXPECT_EQ(text.str().substr(0, 2), "# ");
      EXPECT_NE(text.str().find("\n# ParaView:"), std::string::npos);
    }
  }

  TEST(ShippedParameters, ExactSolutionsSolveTheirProblems)
  {
    int checked = 0;
    for (const auto &file : shipped_files())
    {
      SCOPED_TRACE(file.string());
      const Problem problem = read_parameters(file.string()).problem;
      if (problem.exact_solution.empty())
        continue;
      problem.dim == 2 ? check_exact_solution<2>(problem) : check_exact_solution<3>(problem);
      ++checked;
    }
    EXPECT_GE(checked, 5);
  }

  TEST(ShippedParameters, StudiesCanConverge)
  {
    for (const char *name : {"square_2d", "manufactured_3d", "doubly_periodic", "pure_neumann"})
    {
      const auto file = source_directory() / "params" / (std::string(name) + ".prm");
      EXPECT_NO_THROW(check_for_converge(read_parameters(file.string()))) << name;
    }
  }

  // Full multigrid alone has the error of the discretisation, to 5 %.
  TEST(ShippedParameters, DiscretisationErrorIsReached)
  {
    const test::TemporaryDirectory directory;
    const std::string file = (source_directory() / "params/discretisation_error.prm").string();
    const auto error = [&](const char *tolerance, int iterations) {
      const Parameters parameters = read_parameters(file,
          {"problem.refinements=4", "operator.backend=cpu", tolerance,
              "output.directory=" + directory.path().string()});
      Console console = Console::silent(MPI_COMM_SELF);
      const RunRecord record = run_solve(parameters, MPI_COMM_SELF, console);
      EXPECT_EQ(record.report.iterations, iterations);
      return record.l2_error.value_or(0.);
    };
    const double converged = error("solver.tolerance=1e-8", 2);
    EXPECT_GT(converged, 0.);
    EXPECT_NEAR(error("solver.tolerance=0.01", 0), converged, 0.05 * converged);
  }

  TEST(ShippedParameters, DealIIReadsTheSameValues)
  {
    for (const auto &file : shipped_files())
    {
      SCOPED_TRACE(file.string());
      dealii::ParameterHandler handler;
      declare(handler);
      handler.parse_input(file.string());
      const Parameters p = read_parameters(file.string());
      Parameters by_dealii;
      for (const ParameterEntry &entry : parameter_table())
      {
        EXPECT_EQ(entry.read(by_dealii, handler.get({entry.section}, entry.key)), "");
        EXPECT_EQ(entry.write(by_dealii), entry.write(p)) << entry.name();
      }
    }
  }

  TEST(ShippedParameters, ThroughputHasItsSize)
  {
    const Parameters p = read_parameters((source_directory() / "params/throughput.prm").string());
    EXPECT_EQ(p.problem.cells(0) * p.problem.cells(1) * p.problem.cells(2) * 64, 16777216);
    EXPECT_FALSE(p.output.write_vtu);
  }
} // namespace
} // namespace tensormg
