// cuSPARSE as `diagnose` calls it agrees with the reference.
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/sparse/block_matrix.h"
#include "kernels/diagnostics/sparse/generators.h"
#include "kernels/diagnostics/sparse/sliced_ell.h"
#include "kernels/diagnostics/spmv/cusparse.h"
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

  /// Numbers of FP16, sums in FP32.
  void check_half(CusparseAlgorithm algorithm)
  {
    constexpr std::int32_t columns = 1103;
    std::vector<float> x = test::random_vector<float>(columns);
    const auto halves = [](std::vector<float> &list) {
      std::vector<Half> result;
      for (float &value : list)
      {
        result.push_back(Half(value));
        value = static_cast<float>(result.back());
      }
      return result;
    };
    const auto device_x = on_device(halves(x));
    for (const std::vector<std::int32_t> &lengths : test::row_lengths())
    {
      test::SparseCase<float> matrix(columns, lengths);
      if (matrix.value.empty())
        continue;
      const auto value = on_device(halves(matrix.value));
      const auto row_begin = on_device(matrix.row_begin), column = on_device(matrix.column);
      const auto rows = static_cast<std::int32_t>(lengths.size());
      std::vector<float> y = test::poisoned<float>(rows);
      DeviceArray<float> device_y = on_device(y);
      const CusparseProduct<Half> product(
          {rows, columns, row_begin.data(), column.data(), value.data()}, matrix.row_begin.back(),
          device_x.data(), device_y.data(), algorithm);
      product.multiply(nullptr);
      device_y.copy_to_host(y.data());
      test::expect_right(matrix.view(), x, y);
    }
  }

  constexpr auto copy_to_device = [](const auto &array) {
    using T = std::remove_const_t<std::remove_reference_t<decltype(array[0])>>;
    return on_device(std::vector<T>(array.begin(), array.end()));
  };

  /// In a format whose arrays are on the device.
  template <typename Number, typename View>
  void check_product(const sparse::SparseMatrix<double> &matrix, const View &view)
  {
    const sparse::SparseMatrix<Number> rounded = sparse::convert<Number>(matrix);
    const std::vector<Number> x = test::random_vector<Number>(matrix.columns);
    const auto device_x = on_device(x);
    std::vector<Number> y = test::poisoned<Number>(matrix.rows);
    DeviceArray<Number> device_y = on_device(y);
    const CusparseProduct<Number> product(view, device_x.data(), device_y.data());
    product.multiply(nullptr);
    device_y.copy_to_host(y.data());
    test::expect_right(rounded.view(), x, y);
  }

  template <typename Number>
  void check_blocks()
  {
    for (const sparse::Generator &generator : sparse::generators())
      if (generator.name == std::string("elasticity"))
      {
        const sparse::SparseMatrix<double> matrix = generator.make(30'000);
        const sparse::BlockMatrix<Number> blocks = sparse::make_blocks<Number>(matrix, 3);
        const auto row_begin = copy_to_device(blocks.row_begin),
                   column = copy_to_device(blocks.column);
        const auto value = copy_to_device(blocks.value);
        Bsr<Number> view = blocks.view();
        view.row_begin = row_begin.data();
        view.column = column.data();
        view.value = value.data();
        check_product<Number>(matrix, view);
      }
  }

  template <typename Number>
  void check_slices()
  {
    for (const sparse::Generator &generator : sparse::generators())
      if (generator.name == std::string("poisson7"))
      {
        const sparse::SparseMatrix<double> matrix = generator.make(30'000);
        const sparse::SlicedEll<Number> slices = sparse::make_sliced_ell<Number>(matrix);
        const auto slice_begin = copy_to_device(slices.slice_begin),
                   column = copy_to_device(slices.column);
        const auto value = copy_to_device(slices.value);
        Sell<Number> view = slices.view();
        view.slice_begin = slice_begin.data();
        view.column = column.data();
        view.value = value.data();
        check_product<Number>(matrix, view);
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
      check_half(algorithm);
    }
    check_blocks<double>();
    check_blocks<float>();
    check_slices<double>();
    check_slices<float>();
  }
} // namespace
} // namespace tensormg
