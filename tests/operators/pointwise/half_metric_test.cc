// The metric in half precision: what it rounds, where it does not hold the numbers, and the operator in vector code against plain loops with
// the same rounded numbers: odd sizes, poisoned outputs, coefficients of all sizes and with jumps.
#include <gtest/gtest.h>

#include "operators/pointwise/block_levels.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  using test::applied;
  using test::generated;
  using test::Setting;

  /// K times a factor, and in every third block times another.
  Setting with_factors(Setting s, double factor, double of_third)
  {
    s.k = [factor, of_third](std::int64_t block, const test::Point &x) {
      SymmetricTensor k = test::tensor(block, x);
      for (double &number : k)
        number *= factor * (block % 3 == 2 ? of_third : 1.);
      return k;
    };
    return s;
  }
  Setting ring(int degree)
  {
    Setting s = generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", degree, degree < 4 ? 8 : 3);
    s.kind = [](int boundary) { return boundary == 0 ? Side::neumann : Side::dirichlet; };
    return s;
  }
  Setting ball(int degree)
  {
    return generated(3, "hyper_ball", "0,0,0 : 1 : false", degree, degree < 3 ? 2 : 1);
  }

  template <typename Number>
  class HalfMetric : public testing::Test
  {
  protected:
    static constexpr double tolerance = std::is_same_v<Number, float> ? 2e-5 : 2e-3;

    static void compare(const Setting &s)
    {
      SCOPED_TRACE(testing::Message() << s.blocks.dim << "D, degree " << s.degree);
      const test::Numbers u = test::random_numbers(s, 1), b = test::random_numbers(s, 2),
                          old = test::random_numbers(s, 3);
      auto *const cpu = laplace::pointwise_cpu<Number, Half>(s.blocks.dim, s.degree);
      auto *const plain = &laplace::apply_pointwise_reference<Number>;
      const test::Numbers result = applied<Number>(s, u, cpu, nullptr, nullptr, true);
      EXPECT_LT(
          test::relative_difference(result, applied<Number>(s, u, plain, nullptr, nullptr, true)),
          tolerance);
      EXPECT_LT(test::relative_difference(applied<Number>(s, u, cpu, &b, &old, true),
                    applied<Number>(s, u, plain, &b, &old, true)),
          tolerance);
      EXPECT_EQ(result, applied<Number>(s, u, cpu, nullptr, nullptr, true));
    }
  };
  using NumberTypes = testing::Types<float, Half>;
  TYPED_TEST_SUITE(HalfMetric, NumberTypes);

  TYPED_TEST(HalfMetric, EqualsPlainLoopsWithRoundedNumbers)
  {
    for (int degree = 1; degree <= max_degree; ++degree)
    {
      this->compare(degree % 2 == 0 ? test::with_reaction(ring(degree)) : ring(degree));
      if (degree <= 4)
        this->compare(degree == 2 ? test::with_reaction(ball(degree)) : ball(degree));
    }
  }

  TEST(HalfMetricOfCells, TakesNumbersOfAllSizes)
  {
    using Numbers = test::Numbers;
    for (const double factor : {1e-12, 1., 1e12})
      for (const double of_third : {1e-6, 1., 1e6})
        for (const Setting &shape : {ring(3), ball(2)})
        {
          const Setting s = with_factors(shape, factor, of_third);
          const Numbers u = test::random_numbers(s, 1), v = test::random_numbers(s, 2);
          auto *const cpu = laplace::pointwise_cpu<float, Half>(s.blocks.dim, s.degree);
          const Numbers exact = applied<double>(s, u),
                        au = applied<float>(s, u, cpu, nullptr, nullptr, true),
                        av = applied<float>(s, v, cpu, nullptr, nullptr, true);
          EXPECT_LT(test::relative_difference(au, exact), 2e-3);
          EXPECT_GT(test::relative_difference(au, exact), 1e-6) << "nothing was rounded";
          const double size = std::sqrt(test::dot(au, au) * test::dot(v, v));
          EXPECT_NEAR(test::dot(au, v), test::dot(u, av), 1e-6 * size);
          const BlockLevels levels(s.blocks, s.geometry, s.data(), {.degree = 2, .refinements = 1});
          EXPECT_TRUE(levels.levels().back().is_held_by_half);
        }
  }

  TEST(HalfMetricOfCells, DoesNotHoldDirectionsThatNearlyCancel)
  {
    const auto holds = [](double across) {
      Setting s = generated(2, "hyper_ball", "0,0 : 1 : false", 2, 2);
      s.k = [across](std::int64_t, const test::Point &) {
        return SymmetricTensor{0.5 * (1. + across), 0.5 * (1. + across), 1., 0.5 * (1. - across),
            0., 0.}; // turned by 45 degrees
      };
      const BlockLevels levels(s.blocks, s.geometry, s.data(), {.degree = 2, .refinements = 1});
      return levels.levels().back().is_held_by_half;
    };
    EXPECT_TRUE(holds(0.1));
    EXPECT_FALSE(holds(1e-4));
  }
} // namespace
} // namespace tensormg
