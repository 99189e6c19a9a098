// Dense products on a device against the reference: all rungs, shapes and methods, for sizes of zero, one, odd
// ones, multiples of the tiles and several tiles.
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/core/device.h"
#include "kernels/gemm/device.h"

namespace tensormg
{
namespace
{
  using namespace gemm;

  class GemmDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  /// In [-1, 1], never near zero, more digits than any format has.
  template <typename Number>
  std::vector<Number> numbers(std::int64_t count, double phase)
  {
    std::vector<Number> list;
    for (std::int64_t i = 0; i < count; ++i)
    {
      const double x = std::sin(1.7 * static_cast<double>(i) + phase);
      const double value = x + (x < 0. ? -0.1 : 0.1);
      if constexpr (std::is_floating_point_v<Number>)
        list.push_back(static_cast<Number>(value));
      else
        list.push_back(Number(static_cast<float>(value)));
    }
    return list;
  }

  std::vector<double> in_double(const std::vector<Half> &list)
  {
    std::vector<double> result;
    for (const Half x : list)
      result.push_back(static_cast<float>(x));
    return result;
  }
  template <typename Number>
  std::vector<double> in_double(const std::vector<Number> &list)
  {
    return {list.begin(), list.end()};
  }

  template <typename Number, typename Result>
  using Kernel = void(const Size &, const Number *, const Number *, Result *, Stream);

  /// Errors relative to |A| |B|: `factor` for what rounding of the factors may cost, `sum` per addition.
  template <typename Number, typename Result>
  void check(Kernel<Number, Result> *kernel, const Size &size, double factor, double sum)
  {
    SCOPED_TRACE(
        std::to_string(size.m) + " x " + std::to_string(size.n) + " x " + std::to_string(size.k));
    const auto a = numbers<Number>(size.m * size.k, 0.3), b = numbers<Number>(size.k * size.n, 0.8);
    const Result beyond = 5;
    constexpr std::size_t guards = 7;
    std::vector<Result> c(static_cast<std::size_t>(size.m * size.n) + guards, beyond);
    std::fill_n(c.begin(), size.m * size.n, std::numeric_limits<Result>::quiet_NaN());
    DeviceArray<Number> device_a(size.m * size.k), device_b(size.k * size.n);
    DeviceArray<Result> device_c(static_cast<std::int64_t>(c.size()));
    if (!a.empty())
      device_a.copy_from_host(a.data());
    if (!b.empty())
      device_b.copy_from_host(b.data());
    device_c.copy_from_host(c.data());
    kernel(size, device_a.data(), device_b.data(), device_c.data(), nullptr);
    device_c.copy_to_host(c.data());

    const auto exact_a = in_double(a), exact_b = in_double(b);
    std::vector<double> exact(static_cast<std::size_t>(size.n)), magnitude(exact.size());
    for (std::int64_t i = 0; i < size.m; ++i)
    {
      reference_row(size, i, exact_a.data(), exact_b.data(), exact.data());
      magnitude_row(size, i, exact_a.data(), exact_b.data(), magnitude.data());
      for (std::int64_t j = 0; j < size.n; ++j)
        ASSERT_NEAR(c[static_cast<std::size_t>(i * size.n + j)], exact[static_cast<std::size_t>(j)],
            (factor + sum * static_cast<double>(size.k + 1)) *
                magnitude[static_cast<std::size_t>(j)])
            << i << ", " << j;
    }
    for (std::size_t i = c.size() - guards; i < c.size(); ++i)
      ASSERT_EQ(c[i], beyond);
  }

  template <typename Number, typename Result>
  void check_all(Kernel<Number, Result> *kernel, double factor, double sum)
  {
    for (const Size size : {Size{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 17, 5}, {17, 1, 9},
             {5, 7, 1}, {16, 8, 16}, {33, 66, 17}, {40, 24, 48}, {128, 128, 96}, {129, 72, 136},
             {131, 263, 21}})
      check<Number, Result>(kernel, size, factor, sum);
  }

  // The additions of tensor cores are cut off: one unit in the last place each.
  constexpr double of_float = 0x1p-23, of_double = 0x1p-53;
  constexpr double of_tf32 = 0x1p-10; ///< two factors, half a unit each

  TEST_F(GemmDevice, Fp16Ladder)
  {
    check_all<Half, float>(fp16<Rung::naive>, 0., of_float);
    check_all<Half, float>(fp16<Rung::more_tiles>, 0., of_float);
    check_all<Half, float>(fp16<Rung::permuted>, 0., of_float);
    check_all<Half, float>(fp16<Rung::buffered>, 0., of_float);
    check_all<Half, float>(fp16<Rung::staged>, 0., of_float);
    check_all<Half, float>(fp16<Rung::larger>, 0., of_float);
  }

  TEST_F(GemmDevice, Fp64)
  {
    check_all<double, double>(fp64<Fp64Shape::m8n8k4>, 0., of_double);
    if (device_properties().major < 9)
      GTEST_SKIP() << "m16n8k4 needs compute capability 9.0";
    check_all<double, double>(fp64<Fp64Shape::m16n8k4>, 0., of_double);
    check_all<double, double>(fp64<Fp64Shape::m16n8k8>, 0., of_double);
  }

  TEST_F(GemmDevice, Single)
  {
    check_all<float, float>(single<SingleMethod::tf32>, of_tf32, of_float);
    // Of the products small times small is lost, and the last bits of what is small.
    check_all<float, float>(single<SingleMethod::tf32_three>, 0x1p-20, 3. * of_float);
    check_all<float, float>(single<SingleMethod::tf32_corrected>, 0x1p-20, of_float);
    check_all<float, float>(single<SingleMethod::fp16_corrected>, 0x1p-20, of_float);
  }

  TEST_F(GemmDevice, RefusesSizesBeyond32Bits)
  {
    EXPECT_THROW(
        fp16<Rung::larger>({std::int64_t(1) << 31, 1, 1}, nullptr, nullptr, nullptr, nullptr),
        std::length_error);
  }
} // namespace
} // namespace tensormg
