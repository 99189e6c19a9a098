// Every kernel of the nodal operator against the reference: cells and vertex patches, batches that fill no
// block, all ends of the mesh; outputs are NaN before and have guard zones; two runs give the same bits.
#include <cmath>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/core/block.h"
#include "kernels/nodal/nodal.h"
#include "tests/support/guarded_array.h"
#include "tests/support/tensor_batches.h"

namespace tensormg
{
namespace
{
  using nodal::Backend;
  using nodal::Matrices;
  using tensor::Arithmetic;
  using test::GuardedArray;

  /// Relative error in the Euclidean norm, random matrices. Half as a number in memory rounds the result.
  double tolerance(Arithmetic arithmetic, std::size_t bytes)
  {
    switch (arithmetic)
    {
      case Arithmetic::fp64:
        return 1e-14;
      case Arithmetic::fp32:
        return bytes == 2 ? 5e-4 : 2e-6;
      case Arithmetic::tf32x3:
      case Arithmetic::fp16x3:
        return 4e-6;
      default:
        return 2e-3;
    }
  }

  Matrices random_matrices(const tensor::Batch &batch)
  {
    Matrices matrices;
    for (int d = 0; d < batch.dim; ++d)
      for (int end = 0; end < tensor::n_ends; ++end)
        matrices[d][end] = {test::random_numbers(batch.n * batch.n, 10 * d + end),
            test::random_numbers(batch.n * batch.n, 100 + 10 * d + end)};
    return matrices;
  }

  /// Cells in numbers that leave a part of most blocks empty; patches with all ends and of odd colours.
  std::vector<test::BatchCase> cases_of_size(int dim, int n)
  {
    std::vector<test::BatchCase> cases;
    if (n <= max_n)
    {
      const std::int64_t many = n <= 4 || dim == 2 ? 301 : 29;
      for (const std::int64_t cells : {std::int64_t(1), std::int64_t(3), many})
        cases.push_back(test::cell_case(dim, n - 1, cells));
    }
    if (n % 2 == 0 && n > 2)
    {
      const int degree = n / 2 - 1;
      if (dim == 2)
      {
        cases.push_back(test::patch_case(2, degree, {2, 2, 1}, {0, 0, 0}));
        cases.push_back(test::patch_case(2, degree, {7, 6, 1}, {1, 0, 0}));
        cases.push_back(test::patch_case(2, degree, {5, 23, 1}, {0, 1, 0}));
      }
      else
      {
        cases.push_back(test::patch_case(3, degree, {2, 2, 2}, {0, 0, 0}));
        cases.push_back(test::patch_case(3, degree, {7, 5, 4}, {0, 1, 0}));
        if (n <= 8)
          cases.push_back(test::patch_case(3, degree, {6, 7, 7}, {1, 0, 1}));
      }
    }
    return cases;
  }

  template <typename Number>
  double difference(const std::vector<Number> &found, const std::vector<Number> &expected)
  {
    const std::vector<double> x = test::as_double(found), y = test::as_double(expected);
    double error = 0., norm = 0.;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(std::isnan(x[i]) && std::isnan(y[i]))) // where no tensor is
      {
        error += (x[i] - y[i]) * (x[i] - y[i]);
        norm += y[i] * y[i];
      }
    return std::sqrt(error / norm);
  }

  template <typename Number>
  class NodalDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    static std::vector<Number> reference(
        const test::BatchCase &c, const std::vector<Number> &src, std::vector<Number> dst, bool add)
    {
      const auto kernel = nodal::select<Number>({}, c.batch.dim, c.batch.n);
      const std::vector<std::byte> tables = kernel.pack(random_matrices(c.batch), c.batch.n);
      kernel.apply({c.batch, tables.data(), src.data(), dst.data(), add, nullptr});
      return dst;
    }

    static std::vector<Number> run(const nodal::Variant &variant, const test::BatchCase &c,
        const std::vector<Number> &src, const std::vector<Number> &before, bool add)
    {
      const auto kernel = nodal::select<Number>(variant, c.batch.dim, c.batch.n);
      GuardedArray<std::byte> tables(kernel.pack(random_matrices(c.batch), c.batch.n));
      GuardedArray<Number> from(src), to(before);
      kernel.apply({c.batch, tables.data(), from.data(), to.data(), add, nullptr});
      device::synchronize(nullptr);
      return to.get();
    }

    static void check(const nodal::Variant &variant, const test::BatchCase &c)
    {
      SCOPED_TRACE(testing::Message()
          << to_string(variant.backend) << " " << to_string(variant.arithmetic) << " "
          << to_string(variant.staging) << " " << to_string(variant.instruction) << ", " << c.name);
      const auto src = test::rounded<Number>(test::random_numbers(c.vector_size, 1));
      std::vector<Number> before(src.size());
      for (const bool add : {false, true})
      {
        if (add)
          before = test::rounded<Number>(test::random_numbers(c.vector_size, 2));
        else
          std::memset(static_cast<void *>(before.data()), 0xff, before.size() * sizeof(Number));
        const auto expected = reference(c, src, before, add);
        const auto found = run(variant, c, src, before, add);
        EXPECT_LT(difference(found, expected), tolerance(variant.arithmetic, sizeof(Number)));
        const auto again = run(variant, c, src, before, add);
        EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(Number)), 0);
      }
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(NodalDevice, Numbers);

  template <typename Number, typename Check>
  void for_each_variant(Backend backend, int dim, Check check)
  {
    for (int n = 2; n <= tensor::max_size; ++n)
      for (const nodal::Variant &variant : nodal::variants<Number>(dim, n))
        if (variant.backend == backend)
          for (const test::BatchCase &c : cases_of_size(dim, n))
            check(variant, c);
  }

  TYPED_TEST(NodalDevice, Cuda2d)
  {
    for_each_variant<TypeParam>(Backend::cuda, 2, &TestFixture::check);
  }
  TYPED_TEST(NodalDevice, Cuda3d)
  {
    for_each_variant<TypeParam>(Backend::cuda, 3, &TestFixture::check);
  }

  TYPED_TEST(NodalDevice, Wmma2d)
  {
    for_each_variant<TypeParam>(Backend::wmma, 2, &TestFixture::check);
  }
  TYPED_TEST(NodalDevice, Wmma3d)
  {
    for_each_variant<TypeParam>(Backend::wmma, 3, &TestFixture::check);
  }
  TYPED_TEST(NodalDevice, Mma2d)
  {
    for_each_variant<TypeParam>(Backend::mma, 2, &TestFixture::check);
  }
  TYPED_TEST(NodalDevice, Mma3d)
  {
    for_each_variant<TypeParam>(Backend::mma, 3, &TestFixture::check);
  }

  // An empty batch is no error and writes nothing.
  TYPED_TEST(NodalDevice, EmptyBatch)
  {
    const test::BatchCase c = test::patch_case(3, 1, {2, 4, 4}, {1, 0, 0});
    ASSERT_EQ(c.batch.n_tensors(), 0);
    const auto src = test::rounded<TypeParam>(test::random_numbers(c.vector_size, 1));
    for (const nodal::Variant &variant : nodal::variants<TypeParam>(3, 4))
      if (is_device_backend(variant.backend))
      {
        const auto found = this->run(variant, c, src, src, false);
        EXPECT_EQ(std::memcmp(found.data(), src.data(), src.size() * sizeof(TypeParam)), 0);
      }
  }
} // namespace
} // namespace tensormg
