// Vector arithmetic over all ranks, every result is that of plain loops over the global vector.
// ranks: 1 2 3
#include "operators/vectors/vector_space.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  /// The global vector by its definition, on every rank.
  std::vector<double> global(const LevelGrid &level, unsigned seed)
  {
    std::vector<double> v(static_cast<std::size_t>(level.global_dofs()));
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = test::hashed(static_cast<std::int64_t>(i), seed);
    return v;
  }

  double dot(const std::vector<double> &x, const std::vector<double> &y)
  {
    long double sum = 0.;
    for (std::size_t i = 0; i < x.size(); ++i)
      sum += static_cast<long double>(x[i]) * y[i];
    return static_cast<double>(sum);
  }

  const Problem problems[] = {test::box(3, 2, {5, 3, 7}, 0, "DN"),
      test::box(2, 3, {9, 11, 1}, 0, "PP"), test::box(3, 1, {1, 1, 1}, 0, "DD"),
      test::box(3, 2, {3, 1, 2}, 2, "PPND")};

  class VectorSpaceOfBox : public testing::TestWithParam<int>
  {
  protected:
    const Grid grid = make_grid(problems[GetParam()], MPI_COMM_WORLD);
    const LevelGrid &level = grid.finest();
    const VectorSpace space{level.block, level.communicator};
    const double n = static_cast<double>(level.global_dofs());
    /// Expects the local part of `found` to be that of `expected`.
    template <typename Number>
    void expect_equal(
        const Vector<Number> &found, const std::vector<double> &expected, double tolerance)
    {
      test::for_each_global(level, [&](std::int64_t at, std::int64_t i) {
        ASSERT_NEAR(test::to_double(found[at]), expected[static_cast<std::size_t>(i)], tolerance);
      });
    }
  };
  INSTANTIATE_TEST_SUITE_P(Boxes, VectorSpaceOfBox, testing::Range(0, 4));

  TEST_P(VectorSpaceOfBox, DotAndNorm)
  {
    const auto x = test::hashed_vector<double>(level, 1), y = test::hashed_vector<double>(level, 2);
    const auto gx = global(level, 1), gy = global(level, 2);
    EXPECT_NEAR(space.dot(x, y), dot(gx, gy), 1e-15 * n);
    EXPECT_NEAR(space.norm(x), std::sqrt(dot(gx, gx)), 1e-15 * n);
    EXPECT_EQ(space.norm(space.make_vector()), 0.);
    EXPECT_EQ(space.make_vector().block(), level.block);
  }

  TEST_P(VectorSpaceOfBox, MultiDotAndMultiUpdate)
  {
    std::vector<Vector<double>> v;
    for (unsigned i = 0; i < 5; ++i)
      v.push_back(test::hashed_vector<double>(level, 10 + i));
    for (const int count : {0, 1, 2, 5})
    {
      auto w = test::hashed_vector<double>(level, 3);
      auto expected = global(level, 3);
      const std::vector<double> dots = space.multi_dot(v, count, w);
      ASSERT_EQ(static_cast<int>(dots.size()), count + 1);
      EXPECT_NEAR(dots[count], dot(expected, expected), 1e-15 * n);
      std::vector<double> c;
      for (int i = 0; i < count; ++i)
      {
        const auto vi = global(level, 10 + i);
        EXPECT_NEAR(dots[i], dot(vi, expected), 1e-15 * n);
        c.push_back(0.5 - 0.3 * i);
      }
      for (int i = 0; i < count; ++i)
      {
        const auto vi = global(level, 10 + i);
        for (std::size_t at = 0; at < expected.size(); ++at)
          expected[at] += c[i] * vi[at];
      }
      // More vectors than coefficients: the rest is not touched.
      const double norm = space.multi_update_later(c, v, w);
      expect_equal(w, expected, 1e-14);
      EXPECT_NEAR(norm, dot(expected, expected), 1e-14 * n);
    }
  }

  TEST_P(VectorSpaceOfBox, BasisInSinglePrecision)
  {
    using V = VectorSpace::WideFloatVector;
    std::vector<V> v;
    for (unsigned i = 0; i < 3; ++i)
      v.push_back(test::hashed_vector<WideFloat>(level, 10 + i));
    auto w = test::hashed_vector<WideFloat>(level, 3);
    auto x = test::hashed_vector<double>(level, 4);
    auto sum = global(level, 3), expected_x = global(level, 4);
    const std::vector<double> dots = space.multi_dot(v, 3, w), c{0.5, -0.25, 1.};
    for (double &value : sum)
      value *= 2.;
    for (unsigned i = 0; i < 3; ++i)
    {
      const auto vi = global(level, 10 + i);
      EXPECT_NEAR(dots[i], dot(vi, global(level, 3)), 1e-7 * n);
      for (std::size_t at = 0; at < sum.size(); ++at)
      {
        sum[at] += c[i] * vi[at];
        expected_x[at] += c[i] * vi[at];
      }
    }
    const double norm = space.multi_update_later(c, v, w, 2.);
    space.add_combination(c, v, x);
    expect_equal(w, sum, 1e-6);
    expect_equal(x, expected_x, 3e-7);
    EXPECT_NEAR(norm, dot(sum, sum), 1e-6 * norm);
    EXPECT_NEAR(space.multi_dot(v, 0, w)[0], norm, 1e-14 * norm);

    auto rounded = space.make_vector<V>();
    test::poison(rounded);
    const auto y = test::hashed_vector<double>(level, 5);
    const auto gy = global(level, 5);
    EXPECT_NEAR(space.convert_with_norm(0.5, y, rounded), 0.5 * std::sqrt(dot(gy, gy)), 1e-14 * n);
    for (std::size_t at = 0; at < sum.size(); ++at)
      sum[at] = 0.5 * gy[at];
    expect_equal(rounded, sum, 0x1p-25);
  }

  TEST_P(VectorSpaceOfBox, AxpbyAndCgUpdate)
  {
    const auto p = test::hashed_vector<double>(level, 1), q = test::hashed_vector<double>(level, 2);
    auto x = test::hashed_vector<double>(level, 3), r = test::hashed_vector<double>(level, 4);
    const auto gp = global(level, 1), gq = global(level, 2);
    auto gx = global(level, 3), gr = global(level, 4);
    const double nothing = space.cg_update(VectorSpace::quotient(1., -0.3, -1.), 0.5, p, q, x, r);
    expect_equal(x, gx, 0.);
    expect_equal(r, gr, 0.);
    EXPECT_NEAR(nothing, dot(gr, gr), 1e-15 * n);
    const double norm = space.cg_update(VectorSpace::quotient(0.5, 1.2, 2.), 0.5, p, q, x, r);
    for (std::size_t i = 0; i < gx.size(); ++i)
    {
      gx[i] += 0.15 * gp[i];
      gr[i] -= 0.3 * gq[i];
    }
    expect_equal(x, gx, 1e-15);
    expect_equal(r, gr, 1e-15);
    EXPECT_NEAR(norm, dot(gr, gr), 1e-15 * n);
    space.axpby(2., p, VectorSpace::quotient(-0.5, 3., 3.), x);
    for (std::size_t i = 0; i < gx.size(); ++i)
      gx[i] = 2. * gp[i] - 0.5 * gx[i];
    expect_equal(x, gx, 1e-15);
    test::poison(x);
    space.axpby(2., p, 0., x);
    for (std::size_t i = 0; i < gx.size(); ++i)
      gx[i] = 2. * gp[i];
    expect_equal(x, gx, 0.);
  }

  TEST_P(VectorSpaceOfBox, MaxAbsIsTheSameOnEveryRank)
  {
    auto x = test::hashed_vector<double>(level, 1);
    double expected = 0.;
    for (const double value : global(level, 1))
      expected = std::max(expected, std::abs(value));
    EXPECT_EQ(space.max_abs(x), expected);
    Vector<Half> half(level.block);
    Vector<float> single(level.block);
    space.convert(1., x, half);
    space.convert(1., x, single);
    EXPECT_NEAR(space.max_abs(half), expected, 1e-3);
    EXPECT_NEAR(space.max_abs(single), expected, 1e-7);
    // One bad entry, the last one of the whole box, is seen by all ranks.
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(),
             -std::numeric_limits<double>::infinity()})
    {
      test::for_each_global(level, [&](std::int64_t at, std::int64_t i) {
        if (i == level.global_dofs() - 1)
          x[at] = bad;
      });
      EXPECT_EQ(space.max_abs(x), std::numeric_limits<double>::infinity());
      space.convert(1., x, half);
      space.convert(1., x, single);
      EXPECT_EQ(space.max_abs(half), std::numeric_limits<double>::infinity());
      EXPECT_EQ(space.max_abs(single), std::numeric_limits<double>::infinity());
      EXPECT_FALSE(std::isfinite(space.norm(x)));
    }
  }

  TEST_P(VectorSpaceOfBox, ConvertsThereAndBack)
  {
    const auto x = test::hashed_vector<double>(level, 1);
    const auto gx = global(level, 1);
    Vector<Half> half(level.block);
    Vector<float> single(level.block);
    Vector<double> back(level.block);
    space.convert(4., x, half);
    space.convert(0.25, half, back);
    expect_equal(back, gx, 0x1p-11);
    space.convert(4., x, single);
    space.convert(0.25, single, back);
    expect_equal(back, gx, 0x1p-24);
    space.convert(1., x, back);
    expect_equal(back, gx, 0.);
    EXPECT_TRUE(test::padding_is_zero(half) && test::padding_is_zero(single));
  }
} // namespace
} // namespace tensormg
