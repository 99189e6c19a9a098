// The vector kernels against plain loops in long double: sizes around every block length, each
// number type, NaN and Inf, arrays that may be the same.
#include "kernels/vector/vector.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "tests/support/vector_lines.h"

namespace tensormg
{
namespace
{
  namespace vk = vector_kernels;
  using test::line;
  using test::random_line;
  using test::to_double;
  using test::unit_roundoff;

  // Multiples of row_granularity: one and two registers, the blocks of 2048 and 4096, their
  // neighbours.
  const std::int64_t sizes[] = {8, 16, 24, 40, 2040, 2048, 2056, 4096, 4104, 6152, 12296};

  template <typename Number>
  class VectorKernels : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(VectorKernels, Numbers);

  TYPED_TEST(VectorKernels, Dot)
  {
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<TypeParam>(size, 1), y = random_line<TypeParam>(size, 2);
      long double sum = 0., squares = 0.;
      for (std::int64_t i = 0; i < size; ++i)
      {
        sum += static_cast<long double>(to_double(x[i])) * to_double(y[i]);
        squares += static_cast<long double>(to_double(x[i])) * to_double(x[i]);
      }
      EXPECT_NEAR(vk::dot(size, x.data(), y.data()), static_cast<double>(sum), 1e-15 * size);
      EXPECT_NEAR(vk::dot(size, x.data(), x.data()), static_cast<double>(squares), 1e-15 * size);
    }
  }

