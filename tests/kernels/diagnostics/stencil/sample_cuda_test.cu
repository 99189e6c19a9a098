// The sample of a result in device memory by which stencils are checked.
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/stencil/sample.h"

namespace tensormg
{
namespace
{
  using namespace stencil;

  /// What cuda_sample gives of u, and whether it says that something is not finite.
  template <typename Number>
  bool samples(const std::vector<Number> &u, const std::vector<std::int64_t> &points)
  {
    const auto size = static_cast<std::int64_t>(u.size()),
               count = static_cast<std::int64_t>(points.size());
    DeviceArray<Number> device_u(size), values(count);
    DeviceArray<std::int64_t> device_points(count);
    DeviceArray<int> not_finite(1);
    const int zero = 0;
    device_u.copy_from_host(u.data());
    device_points.copy_from_host(points.data());
    not_finite.copy_from_host(&zero);
    cuda_sample(size, device_u.data(), count, device_points.data(), values.data(),
        not_finite.data(), nullptr);
    std::vector<Number> found(points.size());
    int flag = 0;
    values.copy_to_host(found.data());
    not_finite.copy_to_host(&flag);
    for (std::size_t i = 0; i < points.size(); ++i)
      EXPECT_EQ(found[i], u[static_cast<std::size_t>(points[i])]);
    EXPECT_TRUE(flag == 0 || flag == 1);
    return flag == 0;
  }

  template <typename Number>
  void check_sample()
  {
    std::vector<Number> u(1103);
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] = static_cast<Number>(i);
    const std::vector<std::int64_t> points{1102, 0, 5, 5, 700};
    EXPECT_TRUE(samples(u, points));
    for (const Number bad :
        {std::numeric_limits<Number>::quiet_NaN(), -std::numeric_limits<Number>::infinity()})
      for (const std::size_t place : {std::size_t(1), std::size_t(255), u.size() - 2})
      {
        std::vector<Number> spoiled = u;
        spoiled[place] = bad;
        EXPECT_FALSE(samples(spoiled, points)) << place;
      }
  }

  TEST(StencilSampleCuda, ValuesAndWhetherAllIsFinite)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    use_device(0);
    check_sample<double>();
    check_sample<float>();
  }
} // namespace
} // namespace tensormg
