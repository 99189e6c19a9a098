// -div grad u = f on the unit cube with u = 0 on its sides, f from a function of this program; then other right-hand sides.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tensormg/solver.h>

int main()
{
  constexpr double pi = std::numbers::pi;
  tensormg::Problem problem;
  problem.degree = 3;
  problem.refinements = 4; // 16 x 16 x 16 cells
  problem.right_hand_side = "source";
  problem.functions["source"] = [](std::size_t n, const double *x, const double *y, const double *z,
                                    double *f) {
    for (std::size_t q = 0; q < n; ++q)
      f[q] = 3. * pi * pi * std::sin(pi * x[q]) * std::sin(pi * y[q]) * std::sin(pi * z[q]);
  };
  tensormg::Solver solver(problem);
  std::vector<double> u(solver.size()), x(u.size()), y(u.size()), z(u.size()), f(u.size());
  solver.coordinates(x, y, z);

  const tensormg::SolveReport report = solver.solve(u);
  double error = 0.;
  for (std::size_t i = 0; i < u.size(); ++i)
    error = std::max(
        error, std::abs(u[i] - std::sin(pi * x[i]) * std::sin(pi * y[i]) * std::sin(pi * z[i])));
  std::printf("%s on %s after %d iterations, residual %.1e, largest error at the nodes %.1e\n",
      to_string(report.reason), solver.backend().c_str(), report.iterations,
      report.true_relative_residual, error);

  // The solver stays set up: only f changes.
  bool converged = report.converged() && error < 1e-5;
  for (int wave = 2; wave <= 4; ++wave)
  {
    for (std::size_t i = 0; i < u.size(); ++i)
      f[i] = std::sin(wave * pi * x[i]);
    converged = solver.solve(f, u).converged() && converged;
  }
  return converged ? 0 : 1;
}
