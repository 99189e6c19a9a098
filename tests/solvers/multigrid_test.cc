// The multigrid cycles on the Laplace operator: contraction, symmetry, exactness, order of visits.
// ranks: 1 2
#include "solvers/multigrid.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/vector/vector.h"
#include "operators/constant/coarse_box_solver.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/transfer_operator.h"
#include "operators/vectors/vector_space.h"
#include "solvers/chebyshev.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using Operator = LaplaceOperator<double>;
  using Transfer = TransferOperator<double>;
  using MG = Multigrid<Operator, Transfer>;

  /// A hierarchy in double with the parts chosen here, not by the project's defaults.
  struct Hierarchy
  {
    Problem problem;
    CellBasis basis = make_cell_basis(problem.degree);
    Grid grid = make_grid(problem, MPI_COMM_WORLD);
    std::vector<std::unique_ptr<Operator>> operators;
    std::vector<std::unique_ptr<Transfer>> transfers;
    std::unique_ptr<MG> multigrid;
    VectorSpace space{grid.finest().block, grid.finest().communicator};

    Hierarchy(const Problem &problem_, const std::vector<ThreeTermStep> &steps, Cycle cycle,
        bool split = false)
      : problem(problem_)
    {
      std::vector<MG::Level> levels;
      for (std::size_t l = 0; l < grid.levels.size(); ++l)
      {
        operators.push_back(std::make_unique<Operator>(grid.levels[l], basis, Backend::cpu));
        MG::Level level;
        level.op = operators.back().get();
        if (l > 0)
        {
          transfers.push_back(
              std::make_unique<Transfer>(grid.levels[l], grid.levels[l - 1], basis, Backend::cpu));
          level.to_coarser = transfers.back().get();
          level.coarsening = coarsening_factor(grid.levels[l], grid.levels[l - 1]);
          level.smoother = std::make_unique<ThreeTermSmoother<Operator>>(*level.op, steps);
        }
        levels.push_back(std::move(level));
      }
      multigrid = std::make_unique<MG>(std::move(levels),
          std::make_unique<CoarseBoxSolver<double>>(grid.levels.front(), basis, problem), cycle,
          steady_seconds, split);
    }

    Operator &finest() { return *operators.back(); }
    std::size_t top() const { return operators.size() - 1; }
    Vector<double> hashed(unsigned seed) const
    {
      return test::hashed_vector<double>(grid.finest(), seed);
    }
    /// z = one cycle for r
    Vector<double> apply(const Vector<double> &r)
    {
      Vector<double> z = space.make_vector();
      space.axpby(1., r, 0., multigrid->rhs(top()));
      multigrid->run(top());
      space.axpby(1., multigrid->solution(top()), 0., z);
      return z;
    }
    /// Factor by which the last of several cycles reduces the error.
    double contraction()
    {
      Vector<double> error = hashed(1), zero = space.make_vector();
      double norm = space.norm(error), old = norm;
      for (int i = 0; i < 12; ++i)
      {
        finest().residual(multigrid->rhs(top()), error, zero);
        multigrid->run(top());
        space.axpby(1., multigrid->solution(top()), 1., error);
        old = norm;
        norm = space.norm(error);
      }
      return norm / old;
    }
  };

  // The spectrum of D^-1 B ends at 2 (tests/operators/multigrid/eigenvalue_estimate_test.cc).
  std::vector<ThreeTermStep> fourth_kind(int degree) { return chebyshev_fourth_kind(degree, 2.); }

  TEST(Multigrid, ContractsAsItShould)
  {
    // Measured with this test; a wrong factor, sign or order anywhere costs far more than the
    // margin.
    struct Expected
    {
      int dim, degree, steps;
      double rate;
    };
    for (const Expected &e : {Expected{2, 1, 2, 0.14}, {2, 1, 4, 0.06}, {2, 3, 2, 0.31},
             {2, 3, 4, 0.085}, {2, 8, 4, 0.17}, {3, 1, 2, 0.115}, {3, 1, 4, 0.06}, {3, 2, 4, 0.08},
             {3, 3, 2, 0.39}, {3, 3, 4, 0.11}, {3, 3, 6, 0.06}, {3, 5, 4, 0.155}})
      for (const Cycle cycle : {Cycle::v, Cycle::w})
      {
        Hierarchy h(test::cubes(e.dim, e.degree, {1, 1, 1}, e.dim == 2 ? 5 : 3, "DD"),
            fourth_kind(e.steps), cycle);
        EXPECT_LT(h.contraction(), e.rate)
            << "dim " << e.dim << ", degree " << e.degree << ", steps " << e.steps << ", cycle "
            << static_cast<int>(cycle);
      }
  }

  TEST(Multigrid, SecondVisitHelps)
  {
    // One step of smoothing leaves much to do: there a W-cycle must be better than a V-cycle.
    for (const int dim : {2, 3})
    {
      const Problem problem = test::cubes(dim, 1, {1, 1, 1}, dim == 2 ? 5 : 3, "DD");
      Hierarchy v(problem, fourth_kind(1), Cycle::v), w(problem, fourth_kind(1), Cycle::w);
      EXPECT_LT(w.contraction(), 0.8 * v.contraction());
    }
  }

  TEST(Multigrid, ContractionDoesNotDependOnTheMesh)
  {
    for (const char *boundary : {"DD", "PPDNDD"})
    {
      double first = 0.;
      for (int refinements = 2; refinements <= 6; ++refinements)
      {
        Hierarchy h(test::cubes(2, 3, {1, 1, 1}, refinements, boundary), fourth_kind(4), Cycle::v);
        const double rate = h.contraction();
        EXPECT_LT(rate, 0.1) << boundary << refinements;
        first = refinements <= 3 ? rate : first;
        EXPECT_LT(rate, 1.15 * first) << boundary << refinements;
      }
    }
  }

  TEST(Multigrid, VCycleIsSymmetricAndPositive)
  {
    for (const char *boundary : {"DD", "NDPP"})
      for (const auto &steps :
          {fourth_kind(3), chebyshev_first_kind(4, 2., 15.), damped_jacobi(2, 0.65)})
        for (const Cycle cycle : {Cycle::v, Cycle::w})
        {
          Hierarchy h(test::box(3, 2, {1, 2, 3}, 2, boundary), steps, cycle);
          const Vector<double> r = h.hashed(1), s = h.hashed(2);
          const Vector<double> vr = h.apply(r), vs = h.apply(s);
          EXPECT_GT(h.space.dot(vr, r), 0.);
          EXPECT_NEAR(h.space.dot(vr, s), h.space.dot(r, vs), 1e-11 * h.space.dot(vr, r));
        }
  }

  TEST(Multigrid, IsLinear)
  {
    Hierarchy h(test::box(2, 3, {3, 2, 1}, 3, "DN"), fourth_kind(3), Cycle::w);
    const Vector<double> r = h.hashed(1), s = h.hashed(2);
    Vector<double> sum = h.hashed(2);
    h.space.axpby(2., r, -0.5, sum);
    Vector<double> expected = h.apply(s);
    h.space.axpby(2., h.apply(r), -0.5, expected);
    EXPECT_LT(test::relative_difference(h.apply(sum), expected), 1e-11);
    // Nothing of an earlier cycle is left.
    EXPECT_EQ(test::relative_difference(h.apply(r), h.apply(r)), 0.);
    h.multigrid->run(1);
    const Vector<double> again = h.apply(r);
    EXPECT_EQ(test::relative_difference(again, h.apply(r)), 0.);
  }

  TEST(Multigrid, OneLevelIsTheDirectSolver)
  {
    for (const Cycle cycle : {Cycle::v, Cycle::w})
    {
      Hierarchy h(test::cubes(3, 3, {3, 2, 4}, 0, "DNPPDD"), fourth_kind(1), cycle);
      const Vector<double> b = h.hashed(1);
      Vector<double> r = h.space.make_vector();
      h.finest().residual(r, h.apply(b), b);
      EXPECT_LT(h.space.norm(r), 1e-11 * h.space.norm(b));
    }
  }

  TEST(Multigrid, SplitResultIsTheSameSum)
  {
    for (const int degree : {1, 3, 4})
      for (const Cycle cycle : {Cycle::v, Cycle::w})
      {
        const Problem problem = test::cubes(2, 3, {1, 1, 1}, 4, "DDNN");
        Hierarchy whole(problem, fourth_kind(degree), cycle),
            split(problem, fourth_kind(degree), cycle, true);
        EXPECT_EQ(whole.multigrid->correction(whole.top()), nullptr);
        const VectorSpace &space = whole.space;
        for (Hierarchy *h : {&whole, &split})
          space.axpby(1., h->hashed(3), 0., h->multigrid->rhs(h->top()));
        // In any order, and always in the same memory.
        const double *x = split.multigrid->solution(split.top()).data();
        const double *d = split.multigrid->correction(split.top())->data();
        for (const bool coarser : {false, true, true, false, false})
        {
          for (Hierarchy *h : {&whole, &split})
          {
            if (coarser)
              h->multigrid->run(h->top() - 1);
            h->multigrid->run(h->top());
          }
          Vector<double> sum = space.make_vector();
          space.axpby(1., split.multigrid->solution(split.top()), 0., sum);
          space.axpby(1., *split.multigrid->correction(split.top()), 1., sum);
          EXPECT_LT(test::relative_difference(sum, whole.multigrid->solution(whole.top())), 1e-12)
              << "degree " << degree << (coarser ? ", after one on a coarser level" : "");
          EXPECT_EQ(split.multigrid->solution(split.top()).data(), x);
          EXPECT_EQ(split.multigrid->correction(split.top())->data(), d);
        }
      }
  }

  TEST(Multigrid, FirstStepMayBeDoneByTheCaller)
  {
    for (const bool split : {false, true})
      for (const int steps : {1, 3, 4})
      {
        Hierarchy h(test::cubes(2, 2, {1, 1, 1}, 3, "DD"), fourth_kind(steps), Cycle::v, split);
        MG &multigrid = *h.multigrid;
        const auto r = h.hashed(3);
        const auto expected = h.apply(r);
        for (int again = 0; again < 2; ++again)
        {
          h.space.axpby(1., r, 0., multigrid.rhs(h.top()));
          h.finest().inverse_diagonal(multigrid.first_iterate(h.top()), multigrid.rhs(h.top()),
              multigrid.first_step(h.top()));
          multigrid.run(h.top(), true);
          EXPECT_EQ(test::relative_difference(multigrid.solution(h.top()), expected), 0.)
              << "split " << split << ", steps " << steps;
        }
      }
    Hierarchy one(test::cubes(2, 2, {1, 1, 1}, 0, "DD"), fourth_kind(2), Cycle::v);
    EXPECT_EQ(one.multigrid->first_step(0), 0.);
  }

  TEST(Multigrid, VisitsEachLevelAsOftenAsItShould)
  {
    const auto visits = [](Hierarchy &h) {
      std::vector<int> counts;
      for (const LevelTimes &level : h.multigrid->times())
      {
        counts.push_back(level.visits);
        EXPECT_GE(level.total(), 0.);
      }
      return counts;
    };
    const Problem problem = test::cubes(2, 2, {1, 1, 1}, 3, "DD");
    Hierarchy v(problem, fourth_kind(2), Cycle::v), w(problem, fourth_kind(2), Cycle::w),
        coarser(problem, fourth_kind(2), Cycle::v);
    v.multigrid->run(3);
    EXPECT_EQ(visits(v), (std::vector<int>{1, 1, 1, 1}));
    w.multigrid->run(3);
    EXPECT_EQ(visits(w), (std::vector<int>{4, 4, 2, 1})) << "the exact solve is not repeated";
    coarser.multigrid->run(1);
    EXPECT_EQ(visits(coarser), (std::vector<int>{1, 1, 0, 0}));
  }
} // namespace
} // namespace tensormg
