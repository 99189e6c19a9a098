// Dense products: BLAS against the reference for sizes of zero, one and odd ones.
#include "kernels/diagnostics/gemm/gemm.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using gemm::Size;

  template <typename Number>
  std::vector<Number> numbers(std::int64_t count, double phase)
  {
    std::vector<Number> list(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < list.size(); ++i)
      list[i] = static_cast<Number>(std::sin(1.7 * static_cast<double>(i) + phase) + 1e-3);
    return list;
  }

  template <typename Number>
  void check(const Size &size)
  {
    SCOPED_TRACE(
        std::to_string(size.m) + " x " + std::to_string(size.n) + " x " + std::to_string(size.k));
    const auto a = numbers<Number>(size.m * size.k, 0.3), b = numbers<Number>(size.k * size.n, 0.8);
    const Number beyond = 5;
    std::vector<Number> c(static_cast<std::size_t>(size.m * size.n + 3), beyond);
    std::fill_n(c.begin(), size.m * size.n, std::numeric_limits<Number>::quiet_NaN());
    gemm::blas(size, a.data(), b.data(), c.data());
    std::vector<double> exact(static_cast<std::size_t>(size.n)), magnitude(exact.size());
    for (std::int64_t i = 0; i < size.m; ++i)
    {
      gemm::reference_row(size, i, a.data(), b.data(), exact.data());
      gemm::magnitude_row(size, i, a.data(), b.data(), magnitude.data());
      for (std::int64_t j = 0; j < size.n; ++j)
        ASSERT_NEAR(static_cast<double>(c[static_cast<std::size_t>(i * size.n + j)]),
            exact[static_cast<std::size_t>(j)],
            static_cast<double>(size.k) * std::numeric_limits<Number>::epsilon() *
                magnitude[static_cast<std::size_t>(j)])
            << i << ", " << j;
    }
    for (std::size_t i = c.size() - 3; i < c.size(); ++i)
      ASSERT_EQ(c[i], beyond);
  }

  TEST(Gemm, BlasAgreesWithTheReference)
  {
    for (const Size size : {Size{1, 1, 1}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 17, 5}, {17, 1, 5},
             {5, 7, 1}, {16, 8, 4}, {33, 65, 17}, {100, 3, 129}})
    {
      check<double>(size);
      check<float>(size);
    }
  }

  TEST(Gemm, ReferenceByHand)
  {
    const std::vector<double> a{1., -2., 3., 4., 5., 6.}, b{1., 0., 2., 1., -1., 3.};
    std::vector<double> row(2);
    gemm::reference_row<double>({2, 2, 3}, 0, a.data(), b.data(), row.data());
    EXPECT_EQ(row, (std::vector<double>{1. - 4. - 3., 0. - 2. + 9.}));
    gemm::reference_row<double>({2, 2, 3}, 1, a.data(), b.data(), row.data());
    EXPECT_EQ(row, (std::vector<double>{4. + 10. - 6., 0. + 5. + 18.}));
    gemm::magnitude_row<double>({2, 2, 3}, 0, a.data(), b.data(), row.data());
    EXPECT_EQ(row, (std::vector<double>{8., 11.}));
  }

  TEST(Gemm, CountsUsefulWork)
  {
    const roofline::Work work = gemm::work({2, 3, 5}, 8);
    EXPECT_EQ(work.flops, 60.);
    EXPECT_EQ(work.bytes, 8. * (10. + 15. + 6.));
  }

  TEST(Gemm, SizesThatBlasCannotTake)
  {
    EXPECT_THROW(gemm::blas<double>({std::int64_t(1) << 31, 0, 0}, nullptr, nullptr, nullptr),
        std::length_error);
  }
} // namespace
} // namespace tensormg
