// Batches of small products on a device against the reference.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/device.h"
#include "tests/support/gemm_cases.h"

namespace tensormg
{
namespace
{
  using namespace gemm;

  /// Every matrix of a batch is its product, and nothing beyond is written.
  TEST(GemmBatchedDevice, Batches)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    use_device(0);
    constexpr SinglePolicy policies[]{{Unit::mma, Format::tf32, Correction::outside},
        {Unit::wmma, Format::tf32, Correction::outside}, {Unit::cuda_cores, Format::fp32},
        {Unit::mma, Format::tf32, Correction::three_products},
        {Unit::mma, Format::fp16, Correction::outside}};
    const auto check = [&](auto kernel, const Size &size) {
      const std::int64_t count = 5;
      const std::int64_t size_a = size.m * size.k, size_b = size.k * size.n,
                         size_c = size.m * size.n;
      const auto a = test::gemm_numbers<float>(count * size_a, 0.1),
                 b = test::gemm_numbers<float>(count * size_b, 0.7);
      std::vector<float> c(static_cast<std::size_t>(count * size_c + 1), 5.F);
      std::fill_n(c.begin(), count * size_c, std::numeric_limits<float>::quiet_NaN());
      DeviceArray<float> device_a(count * size_a), device_b(count * size_b),
          device_c(static_cast<std::int64_t>(c.size()));
      device_a.copy_from_host(a.data());
      device_b.copy_from_host(b.data());
      device_c.copy_from_host(c.data());
      kernel(size, count, device_a.data(), device_b.data(), device_c.data(), nullptr);
      device_c.copy_to_host(c.data());
      std::vector<double> row(static_cast<std::size_t>(size.n)), magnitude(row.size());
      for (std::int64_t i = 0; i < count * size.m; ++i)
      {
        const float *const from_a = a.data() + i / size.m * size_a;
        const float *const from_b = b.data() + i / size.m * size_b;
        reference_row(size, i % size.m, from_a, from_b, row.data());
        magnitude_row(size, i % size.m, from_a, from_b, magnitude.data());
        for (std::size_t j = 0; j < row.size(); ++j)
          ASSERT_NEAR(c[static_cast<std::size_t>(i) * row.size() + j], row[j], 4e-6 * magnitude[j])
              << i << ", " << j;
      }
      EXPECT_EQ(c.back(), 5.F);
    };
    const auto check_all = [&]<std::size_t... i>(const Size &size, std::index_sequence<i...>)
    {
      (check(Single<policies[i]>::multiply_batch, size), ...);
    };
    for (const Size size : {Size{16, 8, 8}, {17, 9, 5}, {130, 136, 20}, {1, 1, 1}})
      check_all(size, std::make_index_sequence<std::size(policies)>());
    EXPECT_NO_THROW(
        (Single<policies[0]>::multiply_batch({8, 8, 8}, 0, nullptr, nullptr, nullptr, nullptr)));
    EXPECT_THROW(
        (Single<policies[0]>::multiply_batch({8, 8, 8}, 65536, nullptr, nullptr, nullptr, nullptr)),
        std::length_error);
  }
} // namespace
} // namespace tensormg
