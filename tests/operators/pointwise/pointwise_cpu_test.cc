// The operator on curved cells in vector code against the plain loops: every degree, both dimensions and number type, blocks with few and many
// cells, rows with padding, poisoned outputs.
#include <gtest/gtest.h>

#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  using test::applied;
  using test::generated;
  using test::Setting;

  template <typename Number>
  class PointwiseCpu : public testing::Test
  {
  protected:
    static constexpr double tolerance = std::is_same_v<Number, double> ? 1e-12
        : std::is_same_v<Number, float>                                ? 2e-5
                                                                       : 2e-3;
    static void compare(const Setting &s)
    {
      SCOPED_TRACE(testing::Message()
          << s.blocks.dim << "D, degree " << s.degree << ", " << s.level.per_direction
          << " cells in a block of " << s.blocks.n_blocks());
      const test::Numbers u = test::random_numbers(s, 1), b = test::random_numbers(s, 2),
                          old = test::random_numbers(s, 3);
      auto *const cpu = laplace::pointwise_cpu<Number>(s.blocks.dim, s.degree);
      EXPECT_LT(
          test::relative_difference(applied<Number>(s, u, cpu), applied<Number>(s, u)), tolerance);
      EXPECT_LT(test::relative_difference(applied<Number>(s, u, cpu, &b),
                    applied<Number>(s, u, &laplace::apply_pointwise_reference<Number>, &b)),
          tolerance);
      EXPECT_LT(test::relative_difference(applied<Number>(s, u, cpu, &b, &old),
                    applied<Number>(s, u, &laplace::apply_pointwise_reference<Number>, &b, &old)),
          tolerance);
      EXPECT_EQ(applied<Number>(s, u, cpu), applied<Number>(s, u, cpu));
    }
    static Side mixed(int boundary) { return boundary == 0 ? Side::neumann : Side::dirichlet; }
  };
  using NumberTypes = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(PointwiseCpu, NumberTypes);

  TYPED_TEST(PointwiseCpu, EqualsPlainLoops)
  {
    for (int degree = 1; degree <= max_degree; ++degree)
    {
      // 15 and 40 cells in a row: full vectors, half ones, padding.
      Setting ring =
          generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", degree, degree < 4 ? 8 : 3);
      ring.kind = TestFixture::mixed;
      this->compare(degree % 2 == 0 ? test::with_reaction(ring) : ring);
      this->compare(generated(2, "hyper_ball", "0,0 : 1 : false", degree, 2));
      if (degree <= 4 || std::is_same_v<TypeParam, double>)
        this->compare(generated(3, "hyper_ball", "0,0,0 : 1 : false", degree, degree < 4 ? 2 : 1));
    }
    Setting shell = generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 2, 3);
    shell.kind = TestFixture::mixed;
    this->compare(shell);
    this->compare(test::with_reaction(shell));
  }
} // namespace
} // namespace tensormg
