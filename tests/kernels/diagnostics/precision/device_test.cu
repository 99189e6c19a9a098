// Dot products in low precision on a device: within the bounds of their methods, odd lengths, any number of sums.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/precision/device.h"
#include "kernels/diagnostics/precision/methods.h"

namespace tensormg
{
namespace
{
  using namespace precision;

  template <typename T>
  DeviceArray<T> on_device(const std::vector<T> &list)
  {
    DeviceArray<T> array(static_cast<std::int64_t>(list.size()));
    array.copy_from_host(list.data());
    return array;
  }

  class PrecisionDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
      if (device_properties().code_capability < 90)
        GTEST_SKIP() << "needs compute capability 9.0";
    }
  };

  const Method &host_method(const std::string &name)
  {
    for (const Method &method : methods())
      if (name == method.name)
        return method;
    throw std::logic_error(name);
  }

  TEST_F(PrecisionDevice, DotProductsKeepTheBoundsOfTheirMethods)
  {
    for (const DeviceMethodRow &row : device_methods())
      for (const std::int64_t length : {1, 7, 16, 100})
        for (const std::int64_t samples : {1, 8, 19})
        {
          SCOPED_TRACE(std::string(row.host_method) + ", " + std::to_string(length));
          const Method method = host_method(row.host_method);
          std::vector<float> a, b;
          std::uint32_t state = 3;
          const auto next = [&] {
            state = state * 1664525u + 1013904223u;
            return 0.125F + static_cast<float>(state >> 8) * 0x1p-24F * (state >> 31 ? -1.F : 1.F);
          };
          for (std::int64_t i = 0; i < length * samples; ++i)
          {
            a.push_back(next());
            b.push_back(next());
          }
          const auto device_a = on_device(a), device_b = on_device(b);
          std::vector<double> results(
              static_cast<std::size_t>(samples), std::numeric_limits<double>::quiet_NaN());
          DeviceArray<double> device_results = on_device(results);
          device_dots(row.method, length, samples, device_a.data(), device_b.data(),
              device_results.data(), nullptr);
          device_results.copy_to_host(results.data());
          for (std::int64_t s = 0; s < samples; ++s)
          {
            const Exact exact = exact_dot(length, a.data() + s * length, b.data() + s * length);
            ASSERT_LE(std::abs(results[static_cast<std::size_t>(s)] - exact.product),
                method.bound(length) * exact.magnitude)
                << s;
          }
        }
  }

  TEST_F(PrecisionDevice, SingleInstructionsAddWhatTheyAreGiven)
  {
    for (const TensorUnit unit :
        {TensorUnit::fp64, TensorUnit::tf32, TensorUnit::fp16, TensorUnit::bf16})
    {
      const int length = format_of(unit).length;
      std::vector<double> a, b, c, exact;
      for (int test = 0; test < 5; ++test)
      {
        c.push_back(test);
        exact.push_back(test);
        for (int k = 0; k < length; ++k)
        {
          a.push_back(k + test);
          b.push_back(k - 3);
          exact.back() += a.back() * b.back();
        }
      }
      const auto device_a = on_device(a), device_b = on_device(b), device_c = on_device(c);
      std::vector<double> results(c.size(), std::numeric_limits<double>::quiet_NaN());
      DeviceArray<double> device_results = on_device(results);
      device_sums(unit, static_cast<std::int64_t>(c.size()), device_a.data(), device_b.data(),
          device_c.data(), device_results.data(), nullptr);
      device_results.copy_to_host(results.data());
      EXPECT_EQ(results, exact);
    }
  }
} // namespace
} // namespace tensormg
