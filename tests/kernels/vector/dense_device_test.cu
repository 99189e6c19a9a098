// The product with a small dense matrix against plain loops; what is no place of an unknown stays.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/vector/cuda.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  class DenseProduct : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(DenseProduct, Numbers);

  TYPED_TEST(DenseProduct, EqualsLoops)
  {
    for (const std::int64_t count : {1, 31, 130})
    {
      std::vector<double> matrix(static_cast<std::size_t>(count * count));
      std::vector<std::int64_t> places(static_cast<std::size_t>(count));
      std::vector<TypeParam> b(static_cast<std::size_t>(2 * count)), found(b.size());
      for (std::size_t i = 0; i < matrix.size(); ++i)
        matrix[i] = std::sin(0.3 * static_cast<double>(i));
      for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = 2 * (count - 1 - static_cast<std::int64_t>(i));
      for (std::size_t i = 0; i < b.size(); ++i)
        b[i] = TypeParam(static_cast<float>(std::cos(0.7 * static_cast<double>(i))));
      DeviceArray<double> device_matrix(count * count);
      DeviceArray<std::int64_t> device_places(count);
      device_matrix.copy_from_host(matrix.data());
      device_places.copy_from_host(places.data());
      test::Guarded<TypeParam> device_b(b.data(), 2 * count), x(b.data(), 2 * count);
      vector_kernels::cuda::dense_product(
          count, device_matrix.data(), device_places.data(), device_b.data(), x.data(), nullptr);
      EXPECT_TRUE(x.read(found.data(), nullptr));
      for (std::size_t i = 0; i < places.size(); ++i)
      {
        double sum = 0.;
        for (std::size_t j = 0; j < places.size(); ++j)
          sum += matrix[i * places.size() + j] *
              double(static_cast<Compute<TypeParam>>(b[static_cast<std::size_t>(places[j])]));
        const auto at = static_cast<std::size_t>(places[i]);
        const double tolerance = sizeof(TypeParam) == 8 ? 1e-13
            : sizeof(TypeParam) == 4                    ? 1e-5
                                                        : 1e-2;
        EXPECT_NEAR(double(static_cast<Compute<TypeParam>>(found[at])), sum,
            tolerance * (1. + std::abs(sum)));
        EXPECT_EQ(double(static_cast<Compute<TypeParam>>(found[at + 1])),
            double(static_cast<Compute<TypeParam>>(b[at + 1])));
      }
    }
  }
} // namespace
} // namespace tensormg
