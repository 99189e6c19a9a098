// Scratch memory and results of reductions in device memory, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/vector/cuda.h"
#include "tests/support/guarded.h"

namespace tensormg::test
{
/// Of vectors: multiples of row_granularity around a word, a block, a batch of words, and all blocks of a reduction.
inline constexpr std::int64_t sizes[] = {8, 24, 504, 512, 520, 2048, 4104, 8 * 1024 + 8, 270336,
    270344, 4 * 270336 - 8, 4 * 270336 + 8 * 129};

/// Scratch and results of reductions, poisoned before each.
class Reduction
{
public:
  /// The sums that f(scratch, result, stream) leaves; equal bits from a second call.
  template <typename F>
  std::vector<double> operator()(int sums, const F &f)
  {
    const std::vector<double> first = run(sums, f), second = run(sums, f);
    EXPECT_EQ(std::memcmp(first.data(), second.data(), sums * sizeof(double)), 0);
    return first;
  }

  template <typename F>
  std::vector<double> run(int sums, const F &f)
  {
    Guarded<double> scratch(vector_kernels::cuda::scratch_size(sums)), result(sums);
    f(scratch.data(), result.data(), stream_.get());
    std::vector<double> found(sums), rest(vector_kernels::cuda::scratch_size(sums));
    EXPECT_TRUE(result.read(found.data(), stream_.get())) << "written beyond the result";
    EXPECT_TRUE(scratch.read(rest.data(), stream_.get())) << "written beyond the scratch";
    return found;
  }

  Stream stream() const { return stream_.get(); }

private:
  OwnedStream stream_;
};
} // namespace tensormg::test
