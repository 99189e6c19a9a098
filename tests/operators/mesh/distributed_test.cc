// Whatever is computed on several ranks is what one rank computes, to rounding.
// ranks: 1 2 3 4
#include <cmath>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/box_solver.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/transfer_operator.h"
#include "operators/multigrid/eigenvalue_estimate.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/vector_space.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using test::difference_to_serial, test::hashed_vector;

  // Cell counts that 2, 3 and 4 do not divide; slabs in z, blocks in y and z, one rank as both
  // neighbours of another (two ranks, periodic), hierarchies with a replicated end.
  struct Case
  {
    int dim;
    int degree;
    std::array<std::int64_t, 3> coarse;
    int refinements;
    const char *boundary;
  };
  const Case cases[] = {
      {3, 2, {3, 5, 7}, 0, "DNPPPP"},
      {3, 3, {9, 5, 2}, 1, "PPDDNN"},
      {3, 1, {2, 4, 3}, 0, "DDPPNN"},
      {3, 1, {5, 3, 5}, 2, "PPDNPP"},
      {3, 2, {1, 1, 5}, 3, "DDNNDD"},
      {2, 3, {9, 7, 1}, 0, "PP"},
      {2, 4, {5, 13, 1}, 1, "DDND"},
      {2, 4, {5, 9, 1}, 4, "NNPP"},
      {3, 3, {7, 5, 17}, 1, "DNDDPP"},
  };

  template <typename Number>
  double tolerance()
  {
    return std::is_same_v<Number, double> ? 1e-12 : std::is_same_v<Number, float> ? 1e-6 : 1e-3;
  }

  /// The same box on all ranks together and on this rank alone.
  struct Pair
  {
    Problem problem;
    CellBasis basis;
    Grid shared, serial;
    explicit Pair(const Case &c)
      : problem(test::box(c.dim, c.degree, c.coarse, c.refinements, c.boundary))
      , basis(make_cell_basis(c.degree))
      , shared(make_grid(problem, MPI_COMM_WORLD))
      , serial(make_grid(problem, MPI_COMM_SELF))
    {}
  };

  template <typename Function>
  void for_each_case(Function &&f)
  {
    for (const Case &c : cases)
    {
      SCOPED_TRACE(testing::Message()
          << "dim " << c.dim << ", degree " << c.degree << ", coarse cells " << c.coarse[0] << " x "
          << c.coarse[1] << " x " << c.coarse[2] << ", refinements " << c.refinements << ", "
          << c.boundary);
      f(Pair(c));
    }
  }

  TEST(Distributed, IsReallyDistributed)
  {
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    int below = 0; // distributed levels that are not the finest
    for_each_case([&](const Pair &pair) {
      EXPECT_EQ(pair.shared.finest().communicator == MPI_COMM_SELF, n_ranks == 1);
      if (pair.shared.levels.size() > 1)
        below += pair.shared.levels[pair.shared.levels.size() - 2].communicator != MPI_COMM_SELF;
    });
    EXPECT_EQ(below > 0, n_ranks > 1) << "no case with two distributed levels";
  }

  template <typename Number>
  class DistributedOperator : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(DistributedOperator, Numbers);

  TYPED_TEST(DistributedOperator, EveryForm)
  {
    using V = Vector<TypeParam>;
    for_each_case([](const Pair &pair) {
      for (const Backend backend : {Backend::cpu, Backend::reference})
      {
        if (backend == Backend::reference && pair.serial.finest().global_dofs() > 20000)
          continue;
        const LevelGrid &level = pair.shared.finest(), &whole = pair.serial.finest();
        LaplaceOperator<TypeParam> op(level, pair.basis, backend), one(whole, pair.basis, backend);
        const V u = hashed_vector<TypeParam>(level, 1), b = hashed_vector<TypeParam>(level, 2),
                old = hashed_vector<TypeParam>(level, 3);
        const V u1 = hashed_vector<TypeParam>(whole, 1), b1 = hashed_vector<TypeParam>(whole, 2),
                old1 = hashed_vector<TypeParam>(whole, 3);
        V y = op.make_vector(), y1 = one.make_vector();
        const auto expect_same = [&](const char *what) {
          EXPECT_LT(difference_to_serial(level, y, whole, y1), tolerance<TypeParam>()) << what;
          EXPECT_TRUE(test::padding_is_zero(y));
          test::poison(y);
        };
        test::poison(y);
        op.vmult(y, u);
        one.vmult(y1, u1);
        expect_same("vmult");
        op.residual(y, u, b);
        one.residual(y1, u1, b1);
        expect_same("residual");
        op.chebyshev_step(y, u, &old, b, 0.3, 0.9);
        one.chebyshev_step(y1, u1, &old1, b1, 0.3, 0.9);
        expect_same("chebyshev_step");
        op.chebyshev_step(y, u, nullptr, b, 0.3, 0.9);
        one.chebyshev_step(y1, u1, nullptr, b1, 0.3, 0.9);
        expect_same("chebyshev_step from zero");
        op.inverse_diagonal(y, b, 1.3);
        one.inverse_diagonal(y1, b1, 1.3);
        expect_same("inverse_diagonal");
      }
    });
  }

  TYPED_TEST(DistributedOperator, Transfer)
  {
    for_each_case([](const Pair &pair) {
      for (std::size_t l = 1; l < pair.shared.levels.size(); ++l)
      {
        SCOPED_TRACE(testing::Message() << "level " << l);
        const LevelGrid &fine = pair.shared.levels[l], &coarse = pair.shared.levels[l - 1];
        const LevelGrid &fine1 = pair.serial.levels[l], &coarse1 = pair.serial.levels[l - 1];
        TransferOperator<TypeParam> transfer(fine, coarse, pair.basis, Backend::cpu);
        TransferOperator<TypeParam> serial(fine1, coarse1, pair.basis, Backend::cpu);
        auto u = hashed_vector<TypeParam>(fine, 1);
        auto u1 = hashed_vector<TypeParam>(fine1, 1);
        Vector<TypeParam> v(coarse.block), v1(coarse1.block);
        test::poison(v);
        transfer.restrict_to(v, u, 1.5);
        serial.restrict_to(v1, u1, 1.5);
        EXPECT_LT(difference_to_serial(coarse, v, coarse1, v1), tolerance<TypeParam>());
        EXPECT_TRUE(test::padding_is_zero(v));
        for (const bool add : {true, false})
        {
          if (!add)
            test::poison(u);
          transfer.prolongate(u, hashed_vector<TypeParam>(coarse, 2), 0.5, add);
          serial.prolongate(u1, hashed_vector<TypeParam>(coarse1, 2), 0.5, add);
          EXPECT_LT(difference_to_serial(fine, u, fine1, u1), tolerance<TypeParam>());
          EXPECT_TRUE(test::padding_is_zero(u));
          auto d = hashed_vector<TypeParam>(fine, 3), d1 = hashed_vector<TypeParam>(fine1, 3);
          const auto rest = hashed_vector<TypeParam>(coarse, 4);
          const auto rest1 = hashed_vector<TypeParam>(coarse1, 4);
          transfer.prolongate_pair(u, d, hashed_vector<TypeParam>(coarse, 2), &rest, 0.5, add, add);
          serial.prolongate_pair(
              u1, d1, hashed_vector<TypeParam>(coarse1, 2), &rest1, 0.5, add, add);
          EXPECT_LT(difference_to_serial(fine, u, fine1, u1), tolerance<TypeParam>());
        }
      }
    });
  }

  TYPED_TEST(DistributedOperator, BoxSolver)
  {
    for_each_case([](const Pair &pair) {
      for (std::size_t l = 0; l < pair.shared.levels.size(); ++l)
      {
        const LevelGrid &level = pair.shared.levels[l], &whole = pair.serial.levels[l];
        if (level.global_dofs() > 40000)
          continue;
        SCOPED_TRACE(testing::Message() << "level " << l);
        tensormg::BoxSolver solver(level, pair.basis, pair.problem),
            one(whole, pair.basis, pair.problem);
        Vector<TypeParam> x(level.block), x1(whole.block);
        test::poison(x);
        solver.solve(x, hashed_vector<TypeParam>(level, 5));
        one.solve(x1, hashed_vector<TypeParam>(whole, 5));
        EXPECT_LT(difference_to_serial(level, x, whole, x1), tolerance<TypeParam>());
        EXPECT_TRUE(test::padding_is_zero(x));
      }
    });
  }

  TEST(Distributed, SumsAndEigenvalues)
  {
    for_each_case([](const Pair &pair) {
      for (std::size_t l = 0; l < pair.shared.levels.size(); ++l)
      {
        const LevelGrid &level = pair.shared.levels[l], &whole = pair.serial.levels[l];
        const VectorSpace space(level.block, level.communicator),
            one(whole.block, whole.communicator);
        const auto x = hashed_vector<double>(level, 1), y = hashed_vector<double>(level, 2);
        const auto x1 = hashed_vector<double>(whole, 1), y1 = hashed_vector<double>(whole, 2);
        EXPECT_NEAR(space.dot(x, y), one.dot(x1, y1), 1e-13 * one.dot(x1, x1));
        EXPECT_NEAR(space.norm(x), one.norm(x1), 1e-13 * one.norm(x1));
        LaplaceOperator<double> op(level, pair.basis, Backend::cpu),
            op1(whole, pair.basis, Backend::cpu);
        // Few steps: later ones amplify rounding.
        EXPECT_NEAR(estimate_lambda_max(op, 12), estimate_lambda_max(op1, 12), 1e-12);
      }
    });
  }

  /// Where a level starts from a large smooth iterate (W-cycle, full multigrid), the rounding of
  /// its residual is amplified by the condition number: `repeated` is the tolerance there,
  /// `single_visit` that of a V-cycle.
  void expect_same_preconditioner(Precision precision, double single_visit, double repeated)
  {
    for_each_case([=](const Pair &pair) {
      MultigridOptions options;
      options.precision = precision;
      for (const Cycle cycle : {Cycle::v, Cycle::w})
      {
        options.cycle = cycle;
        const auto mg = make_multigrid(pair.shared, pair.basis, Backend::cpu, options);
        const auto mg1 = make_multigrid(pair.serial, pair.basis, Backend::cpu, options);
        EXPECT_NEAR(mg->lambda_max(), mg1->lambda_max(), 1e-12);
        const LevelGrid &level = pair.shared.finest(), &whole = pair.serial.finest();
        Vector<double> z(level.block), z1(whole.block);
        const auto r = hashed_vector<double>(level, 1), r1 = hashed_vector<double>(whole, 1);
        const double norm = VectorSpace(whole.block, whole.communicator).norm(r1);
        mg->apply(z, r, norm);
        mg1->apply(z1, r1, norm);
        EXPECT_LT(
            difference_to_serial(level, z, whole, z1), cycle == Cycle::v ? single_visit : repeated);
        mg->full_start(z, r, 2);
        mg1->full_start(z1, r1, 2);
        EXPECT_LT(difference_to_serial(level, z, whole, z1), repeated) << "full multigrid";
      }
    });
  }
  TEST(Distributed, MultigridDouble)
  {
    expect_same_preconditioner(Precision::double_precision, 1e-13, 1e-10);
  }
  TEST(Distributed, MultigridSingle)
  {
    expect_same_preconditioner(Precision::single_precision, 1e-5, 2e-2);
  }
  TEST(Distributed, MultigridHalf)
  {
    expect_same_preconditioner(Precision::half_precision, 2e-2, 5e-2);
  }
} // namespace
} // namespace tensormg
