// Products with sparse matrices and steps of a smoother in device memory against plain loops; rows of none to many entries.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "operators/cellwise/device_vertices.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  using Numbers = std::vector<double>;

  Numbers numbers(std::int64_t size, double seed)
  {
    Numbers result(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = std::sin(seed * static_cast<double>(i + 1));
    return result;
  }

  SparseRows matrix(std::int64_t rows, std::int64_t columns)
  {
    SparseRows result;
    for (std::int64_t row = 0; row < rows; ++row)
    {
      for (std::int64_t e = 0; e < row * 7 % 11; ++e)
        result.add((row * 5 + e * 3) % columns, std::cos(static_cast<double>(row + 3 * e)));
      result.end_row();
    }
    return result;
  }

  double row_times(const SparseRows &a, std::size_t row, const Numbers &x)
  {
    double sum = 0.;
    for (std::int64_t e = a.begin[row]; e < a.begin[row + 1]; ++e)
      sum = std::fma(a.values[static_cast<std::size_t>(e)],
          x[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(e)])], sum);
    return sum;
  }

  class SparseOnDevice : public testing::TestWithParam<std::int64_t>
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    static void expect_near(test::Guarded<double> &found, const Numbers &expected)
    {
      Numbers values(expected.size());
      EXPECT_TRUE(found.read(values.data(), nullptr));
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], 1e-14 * (1. + std::abs(expected[i]))) << i;
    }
  };

  TEST_P(SparseOnDevice, ProductsEqualLoops)
  {
    const std::int64_t rows = GetParam(), columns = 1 + rows / 2;
    const SparseRows a = matrix(rows, columns);
    const DeviceSparseMatrix on_device(a, nullptr);
    const Numbers x = numbers(columns, 0.3), b = numbers(rows, 0.7);
    Numbers product(b.size()), sum(b.size()), residual(b.size());
    for (std::size_t i = 0; i < b.size(); ++i)
    {
      product[i] = row_times(a, i, x);
      sum[i] = b[i] + product[i];
      residual[i] = b[i] - product[i];
    }
    test::Guarded<double> device_x(x.data(), columns), device_b(b.data(), rows), y(rows);
    sparse::product(on_device.view(), device_x.data(), y.data(), nullptr);
    expect_near(y, product);
    y.poison();
    sparse::residual(on_device.view(), device_b.data(), device_x.data(), y.data(), nullptr);
    expect_near(y, residual);
    sparse::add_product(on_device.view(), device_x.data(), device_b.data(), nullptr);
    expect_near(device_b, sum);
  }

  TEST_P(SparseOnDevice, StepsEqualLoops)
  {
    const std::int64_t rows = GetParam();
    const SparseRows a = matrix(rows, rows);
    const DeviceSparseMatrix on_device(a, nullptr);
    const Numbers x = numbers(rows, 0.3), b = numbers(rows, 0.7), d = numbers(rows, 1.1),
                  old = numbers(rows, 1.3);
    constexpr double theta = 0.4, alpha = 0.6;
    Numbers first(b.size()), other(b.size());
    for (std::size_t i = 0; i < b.size(); ++i)
    {
      first[i] = alpha * d[i] * b[i];
      other[i] = x[i] + theta * (x[i] - old[i]) + alpha * d[i] * (b[i] - row_times(a, i, x));
    }
    test::Guarded<double> device_x(x.data(), rows), device_b(b.data(), rows),
        device_d(d.data(), rows), y(rows);
    sparse::step(on_device.view(), theta, alpha, device_d.data(), device_b.data(), nullptr,
        y.data(), nullptr);
    expect_near(y, first);
    y.write(old.data());
    sparse::step(on_device.view(), theta, alpha, device_d.data(), device_b.data(), device_x.data(),
        y.data(), nullptr);
    expect_near(y, other);
  }

  INSTANTIATE_TEST_SUITE_P(Rows, SparseOnDevice, testing::Values(1, 31, 32, 33, 200));
} // namespace
} // namespace tensormg
