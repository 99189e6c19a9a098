// Scale kernels of the device: every entry is the rounded product, on CUDA cores and by tensor cores, for sizes
// that end within a warp and within a block.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/scale/scale.h"
#include "kernels/mma/tf32.h"

namespace tensormg
{
namespace
{
  class ScaleDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  constexpr double q = -1.5;
  constexpr std::int64_t beyond = 64; ///< numbers behind the array, which must stay as they are

  template <typename Number>
  double to_double(Number x)
  {
    return static_cast<double>(static_cast<float>(x));
  }
  template <>
  double to_double(double x)
  {
    return x;
  }

  /// Never near zero; more digits than any format has.
  template <typename Number>
  std::vector<Number> numbers(std::int64_t size)
  {
    std::vector<Number> list;
    for (std::int64_t i = 0; i < size; ++i)
    {
      const double x = 1.3 + std::sin(0.7 * static_cast<double>(i));
      if constexpr (std::is_same_v<Number, double>)
        list.push_back(x);
      else
        list.push_back(Number(static_cast<float>(x)));
    }
    return list;
  }

  template <typename Number>
  using Kernel = void(std::int64_t, double, const Number *, Number *, Stream);

  /// `round` is what the kernel does to a factor, exactly.
  template <typename Number, typename Round>
  void check(Kernel<Number> *kernel, std::int64_t size, Round round)
  {
    SCOPED_TRACE("size " + std::to_string(size));
    const std::vector<Number> b = numbers<Number>(size + beyond);
    std::vector<Number> a(b.size(), Number(3));
    if constexpr (std::is_floating_point_v<Number>)
      std::fill_n(a.begin(), size, std::numeric_limits<Number>::quiet_NaN());
    DeviceArray<Number> device_a(size + beyond), device_b(size + beyond);
    device_a.copy_from_host(a.data());
    device_b.copy_from_host(b.data());
    kernel(size, q, device_b.data(), device_a.data(), nullptr);
    device_a.copy_to_host(a.data());
    for (std::size_t i = 0; i < a.size(); ++i)
      if (i < static_cast<std::size_t>(size))
        ASSERT_EQ(to_double(a[i]), to_double(round(q * to_double(round(to_double(b[i])))))) << i;
      else
        ASSERT_EQ(to_double(a[i]), 3.) << i;
  }

  template <typename Number, typename Round>
  void check_all(Kernel<Number> *kernel, Round round)
  {
    for (const std::int64_t size :
        {1, 2, 3, 7, 9, 63, 64, 65, 127, 192, 4095, 4096, 4160, 8193, 100 * 64 + 5})
      check<Number>(kernel, size, round);
    kernel(0, q, nullptr, nullptr, nullptr);
  }

  const auto to_same = [](double x) { return x; };
  const auto to_float = [](double x) { return static_cast<float>(x); };
  const auto to_half = [](double x) { return Half(static_cast<float>(x)); };
  const auto to_tf32 = [](double x) {
    return static_cast<float>(Tf32::round(static_cast<float>(x)));
  };

  TEST_F(ScaleDevice, CudaCores)
  {
    check_all<double>(scale::cuda<double>, to_same);
    check_all<float>(scale::cuda<float>, to_float);
    check_all<Half>(scale::cuda<Half>, to_half);
  }

  TEST_F(ScaleDevice, M8N8K4) { check_all<double>(scale::mma_m8n8k4, to_same); }

  TEST_F(ScaleDevice, M16N8K4)
  {
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "needs compute capability 9.0";
    check_all<double>(scale::mma_m16n8k4, to_same);
  }

  /// The product of two TF32 numbers is exact in the accumulator: only the factor is rounded to TF32.
  void check_tf32(Kernel<float> *kernel)
  {
    for (const std::int64_t size : {1, 3, 63, 65, 4096, 4163})
    {
      const std::vector<float> b = numbers<float>(size + beyond);
      std::vector<float> a(b.size(), 3.F);
      std::fill_n(a.begin(), size, std::numeric_limits<float>::quiet_NaN());
      DeviceArray<float> device_a(size + beyond), device_b(size + beyond);
      device_a.copy_from_host(a.data());
      device_b.copy_from_host(b.data());
      kernel(size, q, device_b.data(), device_a.data(), nullptr);
      device_a.copy_to_host(a.data());
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(
            a[i], i < static_cast<std::size_t>(size) ? static_cast<float>(q) * to_tf32(b[i]) : 3.F)
            << i << " of " << size;
    }
  }

  TEST_F(ScaleDevice, Tf32) { check_tf32(scale::mma_tf32); }

  TEST_F(ScaleDevice, Fp16) { check_all<Half>(scale::mma_fp16, to_half); }

  TEST_F(ScaleDevice, Wmma)
  {
    check_all<double>(scale::wmma, to_same);
    check_tf32(scale::wmma_tf32);
    check_all<Half>(scale::wmma_fp16, to_half);
  }
} // namespace
} // namespace tensormg
