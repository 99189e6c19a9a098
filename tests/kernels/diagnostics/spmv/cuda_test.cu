// Products with sparse matrices on a device: against the reference for rows of all lengths, and the same bits
// in every run.
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/sparse/sliced_matrix.h"
#include "kernels/diagnostics/spmv/sliced.h"
#include "kernels/diagnostics/spmv/spmv.h"
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

  /// A matrix and a vector in device memory.
  template <typename Number>
  class Case
  {
  public:
    /// Columns and values begin `offset` entries after a multiple of 16 bytes.
    Case(const test::SparseCase<Compute<Number>> &matrix, const std::vector<Number> &x,
        std::size_t offset = 0)
      : row_begin_(on_device(matrix.row_begin))
      , column_(on_device(moved(matrix.column, offset)))
      , value_(
            on_device(moved(std::vector<Number>(matrix.value.begin(), matrix.value.end()), offset)))
      , x_(on_device(x))
      , rows_(static_cast<std::int32_t>(matrix.row_begin.size()) - 1)
      , view_{rows_, matrix.columns, row_begin_.data(), column_.data() + offset,
            value_.data() + offset}
      , entries_(matrix.row_begin.back())
    {}

    std::vector<Number> by_vectors(int lanes) const
    {
      return result([&](Number *y) { cuda_vector(view_, entries_, x_.data(), y, lanes, nullptr); });
    }

    std::vector<Compute<Number>> by_merge() const
    {
      const std::int64_t blocks = merge_blocks(rows_, entries_);
      DeviceArray<Carry<Compute<Number>>> carries(blocks);
      DeviceArray<std::int32_t> first_rows(blocks + 1);
      find_merge_rows(view_, entries_, first_rows.data(), nullptr);
      return result([&](Compute<Number> *y) {
        cuda_merge(view_, entries_, first_rows.data(), x_.data(), y, carries.data(), nullptr);
      });
    }

  private:
    template <typename T>
    static std::vector<T> moved(std::vector<T> list, std::size_t offset)
    {
      list.insert(list.begin(), offset, T());
      return list;
    }

    /// y, which is NaN before.
    template <typename Function>
    std::vector<Compute<Number>> result(Function &&function) const
    {
      std::vector<Compute<Number>> y = test::poisoned<Compute<Number>>(rows_);
      DeviceArray<Compute<Number>> on_the_device = on_device(y);
      function(on_the_device.data());
      if (!y.empty())
        on_the_device.copy_to_host(y.data());
      return y;
    }

    DeviceArray<std::int32_t> row_begin_, column_;
    DeviceArray<Number> value_, x_;
    std::int32_t rows_;
    Csr<Number> view_;
    std::int32_t entries_;
  };

  class SpmvCuda : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  /// The host's cases, and some that take several blocks.
  std::vector<std::vector<std::int32_t>> row_lengths()
  {
    std::vector<std::vector<std::int32_t>> list = test::row_lengths();
    std::vector<std::int32_t> many(3000, 2), long_rows(7, 0);
    many[1500] = 4500; // three tiles
    std::vector<std::int32_t> dense(40, 3);
    dense[20] = 300000; // more tiles than a warp adds carries of at once
    list.push_back(dense);
    long_rows[3] = 7001;
    long_rows[4] = 2048;
    std::vector<std::int32_t> skewed(900, 3), short_rows(9000);
    skewed[17] = 700; // long for the threads of a row in its tile
    skewed[400] = 300;
    skewed[401] = 2048;                                       // one chunk
    for (std::size_t row = 0; row < short_rows.size(); ++row) // three windows, both orders
      short_rows[row] = static_cast<std::int32_t>(row * 7919 % 9);
    list.push_back(skewed);
    list.push_back(short_rows);
    list.push_back(std::vector<std::int32_t>(130, 45)); // long on average
    list.push_back(many);
    list.push_back(long_rows);
    list.push_back(std::vector<std::int32_t>(5000, 0));
    return list;
  }

  /// By merge path, aligned and not, and the same bits again.
  template <typename Number>
  void check_merge(const test::SparseCase<Compute<Number>> &matrix, const std::vector<Number> &x)
  {
    std::vector<Compute<Number>> wide_x;
    for (const Number value : x)
      wide_x.push_back(static_cast<Compute<Number>>(value));
    const Case<Number> device(matrix, x);
    const std::vector<Compute<Number>> merged = device.by_merge();
    test::expect_right(matrix.view(), wide_x, merged);
    EXPECT_EQ(merged, device.by_merge());
    EXPECT_EQ(merged, Case<Number>(matrix, x, 1).by_merge());
  }

  template <typename Number>
  void check_all()
  {
    constexpr std::int32_t columns = 1103;
    const std::vector<Number> x = test::random_vector<Number>(columns);
    for (const std::vector<std::int32_t> &lengths : row_lengths())
    {
      const test::SparseCase<Number> matrix(columns, lengths);
      SCOPED_TRACE(std::to_string(lengths.size()) + " rows, " +
          std::to_string(matrix.column.size()) + " entries");
      const Case<Number> device(matrix, x);
      for (const int lanes : {2, 4, 8, 16, 32})
        test::expect_right(matrix.view(), x, device.by_vectors(lanes));
      check_merge(matrix, x);
    }
  }

  TEST_F(SpmvCuda, DoubleAgreesWithTheReference) { check_all<double>(); }
  TEST_F(SpmvCuda, FloatAgreesWithTheReference) { check_all<float>(); }

  /// The matrix in slices, by mma.sync or by FMA.
  template <typename Number>
  using SlicedFunction = void(
      const Sliced<Number> &, const Number *, Compute<Number> *, Compute<Number> *, Stream);
  template <typename Number>
  constexpr SlicedFunction<Number> *by_mma = &cuda_sliced_mma;
  template <typename Number>
  constexpr SlicedFunction<Number> *by_fma = &cuda_sliced_fma<Number>;

  template <typename Number, SlicedFunction<Number> *product>
  std::vector<Compute<Number>> sliced_product(
      const test::SparseCase<Compute<Number>> &matrix, const std::vector<Number> &x)
  {
    using Result = Compute<Number>;
    const auto rows = static_cast<std::int64_t>(matrix.row_begin.size()) - 1;
    const auto sliced = sparse::make_sliced<Number>(sparse::build_by_rows(
        rows, matrix.columns, [&](std::int64_t row, const sparse::Emit &emit) {
          for (std::int32_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e)
            emit(matrix.column[e], matrix.value[e]);
        }));
    const auto copy = [](const auto &array) {
      using T = std::remove_const_t<std::remove_reference_t<decltype(array[0])>>;
      return on_device(std::vector<T>(array.begin(), array.end()));
    };
    const auto block_begin = copy(sliced.block_begin), column = copy(sliced.column),
               target = copy(sliced.target), long_row = copy(sliced.long_row),
               piece_begin = copy(sliced.piece_begin);
    const auto value = copy(sliced.value), device_x = on_device(x);
    Sliced<Number> view = sliced.view();
    view.block_begin = block_begin.data();
    view.column = column.data();
    view.value = value.data();
    view.target = target.data();
    view.long_row = long_row.data();
    view.piece_begin = piece_begin.data();
    std::vector<Result> y = test::poisoned<Result>(sliced.rows);
    DeviceArray<Result> device_y = on_device(y), pieces(sliced.pieces());
    product(view, device_x.data(), device_y.data(), pieces.data(), nullptr);
    if (!y.empty())
      device_y.copy_to_host(y.data());
    return y;
  }

  template <typename Number, SlicedFunction<Number> *product>
  void check_sliced()
  {
    constexpr std::int32_t columns = 1103;
    const std::vector<Number> x = test::random_vector<Number>(columns);
    for (const std::vector<std::int32_t> &lengths : row_lengths())
    {
      SCOPED_TRACE(std::to_string(lengths.size()) + " rows");
      const test::SparseCase<Number> matrix(columns, lengths);
      test::expect_right(matrix.view(), x, sliced_product<Number, product>(matrix, x));
    }
  }

  TEST_F(SpmvCuda, SlicesByMma) { check_sliced<double, by_mma<double>>(); }
  TEST_F(SpmvCuda, SlicesByLargeMma)
  {
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "m16n8k4 in FP64 needs compute capability 9.0";
    check_sliced<double, &cuda_sliced_mma_m16n8k4>();
  }
  TEST_F(SpmvCuda, SlicesByFma) { check_sliced<double, by_fma<double>>(); }
  TEST_F(SpmvCuda, SlicesByFmaInFloat) { check_sliced<float, by_fma<float>>(); }

  /// In FP16 with sums in FP32: against the reference for the rounded numbers. check(matrix, x, x in FP16).
  template <typename Check>
  void check_in_half(Check &&check)
  {
    constexpr std::int32_t columns = 1103;
    const auto rounded = [](float value) { return static_cast<float>(Half(value)); };
    std::vector<float> x = test::random_vector<float>(columns);
    std::vector<Half> half_x;
    for (float &value : x)
    {
      value = rounded(value);
      half_x.push_back(Half(value));
    }
    for (const std::vector<std::int32_t> &lengths : row_lengths())
    {
      SCOPED_TRACE(std::to_string(lengths.size()) + " rows");
      test::SparseCase<float> matrix(columns, lengths);
      for (float &value : matrix.value)
        value = rounded(value);
      check(matrix, x, half_x);
    }
  }

  TEST_F(SpmvCuda, MergeInHalf)
  {
    check_in_half([](const auto &matrix, const auto &, const auto &half_x) {
      check_merge<Half>(matrix, half_x);
    });
  }
  TEST_F(SpmvCuda, SlicesByMmaInHalf)
  {
    check_in_half([](const auto &matrix, const auto &x, const auto &half_x) {
      test::expect_right(matrix.view(), x, sliced_product<Half, by_mma<Half>>(matrix, half_x));
    });
  }
  TEST_F(SpmvCuda, SlicesByFmaInHalf)
  {
    check_in_half([](const auto &matrix, const auto &x, const auto &half_x) {
      test::expect_right(matrix.view(), x, sliced_product<Half, by_fma<Half>>(matrix, half_x));
    });
  }

  TEST_F(SpmvCuda, RefusesOtherLanes)
  {
    const test::SparseCase<double> matrix(10, {1, 2});
    const Case<double> device(matrix, test::random_vector<double>(10));
    EXPECT_THROW(device.by_vectors(3), std::invalid_argument);
    EXPECT_THROW(device.by_vectors(64), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
