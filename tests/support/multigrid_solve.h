// A problem that the tests of multigrid solve with the methods and options they ask about, in host memory.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/vector/vector.h"
#include "operators/constant/laplace_operator.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/vector_space.h"
#include "solvers/cg.h"
#include "solvers/fgmres.h"
#include "solvers/mixed_operator.h"
#include "tests/support/boxes.h"

namespace tensormg::test
{
/// One problem with a right-hand side; solves it with the given options.
struct Solve
{
  Problem problem;
  CellBasis basis = make_cell_basis(problem.degree);
  Grid grid = make_grid(problem, MPI_COMM_WORLD);
  const LevelGrid &level = grid.finest();
  VectorSpace space{level.block, level.communicator};
  LaplaceOperator<double> op{level, basis, laplace::Backend::cpu};
  LaplaceOperator<WideFloat> products{level, basis, laplace::Backend::cpu};
  Vector<double> b = hashed_vector<double>(level, 1), x = space.make_vector();

  explicit Solve(const Problem &problem_)
    : problem(problem_)
  {
    if (problem.is_singular())
    {
      double mean = vector_kernels::sum_of_means(level.block, basis, b.data());
      MPI_Allreduce(MPI_IN_PLACE, &mean, 1, MPI_DOUBLE, MPI_SUM, level.communicator);
      const auto &cells = level.global_cells;
      mean /= static_cast<double>(cells[0] * cells[1] * cells[2]);
      vector_kernels::add_constant(level.block, basis, -mean, b.data());
    }
  }
  Solve(const Solve &) = delete;

  /// f = 1: the smooth right-hand side, with the largest solution for its size.
  void smooth_right_hand_side(double size)
  {
    b = space.make_vector();
    vector_kernels::add_constant(level.block, basis, size, b.data());
  }

  std::unique_ptr<MultigridPreconditioner> make(const MultigridOptions &options) const
  {
    return make_multigrid(grid, basis, laplace::Backend::cpu, options);
  }

  template <typename Method>
  SolveReport run(Method &&method, const MultigridOptions &options, bool full_start = false)
  {
    return run(method, op, options, full_start);
  }
  template <typename Method, typename Operator>
  SolveReport run(Method &method, Operator &a, const MultigridOptions &options, bool full_start,
      double tolerance = 1e-8)
  {
    const auto multigrid = make(options);
    x = space.make_vector();
    if (full_start)
      multigrid->full_start(x, b, 2);
    const SolveReport report = method.solve(a, *multigrid, x, b);
    Vector<double> r = space.make_vector();
    op.residual(r, x, b);
    EXPECT_NEAR(report.true_relative_residual, space.norm(r) / space.norm(b), 1e-12);
    EXPECT_EQ(report.converged(), space.norm(r) <= tolerance * space.norm(b)) << report.detail;
    return report;
  }
  /// With a basis in FP32.
  SolveReport short_basis(
      const MultigridOptions &options, double tolerance = 1e-8, bool full_start = false)
  {
    Fgmres<VectorSpace, Vector<WideFloat>> method(space, tolerance, 60, 15);
    MixedOperator both(op, products);
    return run(method, both, options, full_start, tolerance);
  }
  SolveReport fgmres(const MultigridOptions &options, bool full_start = false)
  {
    return run(Fgmres<VectorSpace>(space, 1e-8, 40, 30), options, full_start);
  }
  SolveReport cg(const MultigridOptions &options)
  {
    return run(ConjugateGradients<VectorSpace>(space, 1e-8, 40), options);
  }
  /// With vectors in FP32.
  SolveReport short_cg(const MultigridOptions &options, double tolerance = 1e-8)
  {
    ConjugateGradients<VectorSpace, Vector<WideFloat>> method(space, tolerance, 60);
    MixedOperator both(op, products);
    return run(method, both, options, false, tolerance);
  }
};
} // namespace tensormg::test
