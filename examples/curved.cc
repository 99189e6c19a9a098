// Heat conduction through a spherical shell, cooled outside, whose conductivity depends on the temperature:
//   div(k(u) grad u) = 0,  k(u) = 1 + u,  u = 1 at radius 0.5, u = 0 at radius 1,
// with the solution u = sqrt(3 / r - 2) - 1, since u + u^2 / 2 is harmonic. Each step solves with the k of the last solution.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <tensormg/mesh_solver.h>

int main()
{
  tensormg::Problem problem;
  problem.degree = 3;
  problem.refinements = 2; // 4 x 4 x 4 cells in each of the six of the mesh
  problem.right_hand_side = "0";
  tensormg::MeshOptions mesh; // a file of Gmsh, or arrays of a program, would do as well
  mesh.type = tensormg::MeshType::generate;
  mesh.generator = "hyper_shell";
  mesh.generator_arguments = "0,0,0 : 0.5 : 1 : 6 : true";
  mesh.conditions = {{"0", {tensormg::BoundaryKind::dirichlet, "1"}},
      {"1", {tensormg::BoundaryKind::dirichlet, "0"}}};

  tensormg::SolverOptions options;
  options.tolerance = 1e-9;
  tensormg::MeshSolver solver(problem, mesh, options);
  std::vector<double> u(solver.size()), x(u.size()), y(u.size()), z(u.size()), before(u.size());
  std::vector<double> k(solver.points_size());
  solver.coordinates(x, y, z);

  bool converged = true;
  double change = 1.;
  for (int step = 1; step <= 20 && change > 1e-6; ++step)
  {
    before = u;
    const tensormg::SolveReport report = solver.solve(u);
    converged = converged && report.converged();
    change = 0.;
    for (std::size_t i = 0; i < u.size(); ++i)
      change = std::max(change, std::abs(u[i] - before[i]));
    std::printf("step %d: %d iterations, u changes by %.1e\n", step, report.iterations, change);
    solver.values_at_points(k, u);
    for (double &value : k)
      value += 1.;
    solver.set_coefficient_values(k);
  }

  double error = 0.;
  for (std::size_t i = 0; i < u.size(); ++i)
  {
    const double r = std::sqrt(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
    error = std::max(error, std::abs(u[i] - (std::sqrt(3. / r - 2.) - 1.)));
  }
  std::printf("largest error at the nodes %.1e\n", error);
  return converged && change <= 1e-6 && error < 1e-3 ? 0 : 1;
}
