// The estimate of lambda_max against a dense eigenvalue solver, and what is known of its size.
// ranks: 1 2
#include "operators/multigrid/eigenvalue_estimate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "tests/support/boxes.h"

extern "C" void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
    double *w, double *work, const int *lwork, int *info);

namespace tensormg
{
namespace
{
  /// Largest eigenvalue of D^-1/2 B D^-1/2, column by column.
  double dense_lambda_max(const Problem &problem)
  {
    const Grid grid = make_grid(problem, MPI_COMM_SELF);
    const LevelGrid &level = grid.finest();
    const CellBasis basis = make_cell_basis(problem.degree);
    LaplaceOperator<double> op(level, basis, laplace::Backend::reference);
    Vector<double> unit = op.make_vector(), column = op.make_vector(), scaling = op.make_vector();
    test::for_each_dof(level.block, [&](std::int64_t at) { unit[at] = 1.; });
    op.inverse_diagonal(scaling, unit, 1.);
    test::for_each_dof(level.block, [&](std::int64_t at) { unit[at] = 0.; });
    const int n = static_cast<int>(level.global_dofs());
    std::vector<double> matrix(static_cast<std::size_t>(n) * n), values(n), work(64 * n);
    test::for_each_global(level, [&](std::int64_t at, std::int64_t j) {
      unit[at] = 1.;
      op.vmult(column, unit);
      unit[at] = 0.;
      test::for_each_global(level, [&](std::int64_t row, std::int64_t i) {
        matrix[static_cast<std::size_t>(j * n + i)] =
            column[row] * std::sqrt(scaling[row] * scaling[at]);
      });
    });
    const int lwork = 64 * n;
    int info = 0;
    dsyev_("N", "U", &n, matrix.data(), &n, values.data(), work.data(), &lwork, &info);
    EXPECT_EQ(info, 0);
    return values.back();
  }

  double estimate(const Problem &problem, int steps)
  {
    const Grid grid = make_grid(problem, MPI_COMM_WORLD);
    const CellBasis basis = make_cell_basis(problem.degree);
    LaplaceOperator<double> op(grid.finest(), basis, laplace::Backend::cpu);
    return estimate_lambda_max(op, steps);
  }

  TEST(EigenvalueEstimate, ConvergesToTheDenseEigenvalue)
  {
    for (const auto &[dim, degree, boundary] : {std::tuple{2, 1, "DD"}, {2, 3, "NN"},
             {2, 2, "PPDN"}, {3, 1, "DD"}, {3, 2, "PP"}, {3, 1, "NDDDPP"}})
    {
      SCOPED_TRACE(
          testing::Message() << "dim " << dim << ", degree " << degree << ", " << boundary);
      const Problem problem = test::box(dim, degree, {4, 3, 3}, 0, boundary);
      const double exact = dense_lambda_max(problem);
      const double rough = estimate(problem, 12);
      EXPECT_LE(rough, exact * (1. + 1e-12)) << "Ritz values lie below";
      EXPECT_GT(rough, 0.97 * exact);
      EXPECT_NEAR(estimate(problem, 60), exact, 1e-6 * exact);
      // The smoother's safety factor covers the difference.
      EXPECT_GT(1.05 * rough, exact);
    }
  }

  TEST(EigenvalueEstimate, TwoIsTheBound)
  {
    // B = D - N with the couplings N between cells: a checkerboard of signs maps B to D + N, so the
    // spectrum of D^-1 B lies symmetric about 1 where no boundary disturbs that, and lambda_min >
    // 0.
    for (int dim = 2; dim <= 3; ++dim)
      for (const char *boundary : {"DD", "NN", "PP", "DNPPND"})
        for (int degree = 1; degree <= 3; ++degree)
          EXPECT_LE(dense_lambda_max(test::box(dim, degree, {2, 4, 2}, 0, boundary)), 2. + 1e-12)
              << "dim " << dim << ", degree " << degree << ", " << boundary;
    EXPECT_NEAR(dense_lambda_max(test::box(2, 2, {4, 2, 1}, 0, "PP")), 2., 1e-12);
  }

  TEST(EigenvalueEstimate, HardlyDependsOnTheMesh)
  {
    for (int degree = 1; degree <= 5; degree += 2)
      for (const std::int64_t cells : {8, 16})
        for (const char *boundary : {"DD", "NN"})
        {
          if (degree > 3 && cells > 8)
            continue;
          SCOPED_TRACE(
              testing::Message() << "degree " << degree << ", " << cells << ", " << boundary);
          const double value =
              estimate(test::cubes(3, degree, {cells, cells, cells}, 0, boundary), 12);
          EXPECT_GT(value, 1.95);
          EXPECT_LT(value, 1.99);
          EXPECT_GT(1.05 * value, 2.) << "the smoother's interval holds the spectrum";
        }
  }

  TEST(EigenvalueEstimate, OneStepAndInvariantSubspaces)
  {
    // One step is a Rayleigh quotient; more steps than unknowns end early and are exact.
    const Problem tiny = test::box(2, 1, {1, 1, 1}, 0, "DD");
    const double exact = dense_lambda_max(tiny);
    EXPECT_LE(estimate(tiny, 1), exact);
    EXPECT_GT(estimate(tiny, 1), 0.);
    EXPECT_NEAR(estimate(tiny, 50), exact, 1e-9);
    // Without neighbours' influence D^-1 B is what it is: periodic, one cell.
    const Problem periodic = test::box(2, 2, {1, 1, 1}, 0, "PP");
    EXPECT_NEAR(estimate(periodic, 50), dense_lambda_max(periodic), 1e-9);
  }

  TEST(EigenvalueEstimate, IsReproducible)
  {
    const Problem problem = test::box(3, 2, {4, 3, 3}, 0, "DN");
    EXPECT_EQ(estimate(problem, 12), estimate(problem, 12));
  }
} // namespace
} // namespace tensormg
