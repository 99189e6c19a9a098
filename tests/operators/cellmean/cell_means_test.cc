// The operator with one metric per cell against that with metrics at points, and vector code against plain loops: blocks joined at random, with every
// orientation, closed sides, every degree, rows with padding, poisoned outputs.
#include <gtest/gtest.h>

#include "tests/operators/cellmean/joined.h"

namespace tensormg
{
namespace
{
  using test::difference;
  using test::Joined;
  using test::random_numbers;

  void compare_with_points(const Joined &s)
  {
    const Vector<double> u = random_numbers(s.block, 1);
    EXPECT_LT(difference(s.applied(&laplace::apply_cell_mean_reference<double>, u), s.at_points(u)),
        1e-12);
    const MetricVariation variation = metric_variation(s.block, s.tables, s.points(), s.means);
    EXPECT_LT(variation.within, 1. + 1e-12);
    EXPECT_LT(variation.deviation, 1e-12);
  }

  TEST(CellMeans, EqualPointsWithTheSameMetric)
  {
    for (int dim : {2, 3})
      for (int degree : {1, 2, 3, 6})
        compare_with_points(Joined(dim, degree, degree < 3 ? 2 : 1, 3, 5));
  }

  TEST(CellMeans, EqualPointsInEveryOrientation)
  {
    for (int dim : {2, 3})
      for (int side = 0; side < 2 * dim; ++side)
        for (int other = 0; other < 2 * dim; ++other)
          for (int map = 0; map < n_face_maps(dim); ++map)
          {
            SCOPED_TRACE(testing::Message()
                << dim << "D, side " << side << " at side " << other << ", orientation " << map);
            compare_with_points(Joined(dim, 2, 2, std::array{side, other}, face_map(map)));
          }
  }

  TEST(CellMeans, AreSymmetric)
  {
    for (int dim : {2, 3})
    {
      const Joined s(dim, 3, 2, 4, 7);
      const Vector<double> u = random_numbers(s.block, 1), v = random_numbers(s.block, 2);
      const auto apply = laplace::cell_mean_cpu<double>(dim, 3);
      const Vector<double> of_u = s.applied(apply, u), of_v = s.applied(apply, v);
      double vu = 0., uv = 0., uu = 0.;
      for (std::int64_t at = 0; at < u.size(); ++at)
      {
        vu += v[at] * of_u[at];
        uv += u[at] * of_v[at];
        uu += u[at] * of_u[at];
      }
      EXPECT_NEAR(vu, uv, 1e-12 * uu);
    }
  }

  template <typename Number>
  class CellMeansCpu : public testing::Test
  {
  protected:
    static void compare(const Joined &s)
    {
      constexpr double tolerance = std::is_same_v<Number, double> ? 1e-12
          : std::is_same_v<Number, float>                         ? 2e-5
                                                                  : 2e-3;
      SCOPED_TRACE(testing::Message()
          << s.block.dim << "D, degree " << s.block.degree() << ", " << s.block.cells[0]
          << " cells in a row of " << s.block.cells[1] << " rows");
      const auto u = random_numbers<Number>(s.block, 1), b = random_numbers<Number>(s.block, 2),
                 old = random_numbers<Number>(s.block, 3);
      auto *const cpu = laplace::cell_mean_cpu<Number>(s.block.dim, s.block.degree());
      auto *const plain = &laplace::apply_cell_mean_reference<Number>;
      EXPECT_LT(difference(s.applied(cpu, u), s.applied(plain, u)), tolerance);
      EXPECT_LT(difference(s.applied(cpu, u, &b), s.applied(plain, u, &b)), tolerance);
      EXPECT_LT(difference(s.applied(cpu, u, &b, &old), s.applied(plain, u, &b, &old)), tolerance);
      EXPECT_EQ(difference(s.applied(cpu, u), s.applied(cpu, u)), 0.);
    }
  };
  using NumberTypes = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(CellMeansCpu, NumberTypes);

  TYPED_TEST(CellMeansCpu, EqualsPlainLoops)
  {
    for (int degree = 1; degree <= max_degree; ++degree)
    {
      // 15 and 40 cells in a row: full vectors, half ones, padding; and blocks of one cell.
      this->compare(Joined(2, degree, degree % 2 == 0 ? 8 : 3, 5, 11));
      this->compare(Joined(3, degree, degree < 3 ? 3 : 1, degree < 3 ? 5 : 9, 13));
    }
    this->compare(Joined(3, 2, 5, 1, 17));
    this->compare(Joined(2, 2, 33, 1, 17));
    this->compare(Joined(2, 1, 1, 37, 19));
  }
} // namespace
} // namespace tensormg
