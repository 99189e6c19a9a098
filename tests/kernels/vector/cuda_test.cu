// The vector kernels on a device against those of the CPU: sizes around every batch and block, each number
// type, outputs that are NaN before the call, NaN and Inf in the input, the same bits twice.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/vector/cuda.h"
#include "tests/support/device/reduction.h"
#include "tests/support/guarded.h"
#include "tests/support/vector_lines.h"

namespace tensormg
{
namespace
{
  namespace vk = vector_kernels;
  namespace vc = vector_kernels::cuda;
  using test::Guarded;
  using test::line;
  using test::random_line;
  using test::Reduction;
  using test::sizes;
  using test::to_double;
  using test::unit_roundoff;

  template <typename Number>
  class VectorCuda : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(VectorCuda, Numbers);
  using VectorCudaDouble = VectorCuda<double>;

  TYPED_TEST(VectorCuda, Dot)
  {
    Reduction reduce;
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<TypeParam>(size, 1), y = random_line<TypeParam>(size, 2);
      Guarded<TypeParam> dx(x), dy(y);
      const auto found = reduce(1, [&](double *scratch, double *result, Stream stream) {
        vc::dot(size, dx.data(), dy.data(), scratch, result, stream);
      });
      EXPECT_NEAR(found[0], vk::dot(size, x.data(), y.data()), 1e-15 * size) << size;
    }
  }

  TYPED_TEST(VectorCuda, MaxAbsSeesEveryEntry)
  {
    Reduction reduce;
    const double infinity = std::numeric_limits<double>::infinity();
    for (const std::int64_t size : sizes)
    {
      auto x = random_line<TypeParam>(size, 3);
      Guarded<TypeParam> dx(x);
      const auto largest = [&] {
        dx.write(x.data());
        return reduce(1, [&](double *scratch, double *result, Stream stream) {
          vc::max_abs(size, dx.data(), scratch, result, stream);
        })[0];
      };
      EXPECT_EQ(largest(), vk::max_abs(size, x.data()));
      if (size > 10000)
        continue;
      for (const std::int64_t at : {std::int64_t(0), size / 2 + 3, size - 1})
        for (const auto &[value, expected] : {std::pair{-3.5, 3.5}, {60000., 60000.},
                 {infinity, infinity}, {-infinity, infinity}, {std::nan(""), infinity}})
        {
          const TypeParam kept = x[at];
          x[at] = test::from_double<TypeParam>(value);
          EXPECT_EQ(largest(), expected) << size << ' ' << at;
          x[at] = kept;
        }
    }
    auto zero = Vector<TypeParam>(line(16));
    Guarded<TypeParam> dz(zero);
    const auto of_zero = reduce(1, [&](double *scratch, double *result, Stream stream) {
      vc::max_abs(16, dz.data(), scratch, result, stream);
    });
    EXPECT_EQ(of_zero[0], 0.);
  }

