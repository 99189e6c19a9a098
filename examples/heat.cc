// Heat conduction in time, u_t - div(K grad u) = 0 in an insulated rod of two materials, by implicit Euler steps:
//   u / dt - div(K grad u) = u_old / dt,
// a problem with the reaction 1 / dt. One solver serves all 20 steps; after ten of them the step is doubled.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <tensormg/solver.h>

int main()
{
  double dt = 0.01;
  tensormg::Problem problem;
  problem.dim = 2;
  problem.degree = 3;
  problem.upper = {1., 0.25, 1.};
  problem.coarse_cells = {4, 1, 1};
  problem.refinements = 3; // 32 x 8 cells
  problem.cell_coefficient[0] = "if(x < 0.5, 1, 0.01)";
  problem.reaction = "c";
  problem.functions["c"] = [&dt](std::size_t n, const double *, const double *, const double *,
                               double *c) {
    std::fill_n(c, n, 1. / dt); // asked again by update_coefficients()
  };
  problem.boundary.fill(tensormg::BoundaryKind::neumann);

  tensormg::SolverOptions options;
  options.tolerance = 1e-11;
  tensormg::Solver solver(problem, options);
  std::vector<double> u(solver.size()), x(u.size()), y(u.size()), f(u.size());
  solver.coordinates(x, y, {});
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = 1. + std::cos(std::acos(-1.) * x[i]); // hot at the left end; its mean is 1

  bool converged = true;
  double time = 0.;
  for (int step = 1; step <= 20; ++step)
  {
    for (std::size_t i = 0; i < u.size(); ++i)
      f[i] = u[i] / dt;
    const tensormg::SolveReport report = solver.solve(f, u, tensormg::Start::given);
    converged = converged && report.converged();
    time += dt;
    const auto [coldest, hottest] = std::minmax_element(u.begin(), u.end());
    if (step % 5 == 0)
      std::printf("t = %.2f: %d iterations, u from %.3f to %.3f\n", time, report.iterations,
          *coldest, *hottest);
    if (step == 10)
    {
      dt *= 2.;
      solver.update_coefficients(); // all vectors stay
    }
  }

  // No heat is lost: the entries of A u, integrals with the functions of a basis whose sum is 1, sum up to the integral of u / dt.
  std::vector<double> residual(u.size());
  solver.multiply(residual, u);
  double heat = 0.;
  for (const double part : residual)
    heat += dt * part;
  std::printf("heat %.10f, 0.25 at the begin\n", heat);
  return converged && std::abs(heat - 0.25) < 1e-9 ? 0 : 1;
}
