// The owning array: zeroed, aligned, movable, on both sides of the size from which memory is
// mapped.
#include "operators/vectors/vector.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  class VectorTest : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(VectorTest, Numbers);

  // From one cell to some megabytes; the huge page of 2 MB and its neighbours lie in between.
  const Block blocks[] = {Block(3, 1, {1, 1, 1}), Block(2, 2, {7, 3, 1}), Block(3, 3, {16, 8, 8}),
      Block(2, 1, {256, 255, 1}), Block(2, 1, {256, 256, 1}), Block(2, 1, {256, 257, 1}),
      Block(3, 3, {32, 16, 17})};

  TYPED_TEST(VectorTest, IsZeroAndAligned)
  {
    for (const Block &block : blocks)
      for (int again = 0; again < 3; ++again) // memory that was used and given back is zero as well
      {
        Vector<TypeParam> v(block);
        ASSERT_EQ(v.size(), block.size());
        EXPECT_EQ(v.block(), block);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % 64, 0u);
        std::int64_t nonzero = 0;
        for (std::int64_t i = 0; i < v.size(); ++i)
          nonzero += test::to_double(v[i]) != 0.;
        EXPECT_EQ(nonzero, 0);
        test::poison(v); // all of it may be written
      }
  }

  TYPED_TEST(VectorTest, MovesAndSwaps)
  {
    for (const Block &block : blocks)
    {
      Vector<TypeParam> a = test::random_vector<TypeParam>(block, 1);
      const auto copy = test::random_vector<TypeParam>(block, 1);
      const TypeParam *data = a.data();
      Vector<TypeParam> b(std::move(a));
      EXPECT_EQ(b.data(), data);
      Vector<TypeParam> c(Block(2, 1, {3, 3, 1}));
      c.swap(b);
      EXPECT_EQ(c.data(), data);
      EXPECT_EQ(c.block(), block);
      EXPECT_EQ(b.size(), Block(2, 1, {3, 3, 1}).size());
      b = std::move(c);
      EXPECT_EQ(b.data(), data);
      EXPECT_EQ(test::relative_difference(b, copy), 0.);
      // Growing a list of vectors moves them.
      std::vector<Vector<TypeParam>> list;
      list.push_back(std::move(b));
      for (int i = 0; i < 5; ++i)
        list.emplace_back(block);
      EXPECT_EQ(list.front().data(), data);
    }
  }

  TEST(Vector, DefaultIsEmpty)
  {
    const Vector<double> v;
    EXPECT_EQ(v.size(), 0);
    EXPECT_EQ(v.data(), nullptr);
  }
} // namespace
} // namespace tensormg