  TEST(VectorCudaRandom, IsAFunctionOfThePosition)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    const OwnedStream stream;
    for (const Block &block :
        {Block(2, 1, {3, 2, 1}), Block(3, 2, {9, 4, 5}), Block(3, 3, {16, 2, 3})})
    {
      Guarded<double> x(block.size());
      vc::pseudo_random_vector(
          block, {.rows_per_plane = block.rows_per_plane()}, x.data(), stream.get());
      Vector<double> found(block);
      EXPECT_TRUE(x.read(found.data(), stream.get()));
      for (std::int64_t at = 0; at < block.size(); ++at)
      {
        const std::int64_t line = at / block.pitch, cell = at % block.pitch;
        const double expected = cell < block.cells[0]
            ? vk::pseudo_random(static_cast<std::uint64_t>(line * block.cells[0] + cell))
            : 0.;
        ASSERT_EQ(found[at], expected) << at;
      }
    }
  }

  TYPED_TEST(VectorCuda, Axpby)
  {
    const OwnedStream stream;
    const double tolerance = 2. * unit_roundoff<TypeParam>();
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<TypeParam>(size, 1), y = random_line<TypeParam>(size, 2);
      Guarded<TypeParam> dx(x), dy(y), unread(size), same(x);
      vc::axpby(size, 0.75, dx.data(), -1.25, dy.data(), stream.get());
      vc::axpby(size, -0.5, dx.data(), 0., unread.data(), stream.get());
      vc::axpby(size, 0.5, same.data(), 0.25, same.data(), stream.get());
      auto found = random_line<TypeParam>(size, 0), scaled = random_line<TypeParam>(size, 0),
           sum = random_line<TypeParam>(size, 0);
      EXPECT_TRUE(dy.read(found.data(), stream.get()));
      EXPECT_TRUE(unread.read(scaled.data(), stream.get()));
      EXPECT_TRUE(same.read(sum.data(), stream.get()));
      for (std::int64_t i = 0; i < size; ++i)
      {
        ASSERT_NEAR(
            to_double(found[i]), 0.75 * to_double(x[i]) - 1.25 * to_double(y[i]), 2. * tolerance);
        ASSERT_NEAR(to_double(scaled[i]), -0.5 * to_double(x[i]), tolerance);
        ASSERT_NEAR(to_double(sum[i]), 0.75 * to_double(x[i]), tolerance);
      }
    }
  }

  template <typename To, typename From>
  void expect_converted(const vc::Scale &scale, double factor)
  {
    const OwnedStream stream;
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<From>(size, 9);
      Vector<To> expected(line(size)), found(line(size));
      vk::convert(size, factor, x.data(), expected.data());
      Guarded<From> dx(x);
      Guarded<To> dy(size);
      vc::convert(size, scale, dx.data(), dy.data(), stream.get());
      EXPECT_TRUE(dy.read(found.data(), stream.get()));
      EXPECT_TRUE(test::same_bits(found, expected)) << size << " factor " << factor;
    }
  }

  TEST_F(VectorCudaDouble, ConvertsAsTheCpu)
  {
    for (const double factor : {0.3, 0x1p-12})
    {
      expect_converted<double, double>({factor}, factor);
      expect_converted<float, double>({factor}, factor);
      expect_converted<Half, double>({factor}, factor);
      expect_converted<double, float>({factor}, factor);
      expect_converted<double, Half>({factor}, factor);
      expect_converted<WideFloat, double>({factor}, factor);
      expect_converted<double, WideFloat>({factor}, factor);
      expect_converted<Half, WideFloat>({factor}, factor);
      expect_converted<WideFloat, Half>({factor}, factor);
      expect_converted<float, WideFloat>({factor}, factor);
      expect_converted<WideFloat, float>({factor}, factor);
      expect_converted<float, Half>({factor}, factor);
      expect_converted<float, float>({factor}, factor);
    }
  }

  TEST_F(VectorCudaDouble, ConvertsByTheLargestEntry)
  {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double largest : {1., 0.5, 3., 0x1.8p-20, 1e-9, 1e12, 0., infinity})
    {
      DeviceArray<double> device(1);
      device.copy_from_host(&largest);
      device::synchronize(nullptr);
      const double p = largest > 0. && std::isfinite(largest)
          ? std::exp2(std::floor(std::log2(1. / largest)))
          : 1.;
      expect_converted<Half, double>({0.25, device.data(), false}, 0.25 * p);
      expect_converted<double, Half>({4., device.data(), true}, 4. / p);
    }
  }

  template <typename To, typename From>
  void expect_sum_converted(double factor)
  {
    const OwnedStream stream;
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<From>(size, 9);
      auto d = random_line<From>(size, 10);
      for (std::int64_t i = 0; i < size; ++i) // as the rest of a rounded number
        d[i] = test::from_double<From>(unit_roundoff<From>() * to_double(d[i]));
      Vector<To> expected(line(size)), found(line(size));
      vk::convert_sum(size, factor, x.data(), d.data(), expected.data());
      Guarded<From> dx(x), dd(d);
      Guarded<To> dy(size);
      vc::convert_sum(size, vc::Scale{factor}, dx.data(), dd.data(), dy.data(), stream.get());
      EXPECT_TRUE(dy.read(found.data(), stream.get()));
      EXPECT_TRUE(test::same_bits(found, expected)) << size;
    }
  }

  TYPED_TEST(VectorCuda, ConvertsASumAsTheCpu)
  {
    expect_sum_converted<double, TypeParam>(0.3);
    expect_sum_converted<WideFloat, TypeParam>(0x1p-5);
  }

  template <typename To>
  void expect_converted_to_pair(std::int64_t size)
  {
    const auto src = random_line<float>(size, 11);
    Vector<To> expected_x(line(size)), expected_d(line(size)), found(line(size));
    vk::convert_to_pair(size, src.data(), expected_x.data(), expected_d.data());
    Guarded<float> from(src);
    Guarded<To> x(size), d(size);
    vc::convert_to_pair(size, from.data(), x.data(), d.data(), nullptr);
    EXPECT_TRUE(x.read(found.data(), nullptr) && test::same_bits(found, expected_x));
    EXPECT_TRUE(d.read(found.data(), nullptr) && test::same_bits(found, expected_d));
  }

  TEST_F(VectorCudaDouble, ConvertsToAPairAsTheCpu)
  {
    expect_converted_to_pair<Half>(4104);
    expect_converted_to_pair<float>(520);
  }

  TEST_F(VectorCudaDouble, ConversionKeepsWhatIsNotFinite)
  {
    const double infinity = std::numeric_limits<double>::infinity();
    Vector<double> x(line(8));
    const double values[8] = {infinity, -infinity, std::nan(""), 1e6, 1e300, 1e-300, 65504., -0.};
    std::copy_n(values, 8, x.data());
    const OwnedStream stream;
    Guarded<double> dx(x);
    Guarded<Half> dy(8);
    vc::convert(8, vc::Scale(), dx.data(), dy.data(), stream.get());
    Vector<Half> half(line(8));
    EXPECT_TRUE(dy.read(half.data(), stream.get()));
    for (const int i : {0, 3, 4})
      EXPECT_EQ(to_double(half[i]), infinity) << i;
    EXPECT_EQ(to_double(half[1]), -infinity);
    EXPECT_TRUE(std::isnan(to_double(half[2])));
    EXPECT_EQ(to_double(half[5]), 0.);
    EXPECT_EQ(to_double(half[6]), 65504.);
  }

  TEST_F(VectorCudaDouble, DotAndAxpbyOfWideFloats)
  {
    Reduction reduce;
    for (const std::int64_t size : sizes)
    {
      const auto x = random_line<WideFloat>(size, 1);
      auto y = random_line<WideFloat>(size, 2);
      Guarded<WideFloat> dx(x), dy(y);
      const auto sum = reduce.run(1, [&](double *scratch, double *result, Stream stream) {
        vc::dot(size, dx.data(), dy.data(), scratch, result, stream);
      });
      EXPECT_NEAR(sum[0], vk::dot(size, x.data(), y.data()), 1e-14 * double(size));
      for (const double b : {0.75, 0.})
      {
        vc::axpby(size, 0.3, dx.data(), b, dy.data(), reduce.stream());
        vk::axpby(size, 0.3, x.data(), b, y.data());
        Vector<WideFloat> found(line(size));
        EXPECT_TRUE(dy.read(found.data(), reduce.stream()));
        for (std::int64_t i = 0; i < size; ++i)
          ASSERT_NEAR(double(found[i]), double(y[i]), 0x1p-23);
      }
    }
  }

  // Rows of fewer words than threads, of more words than a block has threads, one cell, two dimensions.
  const Block blocks[] = {Block(3, 2, {5, 3, 2}), Block(3, 1, {8, 1, 1}), Block(3, 4, {17, 2, 3}),
      Block(2, 3, {9, 4, 1}), Block(2, 8, {1, 1, 1}), Block(3, 7, {1, 3, 2}),
      Block(2, 5, {1201, 3, 1})};

  TYPED_TEST(VectorCuda, InverseDiagonal)
  {
    const OwnedStream stream;
    const std::array<double, 3> factor{1., 0.4, 0.25};
    for (const Block &block : blocks)
    {
      const CellBasis basis = make_cell_basis(block.degree());
      const auto b = test::random_vector<TypeParam>(block, 1);
      Vector<TypeParam> expected(block), found(block), again(block);
      vk::inverse_diagonal(block, basis, factor, 1.7, b.data(), expected.data());
      Guarded<TypeParam> db(b), dx(b.size());
      vc::inverse_diagonal(block, basis, factor, 1.7, db.data(), dx.data(), stream.get());
      vc::inverse_diagonal(block, basis, factor, 1.7, db.data(), db.data(), stream.get());
      EXPECT_TRUE(dx.read(found.data(), stream.get()));
      EXPECT_TRUE(db.read(again.data(), stream.get()));
      EXPECT_TRUE(test::same_bits(found, again));
      EXPECT_TRUE(test::padding_is_zero(found));
      test::for_each_dof(block, [&](std::int64_t at) {
        ASSERT_NEAR(to_double(found[at]), to_double(expected[at]),
            6. * unit_roundoff<TypeParam>() * std::abs(to_double(expected[at])) + 0x1p-24);
      });
    }
  }

  template <typename Number, typename From>
  void expect_converted_and_divided(const Block &block)
  {
    const OwnedStream stream;
    const CellBasis basis = make_cell_basis(block.degree());
    const std::array<double, 3> factor{1., 0.4, 0.25};
    const auto src = test::random_vector<From>(block, 3);
    Guarded<From> dsrc(src);
    Guarded<Number> b(block.size()), x(block.size()), expected_x(block.size());
    vc::convert_and_divide(
        block, basis, factor, 1.7, vc::Scale{0.25}, dsrc.data(), b.data(), x.data(), stream.get());
    Vector<Number> found_b(block), found_x(block), expected(block), divided(block);
    EXPECT_TRUE(b.read(found_b.data(), stream.get()) && x.read(found_x.data(), stream.get()));
    vk::convert(block.size(), 0.25, src.data(), expected.data());
    EXPECT_TRUE(test::same_bits(found_b, expected));
    vc::inverse_diagonal(block, basis, factor, 1.7, b.data(), expected_x.data(), stream.get());
    EXPECT_TRUE(expected_x.read(divided.data(), stream.get()));
    EXPECT_TRUE(test::same_bits(found_x, divided));
  }

  TYPED_TEST(VectorCuda, ConvertAndDivideIsBothOneAfterTheOther)
  {
    for (const Block &block : blocks)
    {
      expect_converted_and_divided<TypeParam, double>(block);
      expect_converted_and_divided<TypeParam, WideFloat>(block);
    }
  }

  TYPED_TEST(VectorCuda, ConstantsAndMeans)
  {
    Reduction reduce;
    for (const Block &block : blocks)
    {
      const CellBasis basis = make_cell_basis(block.degree());
      auto u = test::random_vector<TypeParam>(block, 6);
      Guarded<TypeParam> du(u);
      const auto mean = reduce(1, [&](double *scratch, double *result, Stream stream) {
        vc::sum_of_means(block, basis, du.data(), scratch, result, stream);
      });
      EXPECT_NEAR(mean[0], vk::sum_of_means(block, basis, u.data()), 1e-13 * block.n_cells());
      vk::add_constant(block, basis, -0.6, u.data());
      vc::add_constant(block, basis, -0.6, du.data(), reduce.stream());
      Vector<TypeParam> found(block);
      EXPECT_TRUE(du.read(found.data(), reduce.stream()));
      EXPECT_LT(test::relative_difference(found, u), 2. * unit_roundoff<TypeParam>());
      EXPECT_TRUE(test::padding_is_zero(found));
    }
  }
} // namespace
} // namespace tensormg
