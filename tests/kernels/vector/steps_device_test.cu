// Products with diagonals and steps against plain loops, in place, too; nothing is written outside.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/vector/cuda.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  class Steps : public testing::Test
  {
  protected:
    using C = Compute<Number>;
    static constexpr std::int64_t size = 3 * 2056; // no multiple of what a block of threads takes
    static constexpr double tolerance = sizeof(Number) == 8 ? 1e-15
        : sizeof(Number) == 4                               ? 1e-6
                                                            : 1e-3;
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    static std::vector<Number> numbers(double frequency)
    {
      std::vector<Number> result(size);
      for (std::int64_t i = 0; i < size; ++i)
        result[std::size_t(i)] = Number(static_cast<C>(std::cos(frequency * double(i))));
      return result;
    }
    static double at(const std::vector<Number> &x, std::int64_t i)
    {
      return double(static_cast<C>(x[std::size_t(i)]));
    }
    /// expected(i) of what is read from `from`
    template <typename F>
    static void compare(test::Guarded<Number> &from, const F &expected)
    {
      std::vector<Number> found(size);
      ASSERT_TRUE(from.read(found.data(), nullptr)) << "written outside";
      for (std::int64_t i = 0; i < size; ++i)
        ASSERT_NEAR(at(found, i), expected(i), tolerance * (3. + std::abs(expected(i)))) << i;
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(Steps, Numbers);

  TYPED_TEST(Steps, ProductWithADiagonal)
  {
    using C = Compute<TypeParam>;
    const auto b = this->numbers(0.7);
    std::vector<C> d(this->size);
    for (std::size_t i = 0; i < d.size(); ++i)
      d[i] = static_cast<C>(1. + std::sin(0.3 * double(i)));
    DeviceArray<C> diagonal(this->size);
    diagonal.copy_from_host(d.data());
    test::Guarded<TypeParam> on_device(b.data(), this->size), x(this->size);
    const auto expected = [&](std::int64_t i) {
      return 0.75 * double(d[std::size_t(i)]) * this->at(b, i);
    };
    vector_kernels::cuda::multiply_by_diagonal(
        this->size, 0.75, diagonal.data(), on_device.data(), x.data(), nullptr);
    this->compare(x, expected);
    vector_kernels::cuda::multiply_by_diagonal(
        this->size, 0.75, diagonal.data(), on_device.data(), on_device.data(), nullptr);
    this->compare(on_device, expected);
  }

  TYPED_TEST(Steps, Step)
  {
    const auto x = this->numbers(0.7), old = this->numbers(0.2), c = this->numbers(1.1);
    test::Guarded<TypeParam> device_x(x.data(), this->size), device_old(old.data(), this->size),
        device_c(c.data(), this->size), y(this->size);
    const auto expected = [&](std::int64_t i) {
      return this->at(x, i) + 0.4 * (this->at(x, i) - this->at(old, i)) + this->at(c, i);
    };
    const auto step = [&](const TypeParam *before, TypeParam *to) {
      vector_kernels::cuda::add_to_step(
          this->size, 0.4, device_x.data(), before, device_c.data(), to, nullptr);
    };
    step(device_old.data(), y.data());
    this->compare(y, expected);
    step(device_old.data(), device_old.data());
    this->compare(device_old, expected);
    step(nullptr, y.data());
    this->compare(y, [&](std::int64_t i) { return 1.4 * this->at(x, i) + this->at(c, i); });
  }
} // namespace
} // namespace tensormg
