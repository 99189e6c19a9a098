// What the tensor cores and the conversions do to numbers that are not exact: bit for bit where PTX
// defines it, within a bound where it leaves it open. Skipped without a GPU.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/mma/instructions.cuh"
#include "tests/support/device/emulated_warp.h"
#include "tests/support/device/warp.cuh"

namespace tensormg
{
namespace
{
  using namespace mma;
  using test::DenseMatrix;
  using test::DeviceArray;
  using test::load;
  using test::reason_to_skip;
  using test::result_of;
  using test::store;

  __global__ void convert(
      const float *values, int n, std::uint32_t *tf32, std::uint16_t *half, std::uint16_t *bf16)
  {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += warp_size)
    {
      tf32[i] = to_tf32(values[i]).bits;
      half[i] = to_half(values[i]).bits;
      bf16[i] = to_bf16(values[i]).bits;
    }
  }

  /// Ties, neighbours of ties, limits of both formats, infinity, NaN, and bit patterns without a
  /// system; no subnormal floats, which a compiler option may flush.
  std::vector<float> hard_floats()
  {
    std::vector<float> values = {0.f, -0.f, 1.f, 65504.f, 65519.996f, 65520.f, 1e30f, 0x1p-24f,
        0x1p-25f, 0x1.000002p-25f, 0x1.8p-24f, 6.1e-5f, 0x1p-126f,
        std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()};
    for (int i = 0; i < 64; ++i)
      for (const float step : {0x1p-11f, 0x1p-12f, 0x1p-23f})
        values.push_back(1.f + static_cast<float>(i) * step);
    std::uint32_t state = 1;
    while (values.size() < 4096)
    {
      state = state * 1664525u + 1013904223u;
      const float value = std::bit_cast<float>(state);
      if (std::fpclassify(value) != FP_SUBNORMAL)
        values.push_back(value);
    }
    for (std::size_t i = 0, n = values.size(); i < n; ++i)
      values.push_back(-values[i]);
    return values;
  }

