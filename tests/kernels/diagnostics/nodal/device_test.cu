// Every kernel of the nodal operator against the reference: cells and vertex patches, batches that fill no
// block, all ends of the mesh; outputs are NaN before and have guard zones; two runs give the same bits.
#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/diagnostics/nodal/nodal.h"
#include "tests/support/device/batches.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  using nodal::Backend;
  using nodal::Matrices;
  using test::GuardedArray;

  Matrices random_matrices(const tensor::Batch &batch)
  {
    Matrices matrices;
    for (int d = 0; d < batch.dim; ++d)
      for (int end = 0; end < tensor::n_ends; ++end)
        matrices[d][end] = {test::random_numbers(batch.n * batch.n, 10 * d + end),
            test::random_numbers(batch.n * batch.n, 100 + 10 * d + end)};
    return matrices;
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
        EXPECT_LT(
            test::difference(found, expected), test::tolerance(variant.arithmetic, sizeof(Number)));
        if (test::runs_again())
        {
          const auto again = run(variant, c, src, before, add);
          EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(Number)), 0);
        }
      }
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(NodalDevice, Numbers);

  template <typename Number, typename Check>
  void for_each_variant(Backend backend, int dim, Check check)
  {
    for (int n = 2; n <= tensor::max_size;
         n += test::has_few_cases() && n == 5 ? 3 : 1) // without 6 and 7
      for (const nodal::Variant &variant : nodal::variants<Number>(dim, n))
        if (variant.backend == backend)
          for (const test::BatchCase &c : test::cases_of_size(dim, n))
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

  // Tensors that do not start where several numbers can be read at once.
  TYPED_TEST(NodalDevice, MmaAtOddPositions)
  {
    for (const int degree : {3, 7})
      for (const int shift : {1, 2})
      {
        test::BatchCase c = test::patch_case(3, degree, {5, 3, 5}, {0, 1, 1});
        c.name += ", shifted by " + std::to_string(shift);
        c.batch.first += shift;
        c.vector_size += shift;
        for (const nodal::Variant &variant : nodal::variants<TypeParam>(3, c.batch.n))
          if (variant.backend == Backend::mma)
            TestFixture::check(variant, c);
      }
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