  TYPED_TEST(VectorKernels, MaxAbsSeesEveryEntry)
  {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const std::int64_t size : {std::int64_t(8), std::int64_t(24), std::int64_t(4104)})
    {
      auto x = random_line<TypeParam>(size, 3);
      EXPECT_LE(vk::max_abs(size, x.data()), 1.);
      for (const std::int64_t at : {std::int64_t(0), std::int64_t(5), size / 2 + 1, size - 1})
      {
        const TypeParam kept = x[at];
        const auto with = [&](double value) {
          x[at] = test::from_double<TypeParam>(value);
          const double found = vk::max_abs(size, x.data());
          x[at] = kept;
          return found;
        };
        EXPECT_EQ(with(-3.5), 3.5);
        EXPECT_EQ(with(60000.), 60000.); // binary16 holds it
        EXPECT_EQ(with(infinity), infinity);
        EXPECT_EQ(with(-infinity), infinity);
        EXPECT_EQ(with(std::nan("")), infinity);
      }
    }
    Vector<TypeParam> zero(line(16));
    EXPECT_EQ(vk::max_abs(16, zero.data()), 0.);
    // Large and small numbers keep their size: nothing is squared on the way.
    zero[3] = test::from_double<TypeParam>(0x1p-24);
    EXPECT_EQ(vk::max_abs(16, zero.data()), 0x1p-24);
  }

  TYPED_TEST(VectorKernels, Axpby)
  {
    using C = Compute<TypeParam>;
    const double tolerance = 2. * unit_roundoff<TypeParam>();
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<TypeParam>(size, 1);
      const auto before = random_line<TypeParam>(size, 2);
      auto y = random_line<TypeParam>(size, 2);
      vk::axpby(size, 0.75, x.data(), -1.25, y.data());
      auto unread = random_line<TypeParam>(size, 2);
      test::poison(unread);
      vk::axpby(size, -0.5, x.data(), 0., unread.data());
      auto same = random_line<TypeParam>(size, 1);
      vk::axpby(size, 0.5, same.data(), 0.25, same.data());
      for (std::int64_t i = 0; i < size; ++i)
      {
        const double xi = to_double(x[i]);
        ASSERT_NEAR(to_double(y[i]), 0.75 * xi - 1.25 * to_double(before[i]), 2. * tolerance);
        ASSERT_EQ(to_double(unread[i]), to_double(test::from_double<TypeParam>(C(-0.5) * C(xi))));
        ASSERT_NEAR(to_double(same[i]), 0.75 * xi, tolerance);
      }
    }
  }

  /// The one rounding of factor * x to the type.
  template <typename To, typename From>
  void expect_converted(double factor)
  {
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<From>(size, 9);
      Vector<To> y(line(size));
      test::poison(y);
      vk::convert(size, factor, x.data(), y.data());
      for (std::int64_t i = 0; i < size; ++i)
      {
        const double exact = factor * to_double(x[i]);
        // Twice because binary16 is rounded by way of float; its subnormals have an absolute error.
        ASSERT_NEAR(to_double(y[i]), exact, 1.01 * unit_roundoff<To>() * std::abs(exact) + 0x1p-25);
      }
    }
  }

  TEST(VectorConvert, RoundsToNearest)
  {
    for (const double factor : {1., 0.3, 0x1p-12, 1024.})
    {
      expect_converted<double, double>(factor);
      expect_converted<float, double>(factor);
      expect_converted<Half, double>(factor);
      expect_converted<double, float>(factor);
      expect_converted<double, Half>(factor);
      expect_converted<WideFloat, double>(factor);
      expect_converted<double, WideFloat>(factor);
      expect_converted<Half, WideFloat>(factor);
      expect_converted<WideFloat, Half>(factor);
      expect_converted<float, WideFloat>(factor);
      expect_converted<WideFloat, float>(factor);
      expect_converted<float, Half>(factor);
      expect_converted<float, float>(factor);
    }
  }

  TEST(VectorConvert, PairsHoldTwiceTheDigits)
  {
    for (const std::int64_t size : {8, 24, 4096 + 8})
    {
      Vector<float> src(line(size));
      Vector<Half> x(line(size)), d(line(size));
      for (std::int64_t i = 0; i < size; ++i)
        src[i] = std::ldexp(static_cast<float>(std::sin(1. + double(i))), static_cast<int>(i % 9));
      test::poison(x);
      test::poison(d);
      vk::convert_to_pair(size, src.data(), x.data(), d.data());
      for (std::int64_t i = 0; i < size; ++i)
      {
        EXPECT_EQ(to_double(x[i]), to_double(Half(src[i]))) << i;
        // Two times 11 bits, unless the second number is too small for that.
        const double sum = to_double(x[i]) + to_double(d[i]);
        EXPECT_NEAR(sum, src[i], 0x1p-22 * std::abs(src[i]) + 0x1p-25) << i;
      }
      Vector<float> whole(line(size)), rest(line(size));
      test::poison(rest);
      vk::convert_to_pair(size, src.data(), whole.data(), rest.data());
      EXPECT_TRUE(std::equal(src.data(), src.data() + size, whole.data()));
      EXPECT_EQ(vk::max_abs(size, rest.data()), 0.);
    }
  }

  TEST(VectorConvert, KeepsWhatIsNotFinite)
  {
    Vector<double> x(line(8));
    const double infinity = std::numeric_limits<double>::infinity();
    x[0] = infinity;
    x[1] = -infinity;
    x[2] = std::nan("");
    x[3] = 1e6;    // beyond binary16
    x[4] = 1e300;  // beyond binary32
    x[5] = 1e-300; // below both
    x[6] = 65504.;
    Vector<Half> half(line(8));
    vk::convert(8, 1., x.data(), half.data());
    Vector<float> single(line(8));
    vk::convert(8, 1., x.data(), single.data());
    for (int i : {0, 3, 4})
      EXPECT_EQ(to_double(half[i]), infinity) << i;
    EXPECT_EQ(to_double(half[1]), -infinity);
    EXPECT_TRUE(std::isnan(to_double(half[2])) && std::isnan(single[2]));
    EXPECT_EQ(to_double(half[5]), 0.);
    EXPECT_EQ(to_double(half[6]), 65504.);
    EXPECT_EQ(single[3], 1e6f);
    EXPECT_EQ(to_double(single[4]), infinity);
    EXPECT_EQ(single[5], 0.f);
  }

  TEST(VectorConvert, WithNorm)
  {
    for (const std::int64_t size : sizes)
      for (const double factor : {1., 0.3, 0x1p100})
      {
        auto x = random_line<double>(size, 4);
        for (std::int64_t i = 0; i < size; ++i)
          x[i] /= factor;
        Vector<WideFloat> found(line(size)), expected(line(size));
        test::poison(found);
        const double sum = vk::convert_with_norm(size, factor, x.data(), found.data());
        vk::convert(size, factor, x.data(), expected.data());
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), 4 * size), 0);
        EXPECT_NEAR(sum, factor * (factor * vk::dot(size, x.data(), x.data())), 1e-14 * size)
            << size;
      }
  }

  template <typename Number>
  void check_cg_update(double rounding)
  {
    constexpr double unit = 0.125;
    for (const std::int64_t size : sizes)
    {
      const auto p = random_line<Number>(size, 1), q = random_line<Number>(size, 2);
      auto x = random_line<double>(size, 3);
      auto r = random_line<Number>(size, 4);
      const auto x_old = random_line<double>(size, 3);
      const auto r_old = random_line<Number>(size, 4);
      const double norm = vk::cg_update(size, 0.7, unit, p.data(), q.data(), x.data(), r.data());
      for (std::int64_t i = 0; i < size; ++i)
      {
        ASSERT_NEAR(x[i], x_old[i] + 0.7 * unit * double(p[i]), 1e-15);
        ASSERT_NEAR(double(r[i]), double(r_old[i]) - 0.7 * double(q[i]), rounding);
      }
      ASSERT_NEAR(norm, vk::dot(size, r.data(), r.data()), 1e-15 * norm);
    }
  }

  TEST(VectorMulti, CgUpdate)
  {
    check_cg_update<double>(1e-15);
    check_cg_update<WideFloat>(0x1p-23);
  }

  TEST(VectorMulti, NotFiniteReachesTheSums)
  {
    for (const std::int64_t at : {0, 13, 4103})
    {
      auto x = random_line<double>(4104, 1);
      const auto y = random_line<double>(4104, 2);
      x[at] = std::nan("");
      EXPECT_TRUE(std::isnan(vk::dot(4104, x.data(), y.data())));
      const double *pointers[] = {y.data(), x.data()};
      double result[3];
      vk::multi_dot(4104, 2, pointers, y.data(), result);
      EXPECT_TRUE(std::isfinite(result[0]) && std::isnan(result[1]) && std::isfinite(result[2]));
    }
  }

  const Block blocks[] = {Block(3, 2, {5, 3, 2}), Block(3, 1, {8, 1, 1}), Block(3, 4, {17, 2, 3}),
      Block(2, 3, {9, 4, 1}), Block(2, 8, {1, 1, 1})};

  TYPED_TEST(VectorKernels, InverseDiagonal)
  {
    const std::array<double, 3> factor{1., 0.4, 0.25};
    for (const Block &block : blocks)
    {
      const CellBasis basis = make_cell_basis(block.degree());
      const auto b = test::random_vector<TypeParam>(block, 1);
      Vector<TypeParam> x(block);
      test::poison(x);
      vk::inverse_diagonal(block, basis, factor, 1.7, b.data(), x.data());
      auto same = test::random_vector<TypeParam>(block, 1);
      vk::inverse_diagonal(block, basis, factor, 1.7, same.data(), same.data());
      for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
            for (int k = 0; k < block.nz(); ++k)
              for (int j = 0; j < block.n; ++j)
                for (int i = 0; i < block.n; ++i)
                {
                  const std::int64_t at = block.index(cx, cy, cz, i, j, k);
                  double d = factor[0] * basis.lambda[i] + factor[1] * basis.lambda[j];
                  d += block.dim == 3 ? factor[2] * basis.lambda[k] : 0.;
                  const double expected = 1.7 / d * to_double(b[at]);
                  ASSERT_NEAR(to_double(x[at]), expected,
                      4. * unit_roundoff<TypeParam>() * std::abs(expected) + 0x1p-25);
                  ASSERT_EQ(to_double(same[at]), to_double(x[at]));
                }
      EXPECT_TRUE(test::padding_is_zero(x));
    }
  }

  TYPED_TEST(VectorKernels, ConstantsAndMeans)
  {
    const double tolerance = 8. * unit_roundoff<TypeParam>() + 1e-14; // that of the tables
    for (const Block &block : blocks)
    {
      const CellBasis basis = make_cell_basis(block.degree());
      const double cells = static_cast<double>(block.n_cells());
      Vector<TypeParam> u(block);
      vk::add_constant(block, basis, 0.75, u.data());
      EXPECT_TRUE(test::padding_is_zero(u));
      EXPECT_NEAR(vk::sum_of_means(block, basis, u.data()), 0.75 * cells, tolerance * cells);
      // In an orthonormal basis the square sum is the mean square.
      EXPECT_NEAR(vk::dot(u.size(), u.data(), u.data()), 0.5625 * cells, tolerance * cells);
      // Pointwise the constant at a corner, an inner point and the centre.
      std::vector<double> phi(block.n);
      for (const double x : {0., 0.3, 0.5})
      {
        evaluate_modes(basis, x, phi);
        double value = 0.;
        for (int k = 0; k < block.nz(); ++k)
          for (int j = 0; j < block.n; ++j)
            for (int i = 0; i < block.n; ++i)
              value += to_double(u[block.index(block.cells[0] - 1, 0, 0, i, j, k)]) * phi[i] *
                  phi[j] * (block.dim == 3 ? phi[k] : 1.);
        EXPECT_NEAR(value, 0.75, 20. * tolerance);
      }
      // It adds, and the mean is linear.
      auto random = test::random_vector<TypeParam>(block, 6);
      const double before = vk::sum_of_means(block, basis, random.data());
      vk::add_constant(block, basis, -0.5, random.data());
      EXPECT_NEAR(vk::sum_of_means(block, basis, random.data()), before - 0.5 * cells,
          tolerance * cells * 4.);
    }
  }

  template <typename Number, typename From>
  void expect_converted_and_divided(const Block &block)
  {
    const CellBasis basis = make_cell_basis(block.degree());
    const std::array<double, 3> factor{1., 0.4, 0.25};
    const auto src = test::random_vector<From>(block, 3);
    Vector<Number> b(block), x(block), expected_b(block), expected_x(block);
    test::poison(b);
    test::poison(x);
    vk::convert_and_divide(block, basis, factor, 1.7, 0.25, src.data(), b.data(), x.data());
    vk::convert(block.size(), 0.25, src.data(), expected_b.data());
    vk::inverse_diagonal(block, basis, factor, 1.7, expected_b.data(), expected_x.data());
    const std::size_t bytes = static_cast<std::size_t>(block.size()) * sizeof(Number);
    EXPECT_EQ(std::memcmp(b.data(), expected_b.data(), bytes), 0);
    EXPECT_EQ(std::memcmp(x.data(), expected_x.data(), bytes), 0);
  }

  TYPED_TEST(VectorKernels, ConvertAndDivideIsBothOneAfterTheOther)
  {
    for (const Block &block : blocks)
    {
      expect_converted_and_divided<TypeParam, double>(block);
      expect_converted_and_divided<TypeParam, WideFloat>(block);
    }
  }
} // namespace
} // namespace tensormg
