// Every kernel of the local inverse against the reference: cells and vertex patches, batches that fill no
// block, all ends of the mesh; outputs are NaN before and have guard zones; two runs give the same bits.
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/patch_inverse/mma.h"
#include "kernels/patch_inverse/patch_inverse.h"
#include "tests/support/device/batches.h"
#include "tests/support/few_cases.h"

namespace tensormg
{
namespace
{
  using patch_inverse::Backend;
  using patch_inverse::Factors;
  using test::GuardedArray;

  template <typename Number>
  class PatchInverseDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    static std::vector<Number> reference(const test::BatchCase &c, const std::vector<Number> &src,
        std::vector<Number> dst, bool add, const Factors &factors)
    {
      const auto kernel = patch_inverse::select<Number>({}, c.batch.dim, c.batch.n);
      const std::vector<std::byte> tables = kernel.pack(factors, c.batch.n);
      kernel.apply({c.batch, tables.data(), src.data(), dst.data(), add, nullptr});
      return dst;
    }

    static std::vector<Number> run(const patch_inverse::Kernel<Number> &kernel,
        const test::BatchCase &c, const std::vector<Number> &src, const std::vector<Number> &before,
        bool add, const Factors &factors)
    {
      GuardedArray<std::byte> tables(kernel.pack(factors, c.batch.n));
      GuardedArray<Number> from(src), to(before);
      kernel.apply({c.batch, tables.data(), from.data(), to.data(), add, nullptr});
      device::synchronize(nullptr);
      return to.get();
    }

    static void check(const patch_inverse::Variant &variant, const test::BatchCase &c)
    {
      check_kernel(
          patch_inverse::select<Number>(variant, c.batch.dim, c.batch.n), variant.arithmetic, c);
    }

    static void check_kernel(const patch_inverse::Kernel<Number> &kernel,
        tensor::Arithmetic arithmetic, const test::BatchCase &c)
    {
      SCOPED_TRACE(testing::Message() << to_string(arithmetic) << ", " << c.name);
      const Factors factors = test::random_factors<Factors>(c.batch);
      const auto src = test::rounded<Number>(test::random_numbers(c.vector_size, 1));
      std::vector<Number> before(src.size());
      for (const bool add : {false, true})
      {
        if (add)
          before = test::rounded<Number>(test::random_numbers(c.vector_size, 2));
        else
          std::memset(static_cast<void *>(before.data()), 0xff, before.size() * sizeof(Number));
        const auto expected = reference(c, src, before, add, factors);
        const auto found = run(kernel, c, src, before, add, factors);
        EXPECT_LT(test::difference(found, expected), test::tolerance(arithmetic, sizeof(Number)));
        if (test::runs_again())
        {
          const auto again = run(kernel, c, src, before, add, factors);
          EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(Number)), 0);
        }
      }
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(PatchInverseDevice, Numbers);

  template <typename Number, typename Check>
  void for_each_variant(Backend backend, int dim, Check check)
  {
    for (int n = 2; n <= tensor::max_size; ++n)
      for (const patch_inverse::Variant &variant : patch_inverse::variants<Number>(dim, n))
        if (variant.backend == backend)
          for (const test::BatchCase &c : test::cases_of_size(dim, n))
            check(variant, c);
  }

  TYPED_TEST(PatchInverseDevice, Cuda2d)
  {
    for_each_variant<TypeParam>(Backend::cuda, 2, &TestFixture::check);
  }
  TYPED_TEST(PatchInverseDevice, Cuda3d)
  {
    for_each_variant<TypeParam>(Backend::cuda, 3, &TestFixture::check);
  }

  TYPED_TEST(PatchInverseDevice, Mma2d)
  {
    for_each_variant<TypeParam>(Backend::mma, 2, &TestFixture::check);
  }
  TYPED_TEST(PatchInverseDevice, Mma3d)
  {
    for_each_variant<TypeParam>(Backend::mma, 3, &TestFixture::check);
  }

  // What a device without m16n8k4 in FP64 takes.
  using PatchInverseM8n8k4 = PatchInverseDevice<double>;
  TEST_F(PatchInverseM8n8k4, Staged)
  {
    for (const int dim : {2, 3})
      for (const int n : {9, 10, 12, 14, 16, 18})
        for (const test::BatchCase &c : test::cases_of_size(dim, n))
          check_kernel(patch_inverse::mma_staged_m8n8k4(tensor::Arithmetic::fp64, dim, n),
              tensor::Arithmetic::fp64, c);
  }

  // Where the sum of the values is zero, the mode is left out.
  TYPED_TEST(PatchInverseDevice, SingularModes)
  {
    for (const int n : {4, 10})
      for (const patch_inverse::Variant &variant : patch_inverse::variants<TypeParam>(3, n))
      {
        if (!is_device_backend(variant.backend))
          continue;
        const test::BatchCase c = test::patch_case(3, n / 2 - 1, {2, 3, 2}, {0, 0, 0});
        Factors factors = test::random_factors<Factors>(c.batch);
        for (auto &direction : factors)
          for (auto &line : direction)
            line.values[0] = 0.;
        const auto src = test::rounded<TypeParam>(test::random_numbers(c.vector_size, 1));
        const std::vector<TypeParam> before(src.size());
        const auto expected = this->reference(c, src, before, false, factors);
        const auto found = this->run(
            patch_inverse::select<TypeParam>(variant, 3, n), c, src, before, false, factors);
        EXPECT_LT(test::difference(found, expected),
            test::tolerance(variant.arithmetic, sizeof(TypeParam)));
      }
  }

  // An empty batch is no error and writes nothing.
  TYPED_TEST(PatchInverseDevice, EmptyBatch)
  {
    const test::BatchCase c = test::patch_case(3, 1, {2, 4, 4}, {1, 0, 0});
    ASSERT_EQ(c.batch.n_tensors(), 0);
    const auto src = test::rounded<TypeParam>(test::random_numbers(c.vector_size, 1));
    for (const patch_inverse::Variant &variant : patch_inverse::variants<TypeParam>(3, 4))
      if (is_device_backend(variant.backend))
      {
        const auto found = this->run(patch_inverse::select<TypeParam>(variant, 3, 4), c, src, src,
            false, test::random_factors<Factors>(c.batch));
        EXPECT_EQ(std::memcmp(found.data(), src.data(), src.size() * sizeof(TypeParam)), 0);
      }
  }
} // namespace
} // namespace tensormg
