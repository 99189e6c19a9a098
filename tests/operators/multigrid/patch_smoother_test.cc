// The vertex-patch smoother: exact where one patch is the domain, contraction, adjoint order,
// precision, Neumann problems, and the iterations of a V(1,1)-cycle that uses it.
#include "tests/support/patch_smoother.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/coarse_box_solver.h"
#include "operators/constant/transfer_operator.h"
#include "operators/vectors/vector_space.h"
#include "solvers/fgmres.h"
#include "solvers/multigrid.h"
#include "tests/support/random_vector.h"
#include "tests/support/sanitized.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;

  Problem make_problem(int dim, int degree, std::int64_t cells, int refinements,
      BoundaryKind kind = BoundaryKind::dirichlet)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.coarse_cells = {cells, cells, dim == 3 ? cells : 1};
    problem.refinements = refinements;
    problem.boundary.fill(kind);
    problem.upper = {1., 1.25, 1.5};
    return problem;
  }

  /// A finest level on one rank with its operator.
  struct Fixture
  {
    Grid grid;
    CellBasis basis;
    LaplaceOperator<double> op;
    VectorSpace space;

    explicit Fixture(const Problem &problem)
      : grid(make_grid(problem, MPI_COMM_SELF))
      , basis(make_cell_basis(problem.degree))
      , op(grid.finest(), basis, Backend::cpu)
      , space(grid.finest().block, grid.finest().communicator)
    {}
    Vector<double> random(unsigned seed) const
    {
      return test::random_vector<double>(grid.finest().block, seed);
    }
    /// (x, y)_B
    double energy(const Vector<double> &x, const Vector<double> &y)
    {
      Vector<double> by = op.make_vector();
      op.vmult(by, y);
      return space.dot(x, by);
    }
  };

  /// Error after k smoothing steps from a random one, in the energy norm, relative.
  double contraction(Fixture &s, SmootherBase<Vector<double>> &smoother, int k)
  {
    Vector<double> e = s.random(1), zero = s.op.make_vector(), work = s.op.make_vector();
    const double before = s.energy(e, e);
    for (int i = 0; i < k; ++i)
      smoother.smooth(e, zero, work, false, true);
    return std::sqrt(std::max(s.energy(e, e), 0.) / before);
  }

  TEST(PatchSmoother, SolvesWhereOnePatchIsTheDomain)
  {
    for (const int dim : {2, 3})
      for (const std::int64_t cells : {1, 2})
        for (const SchwarzKind kind : {SchwarzKind::multiplicative, SchwarzKind::additive})
        {
          Fixture s(make_problem(dim, 3, cells, 0));
          PatchSmoother<double> smoother(s.op, kind, 1, 1.);
          const Vector<double> b = s.random(1);
          Vector<double> x = s.op.make_vector(), work = s.op.make_vector();
          test::poison(x);
          smoother.smooth(x, b, work, true, true);
          s.op.residual(work, x, b);
          EXPECT_LT(s.space.norm(work), 1e-11 * s.space.norm(b)) << dim << " " << cells;
        }
  }

  TEST(PatchSmoother, NeumannPatchGetsThePseudoInverse)
  {
    for (const BoundaryKind boundary : {BoundaryKind::neumann, BoundaryKind::periodic})
    {
      Fixture s(make_problem(3, 2, 2, 0, boundary));
      PatchSmoother<double> smoother(s.op, SchwarzKind::multiplicative, 1, 0.);
      Vector<double> b = s.op.make_vector(), x = s.op.make_vector(), work = s.op.make_vector();
      s.op.vmult(b, s.random(1));
      smoother.smooth(x, b, work, true, true);
      s.op.residual(work, x, b);
      EXPECT_LT(s.space.norm(work), 1e-11 * s.space.norm(b));
      // x has no constant part: it is orthogonal to the constant's coefficients.
      double mean = 0.;
      const Block &block = s.grid.finest().block;
      for (std::int64_t c = 0; c < 8; ++c)
        for (int k = 0; k < block.n; ++k)
          for (int j = 0; j < block.n; ++j)
            for (int i = 0; i < block.n; ++i)
              mean += s.basis.legendre[i] * s.basis.legendre[j] * s.basis.legendre[k] *
                  x[block.index(c % 2, c / 2 % 2, c / 4, i, j, k)];
      EXPECT_NEAR(mean, 0., 1e-11 * s.space.norm(x));
    }
  }

  TEST(PatchSmoother, ReducesTheError)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 4})
        for (const BoundaryKind boundary :
            {BoundaryKind::dirichlet, BoundaryKind::neumann, BoundaryKind::periodic})
          for (const std::int64_t cells : {5, 8}) // odd and periodic: three colours
          {
            SCOPED_TRACE(testing::Message()
                << dim << " " << degree << " " << cells << " " << static_cast<int>(boundary));
            Fixture s(make_problem(dim, degree, cells, 0, boundary));
            PatchSmoother<double> multiplicative(s.op, SchwarzKind::multiplicative, 1, 0.);
            PatchSmoother<double> chebyshev(s.op, SchwarzKind::additive, 4, 0.);
            const double lambda =
                estimate_patch_lambda_max(s.grid.finest(), s.basis, Backend::cpu, 12);
            PatchSmoother<double> richardson(s.op, SchwarzKind::additive, 4, 1. / lambda);
            EXPECT_LT(contraction(s, multiplicative, 1), 0.08);
            EXPECT_LT(contraction(s, multiplicative, 4), 0.5 * contraction(s, multiplicative, 1));
            EXPECT_LT(contraction(s, chebyshev, 1), 0.15);
            EXPECT_LT(contraction(s, richardson, 1), 0.35);
          }
  }

  TEST(PatchSmoother, ForwardThenBackwardIsSymmetric)
  {
    for (const SchwarzKind kind : {SchwarzKind::multiplicative, SchwarzKind::additive})
      for (const int sweeps : {1, 2})
      {
        Fixture s(make_problem(3, 2, 5, 0));
        PatchSmoother<double> smoother(s.op, kind, sweeps, 0.);
        Vector<double> e1 = s.random(1), e2 = s.random(2), work = s.op.make_vector();
        const Vector<double> u1 = s.random(1), u2 = s.random(2), zero = s.op.make_vector();
        for (Vector<double> *e : {&e1, &e2})
          for (const bool forward : {true, false})
            smoother.smooth(*e, zero, work, false, forward);
        EXPECT_NEAR(s.energy(e1, u2), s.energy(u1, e2), 1e-12 * s.energy(u1, u1));

        // From zero, as a preconditioner.
        Vector<double> x1 = s.op.make_vector(), x2 = s.op.make_vector();
        for (const bool forward : {true, false})
        {
          smoother.smooth(x1, u1, work, forward, forward);
          smoother.smooth(x2, u2, work, forward, forward);
        }
        EXPECT_NEAR(s.space.dot(x1, u2), s.space.dot(u1, x2), 1e-12 * s.space.dot(u1, x1));
        EXPECT_GT(s.space.dot(u1, x1), 0.);
      }
  }

  TEST(PatchSmoother, ForwardAloneIsAdjointToBackward)
  {
    Fixture s(make_problem(2, 3, 6, 0, BoundaryKind::neumann));
    PatchSmoother<double> smoother(s.op, SchwarzKind::multiplicative, 1, 0.);
    Vector<double> e1 = s.random(1), e2 = s.random(2), work = s.op.make_vector();
    const Vector<double> u1 = s.random(1), u2 = s.random(2), zero = s.op.make_vector();
    smoother.smooth(e1, zero, work, false, true);
    smoother.smooth(e2, zero, work, false, false);
    EXPECT_NEAR(s.energy(e1, u2), s.energy(u1, e2), 1e-12 * s.energy(u1, u1));
  }

  template <typename Number>
  double difference_to_double(SchwarzKind kind, Backend backend)
  {
    const bool slow = backend == Backend::reference;
    Fixture s(make_problem(3, slow ? 1 : 3, slow ? 4 : 6, 0));
    LaplaceOperator<Number> op(s.grid.finest(), s.basis, backend);
    PatchSmoother<double> exact(s.op, kind, 2, 0.);
    PatchSmoother<Number> rounded(op, kind, 2, 0.);
    const auto b = test::random_vector<Number>(s.grid.finest().block, 1);
    Vector<double> b_exact = s.op.make_vector(), x_exact = s.op.make_vector(),
                   work_exact = s.op.make_vector();
    Vector<Number> x = op.make_vector(), work = op.make_vector();
    test::poison(x);
    for (std::int64_t at = 0; at < b.size(); ++at)
      b_exact[at] = test::to_double(b[at]);
    for (const bool forward : {true, false})
    {
      exact.smooth(x_exact, b_exact, work_exact, forward, forward);
      rounded.smooth(x, b, work, forward, forward);
    }
    EXPECT_TRUE(test::padding_is_zero(x));
    return test::relative_difference(x, x_exact);
  }

  TEST(PatchSmoother, PrecisionsAndBackendsAgree)
  {
    for (const SchwarzKind kind : {SchwarzKind::multiplicative, SchwarzKind::additive})
    {
      EXPECT_LT(difference_to_double<double>(kind, Backend::reference), 1e-12);
      EXPECT_LT(difference_to_double<float>(kind, Backend::cpu), 1e-5);
      EXPECT_LT(difference_to_double<Half>(kind, Backend::cpu), 2e-2);
    }
  }

  TEST(PatchSmoother, EstimateIsCloseToTheLargestEigenvalue)
  {
    for (const int dim : {2, 3})
    {
      Fixture s(make_problem(dim, 2, 8, 0));
      const double few = estimate_patch_lambda_max(s.grid.finest(), s.basis, Backend::cpu, 12);
      const double many = estimate_patch_lambda_max(s.grid.finest(), s.basis, Backend::cpu, 40);
      EXPECT_LE(few, many * (1. + 1e-10));
      EXPECT_GT(few, 0.95 * many);
    }
    // One patch: P B = 1, and Lanczos stops early.
    Fixture s(make_problem(3, 2, 2, 0));
    EXPECT_NEAR(estimate_patch_lambda_max(s.grid.finest(), s.basis, Backend::cpu, 12), 1., 1e-10);
  }

  TEST(PatchSmoother, RefusesWhatMakesNoSense)
  {
    Fixture s(make_problem(2, 1, 4, 0));
    EXPECT_THROW(
        PatchSmoother<double>(s.op, SchwarzKind::multiplicative, 0, 0.), std::invalid_argument);
    EXPECT_THROW(
        PatchSmoother<double>(s.op, SchwarzKind::additive, 1, -0.5), std::invalid_argument);
    EXPECT_THROW(
        PatchSmoother<double>(s.op, SchwarzKind::additive, 1, 0., 0.), std::invalid_argument);
  }

  /// One V-cycle in double as the preconditioner.
  class Cycles
  {
    using Operator = LaplaceOperator<double>;
    using Transfer = TransferOperator<double>;
    using MG = Multigrid<Operator, Transfer>;

  public:
    Cycles(const Grid &grid, const CellBasis &basis, SchwarzKind kind, int sweeps)
    {
      std::vector<MG::Level> levels;
      for (std::size_t l = 0; l < grid.levels.size(); ++l)
      {
        operators_.push_back(std::make_unique<Operator>(grid.levels[l], basis, Backend::cpu));
        MG::Level level;
        level.op = operators_.back().get();
        if (l > 0)
        {
          transfers_.push_back(
              std::make_unique<Transfer>(grid.levels[l], grid.levels[l - 1], basis, Backend::cpu));
          level.to_coarser = transfers_.back().get();
          level.smoother = std::make_unique<PatchSmoother<double>>(*level.op, kind, sweeps, 0.);
        }
        levels.push_back(std::move(level));
      }
      multigrid_ = std::make_unique<MG>(std::move(levels),
          std::make_unique<CoarseBoxSolver<double>>(grid.levels.front(), basis, grid.problem),
          Cycle::v);
    }
    void apply(Vector<double> &z, const Vector<double> &r, double)
    {
      const std::size_t finest = multigrid_->n_levels() - 1;
      std::copy_n(r.data(), r.size(), multigrid_->rhs(finest).data());
      multigrid_->run(finest);
      std::copy_n(multigrid_->solution(finest).data(), r.size(), z.data());
    }
    std::string diagnose() const { return "not finite"; }

  private:
    std::vector<std::unique_ptr<Operator>> operators_;
    std::vector<std::unique_ptr<Transfer>> transfers_;
    std::unique_ptr<MG> multigrid_;
  };

  int iterations(const Problem &problem, SchwarzKind kind, int sweeps)
  {
    Fixture s(problem);
    Cycles cycles(s.grid, s.basis, kind, sweeps);
    Vector<double> x = s.op.make_vector(), b = s.random(1);
    if (problem.is_singular())
      s.op.vmult(b, s.random(1));
    const SolveReport report = Fgmres<VectorSpace>(s.space, 1e-8, 50, 50).solve(s.op, cycles, x, b);
    EXPECT_EQ(report.reason, StopReason::converged);
    return report.iterations;
  }

  TEST(PatchSmoother, MultigridNeedsFewIterations)
  {
    for (const int degree : {1, 2, 3, 4})
    {
      if (test::is_sanitized && degree > 2)
        break;
      Problem cube = make_problem(3, degree, 1, degree < 4 ? 4 : 3);
      cube.upper = {1., 1., 1.};
      EXPECT_LE(iterations(cube, SchwarzKind::multiplicative, 1), 3) << degree;
      EXPECT_LE(iterations(cube, SchwarzKind::additive, 4), 6) << degree;
      cube.boundary.fill(BoundaryKind::neumann);
      EXPECT_LE(iterations(cube, SchwarzKind::multiplicative, 1), 4) << degree;
      cube.boundary.fill(BoundaryKind::periodic);
      EXPECT_LE(iterations(cube, SchwarzKind::multiplicative, 1), 4) << degree;
      Problem square = make_problem(2, degree, 3, 3);
      EXPECT_LE(iterations(square, SchwarzKind::multiplicative, 1), 5) << degree;
      EXPECT_LE(iterations(square, SchwarzKind::additive, 4), 6) << degree;
    }
  }
} // namespace
} // namespace tensormg