  TEST(MmaRounding, ConversionsAreThoseOfTheHost)
  {
    if (const std::string reason = reason_to_skip(convert, 80); !reason.empty())
      GTEST_SKIP() << reason;
    const std::vector<float> values = hard_floats();
    DeviceArray<float> device(values);
    DeviceArray<std::uint32_t> tf32(std::vector<std::uint32_t>(values.size(), 0xdeadbeefu));
    DeviceArray<std::uint16_t> half(std::vector<std::uint16_t>(values.size(), 0xbeef));
    DeviceArray<std::uint16_t> bf16(std::vector<std::uint16_t>(values.size(), 0xbeef));
    test::run_warp(convert, static_cast<const float *>(device), static_cast<int>(values.size()),
        static_cast<std::uint32_t *>(tf32), static_cast<std::uint16_t *>(half),
        static_cast<std::uint16_t *>(bf16));
    const std::vector<std::uint32_t> tf32_bits = tf32.values();
    const std::vector<std::uint16_t> half_bits = half.values();
    const std::vector<std::uint16_t> bf16_bits = bf16.values();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isnan(values[i]))
      {
        EXPECT_TRUE(std::isnan(static_cast<float>(Tf32{tf32_bits[i]})));
        EXPECT_TRUE(std::isnan(Half::to_float_portable(half_bits[i])));
        EXPECT_TRUE(std::isnan(static_cast<float>(Bf16{bf16_bits[i]})));
      }
      else
      {
        EXPECT_EQ(tf32_bits[i], Tf32::round(values[i]).bits) << values[i];
        EXPECT_EQ(half_bits[i], Half::from_float_portable(values[i])) << values[i];
        EXPECT_EQ(bf16_bits[i], Bf16::round(values[i]).bits) << values[i];
      }
  }

  template <typename S>
  __global__ void product(const double *a, const double *b, const double *c, double *d)
  {
    if constexpr (is_available<S>)
    {
      const int lane = static_cast<int>(threadIdx.x);
      FragmentC<S> sum = load<S, Operand::c>(lane, c);
      mma_sync(sum, load<S, Operand::a>(lane, a), load<S, Operand::b>(lane, b));
      store(sum, lane, d);
    }
  }

  /// A B + C on the device.
  template <typename S>
  DenseMatrix device_product(const DenseMatrix &a, const DenseMatrix &b, const DenseMatrix &c)
  {
    DeviceArray<double> device_a(a.entries);
    DeviceArray<double> device_b(b.entries);
    DeviceArray<double> device_c(c.entries);
    return result_of(product<S>, S::m, S::n, device_a, device_b, device_c);
  }

  /// Uniform in [-1, 1], 20 bits: more than TF32 or FP16 hold.
  DenseMatrix fractions(int rows, int columns, std::uint32_t state)
  {
    DenseMatrix matrix(rows, columns);
    for (double &entry : matrix.entries)
    {
      state = state * 1664525u + 1013904223u;
      entry = static_cast<double>(state >> 12) / 0x1p19 - 1.;
    }
    return matrix;
  }

  template <typename S>
  class MmaRoundingOf : public testing::Test
  {};
  template <typename List>
  struct TestTypes;
  template <typename... S>
  struct TestTypes<ShapeList<S...>>
  {
    using type = testing::Types<S...>;
  };
  TYPED_TEST_SUITE(MmaRoundingOf, TestTypes<AllShapes>::type);

  // |D - exact| <= (k + 1) eps (|A| |B| + |C|), where exact uses the rounded multiplicands and eps is
  // two units roundoff of the accumulator: the hardware may truncate partial sums.
  TYPED_TEST(MmaRoundingOf, AccumulationIsThatOfItsType)
  {
    using S = TypeParam;
    if (const std::string reason = reason_to_skip(product<S>, S::min_capability); !reason.empty())
      GTEST_SKIP() << reason;
    const DenseMatrix a = fractions(S::m, S::k, 1);
    const DenseMatrix b = fractions(S::k, S::n, 2);
    const DenseMatrix c = fractions(S::m, S::n, 3);
    const DenseMatrix d = device_product<S>(a, b, c);
    const DenseMatrix rounded_a = test::collect<S, Operand::a>(test::distribute<S, Operand::a>(a));
    const DenseMatrix rounded_b = test::collect<S, Operand::b>(test::distribute<S, Operand::b>(b));
    const double eps = std::numeric_limits<typename S::Accumulator>::epsilon();
    for (int i = 0; i < S::m; ++i)
      for (int j = 0; j < S::n; ++j)
      {
        long double exact = c(i, j);
        double magnitude = std::abs(c(i, j));
        for (int k = 0; k < S::k; ++k)
        {
          exact += static_cast<long double>(rounded_a(i, k)) * rounded_b(k, j);
          magnitude += std::abs(rounded_a(i, k) * rounded_b(k, j));
        }
        EXPECT_LE(std::abs(static_cast<double>(d(i, j) - exact)), (S::k + 1) * eps * magnitude);
      }
  }

  /// Row 0 of A times column 0 of B, plus c.
  template <typename S>
  double dot(const std::vector<double> &a, const std::vector<double> &b, double c)
  {
    DenseMatrix matrix_a(S::m, S::k);
    DenseMatrix matrix_b(S::k, S::n);
    DenseMatrix matrix_c(S::m, S::n);
    for (std::size_t k = 0; k < a.size(); ++k)
    {
      matrix_a(0, static_cast<int>(k)) = a[k];
      matrix_b(static_cast<int>(k), 0) = b[k];
    }
    matrix_c(0, 0) = c;
    return device_product<S>(matrix_a, matrix_b, matrix_c)(0, 0);
  }

  TEST(MmaRounding, HalfAccumulatesInFloat)
  {
    using S = M16N8K16<Half>;
    if (const std::string reason = reason_to_skip(product<S>, 80); !reason.empty())
      GTEST_SKIP() << reason;
    EXPECT_EQ((dot<S>({2048., 1.}, {1., 1.}, 0.)), 2049.);            // beyond the 11 bits of FP16
    EXPECT_EQ((dot<S>({65504., 65504.}, {2., 2.}, 0.)), 4. * 65504.); // beyond its range
    EXPECT_EQ((dot<S>({0x1p-24}, {1.}, 0.)), 0x1p-24);                // subnormal numbers count
    EXPECT_EQ((dot<S>({0x1p-24}, {0x1p-24}, 0.)), 0x1p-48);
    EXPECT_EQ((dot<S>({1.}, {1.}, 0x1p-20)), 1. + 0x1p-20);
  }

  TEST(MmaRounding, ProductsOfBf16AreExact)
  {
    using S = M16N8K16<Bf16>;
    if (const std::string reason = reason_to_skip(product<S>, 80); !reason.empty())
      GTEST_SKIP() << reason;
    EXPECT_EQ((dot<S>({255.}, {255.}, 0.)), 255. * 255.);
    EXPECT_EQ((dot<S>({1. + 0x1p-7}, {1. - 0x1p-7}, 0.)), 1. - 0x1p-14);
    EXPECT_EQ((dot<S>({0x1p100}, {0x1p20}, 0.)), 0x1p120); // the range of float
    EXPECT_EQ((dot<S>({0x1p-60}, {0x1p-60}, 0.)), 0x1p-120);
  }

  TEST(MmaRounding, ProductsOfTf32AreExact)
  {
    using S = M16N8K8<Tf32>;
    if (const std::string reason = reason_to_skip(product<S>, 80); !reason.empty())
      GTEST_SKIP() << reason;
    EXPECT_EQ((dot<S>({2047.}, {2047.}, 0.)), 2047. * 2047.);
    EXPECT_EQ((dot<S>({1. + 0x1p-10}, {1. - 0x1p-10}, 0.)), 1. - 0x1p-20);
    EXPECT_EQ((dot<S>({0x1p100}, {0x1p20}, 0.)), 0x1p120); // the range of float
  }

  /// Floats as TF32 operands without conversion.
  __global__ void unconverted(const double *a, const double *b, double *d)
  {
    using S = M16N8K8<Tf32>;
    const int lane = static_cast<int>(threadIdx.x);
    const auto bits = [](double value) {
      return Tf32{std::bit_cast<std::uint32_t>(static_cast<float>(value))};
    };
    const auto left =
        make_fragment<S, Operand::a>(lane, [&](int i, int k) { return bits(a[i * S::k + k]); });
    const auto right =
        make_fragment<S, Operand::b>(lane, [&](int k, int j) { return bits(b[k * S::n + j]); });
    FragmentC<S> sum{};
    mma_sync(sum, left, right);
    store(sum, lane, d);
  }

  // PTX leaves it open; GPUs so far ignore the 13 low bits, so that an unconverted float is truncated.
  TEST(MmaRounding, UnconvertedFloatsAreTruncated)
  {
    using S = M16N8K8<Tf32>;
    if (const std::string reason = reason_to_skip(unconverted, 80); !reason.empty())
      GTEST_SKIP() << reason;
    DenseMatrix a = fractions(S::m, S::k, 5);
    DenseMatrix b = fractions(S::k, S::n, 6);
    const auto device = [](DenseMatrix &left, DenseMatrix &right) {
      DeviceArray<double> device_left(left.entries);
      DeviceArray<double> device_right(right.entries);
      return result_of(unconverted, S::m, S::n, device_left, device_right);
    };
    const DenseMatrix with_low_bits = device(a, b);
    for (DenseMatrix *matrix : {&a, &b})
      for (double &entry : matrix->entries)
        entry = static_cast<float>(Tf32::truncate(static_cast<float>(entry)));
    EXPECT_EQ(with_low_bits, device(a, b));
  }
} // namespace
} // namespace tensormg
