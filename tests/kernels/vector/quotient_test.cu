// Steps whose length is a quotient of sums that stay on the device, against those of the CPU: sizes around every batch and
// block, steps that are none, the same bits twice.
#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/vector/cuda.h"
#include "tests/support/device/reduction.h"
#include "tests/support/guarded.h"
#include "tests/support/vector_lines.h"

namespace tensormg
{
namespace
{
  namespace vk = vector_kernels;
  namespace vc = vector_kernels::cuda;
  using test::Guarded;
  using test::line;
  using test::random_line;
  using test::Reduction;
  using test::sizes;

  /// Two numbers on the device.
  class Numbers
  {
  public:
    Numbers(double above, double below)
    {
      const double both[2] = {above, below};
      numbers_.write(both);
    }
    vc::Quotient quotient(double factor) { return {factor, numbers_.data(), numbers_.data() + 1}; }

  private:
    Guarded<double> numbers_{2};
  };

  template <typename Number>
  class VectorQuotient : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

  protected:
    static constexpr double rounding = sizeof(Number) == 8 ? 4e-16 : 0x1p-23;
    Reduction reduce_;
  };
  using Types = testing::Types<double, WideFloat>;
  TYPED_TEST_SUITE(VectorQuotient, Types);

  TYPED_TEST(VectorQuotient, CgUpdate)
  {
    for (const std::int64_t size : sizes)
    {
      const auto p = random_line<TypeParam>(size, 1), q = random_line<TypeParam>(size, 2);
      auto x = random_line<double>(size, 3);
      auto r = random_line<TypeParam>(size, 4);
      Guarded<TypeParam> dp(p), dq(q), dr(r);
      Guarded<double> dx(x);
      Numbers numbers(1.75, 2.5);
      constexpr double a = 0.7, unit = 0.125;
      const auto norm = this->reduce_.run(2, [&](double *scratch, double *result, Stream stream) {
        vc::cg_update(size, numbers.quotient(1.), unit, dp.data(), dq.data(), dx.data(), dr.data(),
            scratch, result, result + 1, stream);
      });
      const double expected = vk::cg_update(size, a, unit, p.data(), q.data(), x.data(), r.data());
      Vector<double> fx(line(size));
      Vector<TypeParam> fr(line(size));
      EXPECT_TRUE(dx.read(fx.data(), this->reduce_.stream()));
      EXPECT_TRUE(dr.read(fr.data(), this->reduce_.stream()));
      for (std::int64_t i = 0; i < size; ++i)
      {
        ASSERT_NEAR(fx[i], x[i], 4e-16);
        ASSERT_NEAR(double(fr[i]), double(r[i]), this->rounding);
      }
      EXPECT_NEAR(norm[0], vk::dot(size, fr.data(), fr.data()), 1e-13 * expected);
      EXPECT_NEAR(norm[0], expected, 10. * this->rounding * expected);
      EXPECT_EQ(norm[1], vk::max_abs(size, fr.data()));
    }
  }

  TYPED_TEST(VectorQuotient, AStepThatIsNoneChangesNothing)
  {
    const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    const std::int64_t size = 4104;
    auto p = random_line<TypeParam>(size, 1), q = random_line<TypeParam>(size, 2);
    p[17] = static_cast<TypeParam>(nan);
    q[4000] = static_cast<TypeParam>(infinity);
    const auto x = random_line<double>(size, 3);
    const auto r = random_line<TypeParam>(size, 4);
    Guarded<TypeParam> dp(p), dq(q), dr(r);
    Guarded<double> dx(x);
    for (const auto &[above, below] : {std::pair{0., 1.}, {-1., 1.}, {1., -1.}, {-1., -1.},
             {1., 0.}, {nan, 1.}, {1., nan}, {infinity, 1.}, {1e300, 1e-300}})
    {
      Numbers numbers(above, below);
      const auto norm = this->reduce_(2, [&](double *scratch, double *result, Stream stream) {
        vc::cg_update(size, numbers.quotient(1.), 0.5, dp.data(), dq.data(), dx.data(), dr.data(),
            scratch, result, result + 1, stream);
      });
      Vector<double> fx(line(size));
      Vector<TypeParam> fr(line(size));
      EXPECT_TRUE(dx.read(fx.data(), this->reduce_.stream()));
      EXPECT_TRUE(dr.read(fr.data(), this->reduce_.stream()));
      for (std::int64_t i = 0; i < size; ++i)
      {
        ASSERT_EQ(fx[i], x[i]) << above << ' ' << below;
        ASSERT_EQ(double(fr[i]), double(r[i])) << above << ' ' << below;
      }
      EXPECT_NEAR(norm[0], vk::dot(size, r.data(), r.data()), 1e-13 * size);
      EXPECT_EQ(norm[1], vk::max_abs(size, r.data()));
    }
  }

  TYPED_TEST(VectorQuotient, Axpby)
  {
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<TypeParam>(size, 1);
      auto y = random_line<TypeParam>(size, 2);
      Guarded<TypeParam> dx(x), dy(y);
      Numbers numbers(3., 4.);
      vc::axpby(size, 2., static_cast<const TypeParam *>(dx.data()), numbers.quotient(-1.),
          dy.data(), this->reduce_.stream());
      vk::axpby(size, 2., x.data(), -0.75, y.data());
      Vector<TypeParam> found(line(size));
      EXPECT_TRUE(dy.read(found.data(), this->reduce_.stream()));
      for (std::int64_t i = 0; i < size; ++i)
        ASSERT_NEAR(double(found[i]), double(y[i]), 4. * this->rounding);
    }
  }

  TYPED_TEST(VectorQuotient, CopiesOfSums)
  {
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<TypeParam>(size, 1), y = random_line<TypeParam>(size, 2);
      Guarded<TypeParam> dx(x), dy(y);
      const TypeParam *const both[2] = {dx.data(), dy.data()};
      const auto sums = this->reduce_(8, [&](double *scratch, double *result, Stream stream) {
        vc::dot(size, both[0], both[1], scratch, result, stream, result + 1);
        vc::multi_dot(size, 2, both, both[0], scratch, result + 2, stream, result + 5);
      });
      const double xy = vk::dot(size, x.data(), y.data()), xx = vk::dot(size, x.data(), x.data());
      const double expected[8] = {xy, xy, xx, xy, xx, xx, xy, xx};
      for (int i = 0; i < 8; ++i)
        EXPECT_NEAR(sums[i], expected[i], 1e-15 * size) << size << ' ' << i;
      for (int i = 2; i < 5; ++i)
        EXPECT_EQ(sums[i], sums[i + 3]);
      EXPECT_EQ(sums[0], sums[1]);
    }
  }
} // namespace
} // namespace tensormg
