// Dense products on a device against the reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/core/half.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/gemm.h"

namespace tensormg::test
{
using gemm::Size;

/// In [-1, 1], never near zero, more digits than any format has.
template <typename Number>
std::vector<Number> gemm_numbers(std::int64_t count, double phase)
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

inline std::vector<double> in_double(const std::vector<Half> &list)
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

/// Of kernel(size, a, b, c, stream). Errors relative to |A| |B|: `factor` for what rounding of the factors may cost, `sum` per
/// addition.
template <typename Number, typename Result, typename Kernel>
void check_product(const Kernel &kernel, const Size &size, double factor, double sum)
{
  SCOPED_TRACE(
      std::to_string(size.m) + " x " + std::to_string(size.n) + " x " + std::to_string(size.k));
  const auto a = gemm_numbers<Number>(size.m * size.k, 0.3),
             b = gemm_numbers<Number>(size.k * size.n, 0.8);
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
    gemm::reference_row(size, i, exact_a.data(), exact_b.data(), exact.data());
    gemm::magnitude_row(size, i, exact_a.data(), exact_b.data(), magnitude.data());
    for (std::int64_t j = 0; j < size.n; ++j)
      ASSERT_NEAR(c[static_cast<std::size_t>(i * size.n + j)], exact[static_cast<std::size_t>(j)],
          (factor + sum * static_cast<double>(size.k + 1)) * magnitude[static_cast<std::size_t>(j)])
          << i << ", " << j;
  }
  for (std::size_t i = c.size() - guards; i < c.size(); ++i)
    ASSERT_EQ(c[i], beyond);
}

/// product(workspace), with so many numbers of workspace that are not a number: nothing is written beyond them.
template <typename Number, typename Product>
void run_in_workspace(std::int64_t numbers, Stream stream, const Product &product)
{
  constexpr std::int64_t guards = 8;
  DeviceArray<Number> workspace(numbers + guards);
  std::vector<Number> host(static_cast<std::size_t>(numbers + guards));
  device::fill_bytes(workspace.data(), 0xff, host.size() * sizeof(Number), stream);
  product(workspace.data());
  workspace.copy_to_host(host.data());
  for (std::size_t i = host.size() - guards; i < host.size(); ++i)
    EXPECT_TRUE(std::isnan(static_cast<float>(host[i])));
}

/// The same with sums of C's type; and the same again to a C that is not a number has the same bits.
template <typename Number, typename Product>
void run_twice(
    const Size &size, std::int64_t numbers, Number *c, Stream stream, const Product &product)
{
  std::vector<Number> results[2];
  for (std::vector<Number> &result : results)
  {
    result.resize(static_cast<std::size_t>(size.m * size.n));
    device::fill_bytes(c, 0xff, result.size() * sizeof(Number), stream);
    run_in_workspace<Number>(numbers, stream, product);
    device::to_host(result.data(), c, result.size() * sizeof(Number), stream);
    device::synchronize(stream);
  }
  EXPECT_EQ(results[0], results[1]);
}

template <typename Number, typename Result, typename Kernel>
void check_products(const Kernel &kernel, double factor, double sum)
{
  for (const Size size :
      {Size{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 17, 5}, {17, 1, 9}, {5, 7, 1},
          {16, 8, 16}, {33, 66, 17}, {40, 24, 48}, {128, 128, 96}, {129, 72, 136}, {131, 263, 21}})
    check_product<Number, Result>(kernel, size, factor, sum);
}

/// The additions of tensor cores are cut off: one unit in the last place each.
inline constexpr double of_float = 0x1p-23, of_double = 0x1p-53;
inline constexpr double of_tf32 = 0x1p-10; ///< two factors, half a unit each

} // namespace tensormg::test
