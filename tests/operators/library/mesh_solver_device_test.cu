// The library on curved cells with all work on a device against the same on the host: solves one after the other, products, another K.
#include "tensormg/mesh_solver.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"

namespace tensormg
{
namespace
{
  using Numbers = std::vector<double>;

  double largest_difference(const Numbers &a, const Numbers &b)
  {
    double largest = 0.;
    for (std::size_t i = 0; i < a.size(); ++i)
      largest = std::isnan(a[i] - b[i]) ? INFINITY : std::max(largest, std::abs(a[i] - b[i]));
    return largest;
  }

  class MeshSolverOnDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    static MeshSolver make(const std::string &backend)
    {
      Problem problem;
      problem.dim = 2;
      problem.degree = 3;
      problem.refinements = 2;
      problem.right_hand_side = "1+x";
      problem.cell_coefficient[0] = "1+x^2";
      MeshOptions mesh;
      mesh.type = MeshType::generate;
      mesh.generator = "hyper_shell";
      mesh.generator_arguments = "0,0 : 0.5 : 1 : 5 : true";
      mesh.conditions = {{"*", {BoundaryKind::dirichlet, "y"}}};
      SolverOptions options;
      options.tolerance = 1e-11;
      Execution execution;
      execution.backend = backend;
      return {problem, mesh, options, execution};
    }
    static Numbers numbers(std::int64_t size, double frequency)
    {
      Numbers result(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = std::cos(frequency * static_cast<double>(i));
      return result;
    }
  };

  TEST_F(MeshSolverOnDevice, EqualsTheHost)
  {
    MeshSolver host = make("cpu"), device = make("cuda");
    Numbers expected(static_cast<std::size_t>(host.size())), found(expected.size());
    const auto compare = [&](const auto &solve, double tolerance) {
      solve(host, expected);
      solve(device, found);
      EXPECT_LT(largest_difference(expected, found), tolerance);
    };
    const auto solve_problem = [](MeshSolver &solver, Numbers &u) {
      EXPECT_TRUE(solver.solve(u).converged());
    };
    compare(solve_problem, 1e-9);
    // Another right-hand side: what the vectors of the device had is no start.
    for (const double frequency : {0.1, 3.})
    {
      const Numbers f = numbers(host.size(), frequency);
      compare([&](MeshSolver &solver, Numbers &u) { EXPECT_TRUE(solver.solve(f, u).converged()); },
          1e-9);
    }
    compare(solve_problem, 1e-9);
    const Numbers x = numbers(host.size(), 0.7);
    compare([&](MeshSolver &solver, Numbers &y) { solver.multiply(y, x); }, 1e-8);
    compare([&](MeshSolver &solver, Numbers &z) { solver.precondition(z, x); }, 1e-3);
    // From the solution of other numbers.
    compare(
        [&](MeshSolver &solver, Numbers &u) {
          EXPECT_TRUE(solver.solve(numbers(solver.size(), 3.1), u, Start::given).converged());
        },
        1e-9);
  }
} // namespace
} // namespace tensormg
