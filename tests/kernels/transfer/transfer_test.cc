// The transfer: cpu against reference, adjointness, exactness on polynomials of the coarse space.
#include "kernels/transfer/transfer.h"

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> coarse;
    std::array<bool, 3> halved{true, true, true};
  };
  const Case cases[] = {{3, {1, 1, 1}}, {3, {3, 2, 1}}, {3, {9, 1, 2}}, {2, {5, 3, 1}},
      {2, {20, 2, 1}}, {2, {156, 2, 1}}, {2, {764, 1, 1}},
      // Semicoarsening, more than a chunk of numbers in a plane among them.
      {3, {3, 2, 1}, {true, false, false}}, {3, {9, 1, 2}, {false, true, false}},
      {3, {9, 2, 3}, {false, false, true}}, {3, {3, 2, 1}, {true, true, false}},
      {3, {9, 3, 1}, {true, false, true}}, {3, {1, 1, 1}, {false, true, true}},
      {2, {5, 3, 1}, {true, false, false}}, {2, {156, 2, 1}, {true, false, false}},
      {2, {20, 3, 1}, {false, true, false}}};

  Block fine_block(const Case &c, int degree)
  {
    std::array<std::int64_t, 3> cells = c.coarse;
    for (int d = 0; d < c.dim; ++d)
      cells[d] *= c.halved[d] ? 2 : 1;
    return Block(c.dim, degree, cells);
  }

  template <typename Number>
  class TransferTest : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(TransferTest, Numbers);

  TYPED_TEST(TransferTest, CpuEqualsReference)
  {
    const double tolerance = std::is_same_v<TypeParam, double> ? 1e-14
        : std::is_same_v<TypeParam, float>                     ? 2e-6
                                                               : 2e-3;
    for (const Case &c : cases)
      for (int degree = 1; degree <= (c.dim == 2 ? max_degree : 4); ++degree)
      {
        SCOPED_TRACE(testing::Message() << "dim " << c.dim << " degree " << degree);
        const CellBasis basis = make_cell_basis(degree);
        const Block coarse(c.dim, degree, c.coarse), fine = fine_block(c, degree);
        const auto u = test::random_vector<TypeParam>(coarse, 1);
        for (const bool add : {false, true})
        {
          auto expected = test::random_vector<TypeParam>(fine, 2);
          auto found = test::random_vector<TypeParam>(fine, 2);
          if (!add)
          {
            test::poison(expected);
            test::poison(found);
          }
          transfer::prolongate_reference<TypeParam>(
              {fine, coarse, &basis, 1.5, add, u.data(), expected.data()});
          transfer::prolongate_cpu<TypeParam>(
              {fine, coarse, &basis, 1.5, add, u.data(), found.data()});
          EXPECT_LT(test::relative_difference(found, expected), tolerance);
          EXPECT_TRUE(test::padding_is_zero(found));
        }
        const auto r = test::random_vector<TypeParam>(fine, 3);
        Vector<TypeParam> expected(coarse), found(coarse);
        test::poison(expected);
        test::poison(found);
        transfer::restrict_reference<TypeParam>(
            {fine, coarse, &basis, 0.75, r.data(), expected.data()});
        transfer::restrict_cpu<TypeParam>({fine, coarse, &basis, 0.75, r.data(), found.data()});
        EXPECT_LT(test::relative_difference(found, expected), tolerance);
        EXPECT_TRUE(test::padding_is_zero(found));
      }
  }

  template <typename Number>
  Vector<double> sum_of(const Block &block, const Vector<Number> &x, const Vector<Number> &d)
  {
    Vector<double> sum(block);
    for (std::int64_t i = 0; i < sum.size(); ++i)
      sum[i] = static_cast<double>(static_cast<Compute<Number>>(x[i])) +
          static_cast<double>(static_cast<Compute<Number>>(d[i]));
    return sum;
  }

  TYPED_TEST(TransferTest, PairsKeepWhatRoundingTakesAway)
  {
    // In binary16, 5e-6 is finer than one number and coarser than two.
    const double tolerance = std::is_same_v<TypeParam, double> ? 1e-14 : 5e-6;
    for (const Case &c : cases)
      for (int degree = 1; degree <= (c.dim == 2 ? max_degree : 4); ++degree)
        for (const auto &[add, add_rest] :
            {std::pair{false, false}, std::pair{true, false}, std::pair{true, true}})
        {
          SCOPED_TRACE(testing::Message() << "dim " << c.dim << " degree " << degree << add_rest);
          const CellBasis basis = make_cell_basis(degree);
          const Block coarse(c.dim, degree, c.coarse), fine = fine_block(c, degree);
          const auto u = test::random_vector<TypeParam>(coarse, 1),
                     rest = test::random_vector<TypeParam>(coarse, 4);
          Vector<TypeParam> x[2], d[2];
          for (int k = 0; k < 2; ++k)
          {
            x[k] = test::random_vector<TypeParam>(fine, 2);
            d[k] = test::random_vector<TypeParam>(fine, 3);
            if (!add)
              test::poison(x[k]);
            if (!add_rest)
              test::poison(d[k]);
          }
          transfer::prolongate_reference<TypeParam>({fine, coarse, &basis, 1.5, add, u.data(),
              x[0].data(), rest.data(), d[0].data(), add_rest});
          transfer::prolongate_cpu<TypeParam>({fine, coarse, &basis, 1.5, add, u.data(),
              x[1].data(), rest.data(), d[1].data(), add_rest});
          EXPECT_LT(test::relative_difference(sum_of(fine, x[1], d[1]), sum_of(fine, x[0], d[0])),
              tolerance);
          EXPECT_LT(test::relative_difference(x[1], x[0]), 2e-3);
          EXPECT_TRUE(test::padding_is_zero(x[1]) && test::padding_is_zero(d[1]));
        }
  }

  TEST(Transfer, RestrictionIsAdjointAndLeftInverse)
  {
    for (const Case &c : cases)
    {
      const int degree = 3;
      const CellBasis basis = make_cell_basis(degree);
      const Block coarse(c.dim, degree, c.coarse), fine = fine_block(c, degree);
      const auto u = test::random_vector<double>(coarse, 1),
                 w = test::random_vector<double>(fine, 2);
      Vector<double> pu(fine), rw(coarse), rpu(coarse);
      transfer::prolongate_cpu<double>({fine, coarse, &basis, 1., false, u.data(), pu.data()});
      transfer::restrict_cpu<double>({fine, coarse, &basis, 1., w.data(), rw.data()});
      transfer::restrict_cpu<double>({fine, coarse, &basis, 1., pu.data(), rpu.data()});
      double left = 0., right = 0., norm = 0.;
      for (std::int64_t at = 0; at < fine.size(); ++at)
        left += pu[at] * w[at];
      for (std::int64_t at = 0; at < coarse.size(); ++at)
      {
        right += u[at] * rw[at];
        norm += std::abs(u[at] * rw[at]);
      }
      EXPECT_NEAR(left, std::pow(2., transfer::n_halved(fine, coarse)) * right, 1e-12 * norm);
      EXPECT_LT(test::relative_difference(rpu, u), 1e-13);
    }
  }
} // namespace
} // namespace tensormg
