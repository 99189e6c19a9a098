// Dot products with a basis and linear combinations of its vectors against plain loops.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/vector/vector.h"
#include "tests/support/vector_lines.h"

namespace tensormg
{
namespace
{
  namespace vk = vector_kernels;
  using test::line;
  using test::random_line;
  using test::to_double;

  // Multiples of row_granularity: one and two registers, the block of 2048 and its neighbours.
  const std::int64_t sizes[] = {8, 16, 24, 40, 2040, 2048, 2056, 4104, 12296};

  template <typename Number>
  struct Basis
  {
    std::vector<Vector<Number>> vectors;
    std::vector<const Number *> pointers;
    Basis(std::int64_t size, int count)
    {
      for (int i = 0; i < count; ++i)
        vectors.push_back(random_line<Number>(size, 20 + i));
      for (const Vector<Number> &v : vectors)
        pointers.push_back(v.data());
    }
  };

  template <typename Number>
  void expect_dots(std::int64_t size, int count)
  {
    const Basis<Number> basis(size, count);
    const auto w = random_line<Number>(size, 5);
    std::vector<double> result(count + 1, std::nan(""));
    vk::multi_dot(size, count, basis.pointers.data(), w.data(), result.data());
    for (int i = 0; i < count; ++i)
      ASSERT_NEAR(result[i], vk::dot(size, basis.pointers[i], w.data()), 1e-15 * size);
    ASSERT_NEAR(result[count], vk::dot(size, w.data(), w.data()), 1e-15 * size);
  }

  /// One rounding to the type of w, however many vectors are added.
  template <typename From, typename To>
  void expect_update(std::int64_t size, int count, double factor)
  {
    const Basis<From> basis(size, count);
    auto w = random_line<To>(size, 5);
    std::vector<double> c(count), expected(size);
    for (int i = 0; i < count; ++i)
      c[i] = 0.3 - 0.1 * (i % 7);
    for (std::int64_t at = 0; at < size; ++at)
    {
      expected[at] = factor * to_double(w[at]);
      for (int i = 0; i < count; ++i)
        expected[at] += c[i] * to_double(basis.vectors[i][at]);
    }
    const double norm =
        vk::multi_update(size, count, c.data(), basis.pointers.data(), factor, w.data());
    const double roundoff = std::is_same_v<To, double> ? 0. : 0x1p-24;
    for (std::int64_t at = 0; at < size; ++at)
      ASSERT_NEAR(to_double(w[at]), expected[at], 1e-14 + roundoff * std::abs(expected[at]));
    ASSERT_NEAR(norm, vk::dot(size, w.data(), w.data()), 1e-14 * norm);
  }

  TEST(VectorBasis, DotAndUpdate)
  {
    for (const std::int64_t size : sizes)
      for (const int count : {0, 1, 2, 3, 7, 31, vk::max_vectors})
      {
        SCOPED_TRACE(testing::Message() << "size " << size << " vectors " << count);
        expect_dots<double>(size, count);
        expect_dots<WideFloat>(size, count);
        for (const double factor : {1., 0.25})
        {
          expect_update<double, double>(size, count, factor);
          expect_update<WideFloat, WideFloat>(size, count, factor);
          expect_update<WideFloat, double>(size, count, factor);
        }
      }
  }
} // namespace
} // namespace tensormg
