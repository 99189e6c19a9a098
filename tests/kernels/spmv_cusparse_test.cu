// cuSPARSE as `diagnose` calls it agrees with the reference.
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/core/device.h"
#include "kernels/spmv/cusparse.h"
#include "tests/support/sparse_cases.h"

namespace tensormg
{
namespace
{
  using namespace spmv;

  template <typename T>
  DeviceArray<T> on_device(const std::vector<T> &list)
  {
    DeviceArray<T> array(static_cast<std::int64_t>(list.size()));
    if (!list.empty())
      array.copy_from_host(list.data());
    return array;
  }

  template <typename Number>
  void check(CusparseAlgorithm algorithm)
  {
    constexpr std::int32_t columns = 1103;
    const std::vector<Number> x = test::random_vector<Number>(columns);
    for (const std::vector<std::int32_t> &lengths : test::row_lengths())
    {
      const test::SparseCase<Number> matrix(columns, lengths);
      if (matrix.value.empty())
        continue;
      const auto row_begin = on_device(matrix.row_begin), column = on_device(matrix.column);
      const auto value = on_device(matrix.value), device_x = on_device(x);
      const auto rows = static_cast<std::int32_t>(lengths.size());
      std::vector<Number> y = test::poisoned<Number>(rows);
      DeviceArray<Number> device_y = on_device(y);
      const CusparseProduct<Number> product(
          {rows, columns, row_begin.data(), column.data(), value.data()}, matrix.row_begin.back(),
          device_x.data(), device_y.data(), algorithm);
      product.multiply(nullptr);
      device_y.copy_to_host(y.data());
      test::expect_right(matrix.view(), x, y);
    }
  }

  TEST(SpmvCusparse, AgreesWithTheReference)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    use_device(0);
    for (const CusparseAlgorithm algorithm : {CusparseAlgorithm::csr1, CusparseAlgorithm::csr2})
    {
      check<double>(algorithm);
      check<float>(algorithm);
    }
  }
} // namespace
} // namespace tensormg
