// Dot products with a basis and linear combinations of its vectors on a device against those of the CPU: numbers
// of vectors around one pass and one group, NaN before the call and in the input, the same bits twice.
#include <cmath>

#include <gtest/gtest.h>

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
  using test::to_double;

  class VectorBasisCuda : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };

  template <typename Number>
  struct Basis
  {
    std::vector<Vector<Number>> host;
    std::vector<Guarded<Number>> device;
    std::vector<const Number *> host_pointers, device_pointers;
    Basis(std::int64_t size, int count)
    {
      for (int i = 0; i < count; ++i)
      {
        host.push_back(random_line<Number>(size, 20 + i));
        device.emplace_back(host.back());
      }
      for (int i = 0; i < count; ++i)
      {
        host_pointers.push_back(host[i].data());
        device_pointers.push_back(device[i].data());
      }
    }
  };

  template <typename Number>
  void expect_dots(Reduction &reduce, std::int64_t size, int count)
  {
    Basis<Number> basis(size, count);
    const auto w = random_line<Number>(size, 5);
    Guarded<Number> dw(w);
    const auto dots = reduce(count + 1, [&](double *scratch, double *result, Stream stream) {
      vc::multi_dot(size, count, basis.device_pointers.data(),
          static_cast<const Number *>(dw.data()), scratch, result, stream);
    });
    std::vector<double> expected(count + 1);
    vk::multi_dot(size, count, basis.host_pointers.data(), w.data(), expected.data());
    for (int i = 0; i <= count; ++i)
      ASSERT_NEAR(dots[i], expected[i], 1e-15 * size) << i;
  }

  template <typename From, typename To>
  void expect_update(Reduction &reduce, std::int64_t size, int count, double factor)
  {
    Basis<From> basis(size, count);
    auto w = random_line<To>(size, 5);
    Guarded<To> dw(w), without_sums(w);
    std::vector<double> c(count);
    for (int i = 0; i < count; ++i)
      c[i] = 0.3 - 0.1 * (i % 7);
    const auto norm = reduce.run(2, [&](double *scratch, double *result, Stream stream) {
      vc::multi_update(size, count, c.data(), basis.device_pointers.data(), factor, dw.data(),
          scratch, result, result + 1, stream);
    });
    vc::multi_update(size, count, c.data(), basis.device_pointers.data(), factor,
        without_sums.data(), nullptr, nullptr, nullptr, reduce.stream());
    const double expected_norm =
        vk::multi_update(size, count, c.data(), basis.host_pointers.data(), factor, w.data());
    Vector<To> found(line(size)), same(line(size));
    EXPECT_TRUE(dw.read(found.data(), reduce.stream()));
    EXPECT_TRUE(without_sums.read(same.data(), reduce.stream()));
    EXPECT_TRUE(test::same_bits(found, same));
    const double roundoff = std::is_same_v<To, double> ? 0. : 0x1p-23;
    for (std::int64_t at = 0; at < size; ++at)
      ASSERT_NEAR(
          to_double(found[at]), to_double(w[at]), 1e-14 + roundoff * std::abs(to_double(w[at])));
    EXPECT_NEAR(norm[0], expected_norm, (roundoff + 1e-13) * expected_norm);
    EXPECT_EQ(norm[1], vk::max_abs(size, found.data()));
  }

  // The numbers of vectors around one pass and one group, and the most.
  TEST_F(VectorBasisCuda, MultiDotAndUpdate)
  {
    Reduction reduce;
    for (const std::int64_t size : {std::int64_t(8), std::int64_t(1032), std::int64_t(16392)})
      for (const int count : {0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 15, vk::max_vectors})
      {
        SCOPED_TRACE(testing::Message() << "size " << size << " vectors " << count);
        expect_dots<double>(reduce, size, count);
        expect_dots<WideFloat>(reduce, size, count);
        expect_update<double, double>(reduce, size, count, 1.);
        expect_update<WideFloat, WideFloat>(reduce, size, count, 0.5);
        expect_update<WideFloat, double>(reduce, size, count, 1.);
      }
    const double *none = nullptr;
    EXPECT_THROW(vc::multi_dot(8, vk::max_vectors + 1, &none, none, nullptr, nullptr, nullptr),
        std::invalid_argument);
  }

  TEST_F(VectorBasisCuda, ConvertsWithNorm)
  {
    Reduction reduce;
    for (const std::int64_t size : {8, 520, 8 * 1024 + 8, 4 * 270336 + 8 * 129})
    {
      const auto x = random_line<double>(size, 4);
      Guarded<double> dx(x);
      Guarded<WideFloat> dy(size);
      const auto sums = reduce.run(2, [&](double *scratch, double *result, Stream stream) {
        vc::convert_with_norm(
            size, 0.25, dx.data(), dy.data(), scratch, result, result + 1, stream);
      });
      Vector<WideFloat> found(line(size)), expected(line(size));
      const double norm = vk::convert_with_norm(size, 0.25, x.data(), expected.data());
      EXPECT_TRUE(dy.read(found.data(), reduce.stream()));
      EXPECT_TRUE(test::same_bits(found, expected));
      EXPECT_NEAR(sums[0], norm, 1e-13 * norm);
      EXPECT_EQ(sums[1], vk::max_abs(size, expected.data()));
    }
  }

  TEST_F(VectorBasisCuda, NotFiniteReachesTheSums)
  {
    Reduction reduce;
    for (const std::int64_t at : {0, 13, 4103})
    {
      auto x = random_line<double>(4104, 1);
      const auto y = random_line<double>(4104, 2);
      x[at] = std::nan("");
      Guarded<double> dx(x), dy(y);
      const double *pointers[] = {dy.data(), dx.data()};
      const auto dots = reduce.run(3, [&](double *scratch, double *result, Stream stream) {
        vc::multi_dot(4104, 2, pointers, pointers[0], scratch, result, stream);
      });
      EXPECT_TRUE(std::isfinite(dots[0]) && std::isnan(dots[1]) && std::isfinite(dots[2]));
    }
  }
} // namespace
} // namespace tensormg
