// Layouts of tensors in shared memory without a GPU: no two entries share a place, and the bank conflicts of
// the accesses that the kernels make, which docs/nodal.md lists.
#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/mma/bank_conflicts.h"
#include "kernels/tensor/line_tile.h"
#include "kernels/tensor/sizes_dispatch.h"

namespace tensormg
{
namespace
{
  using mma::Wavefronts;

  /// Calls check(SizeConstant<dim, n>()) for every size.
  template <typename Check>
  void for_each_size(Check check)
  {
    for (const int dim : {2, 3})
      for (int n = 2; n <= tensor::max_size; ++n)
        tensor::dispatch_size<int, tensor::Sizes::all>(dim, n, [&](auto size) {
          SCOPED_TRACE(testing::Message() << dim << "D, N = " << n);
          check(size);
          return 0;
        });
  }

  // ---- CUDA cores: whole lines per thread

  template <typename Tile>
  void check_line_tile()
  {
    EXPECT_TRUE(tensor::is_injective<typename Tile::Layout>(Tile::planes, Tile::n));
    EXPECT_LE(Tile::threads, 352);
    EXPECT_GE(Tile::threads * Tile::lines_per_thread, Tile::lines);
    // At most a quarter of the threads has nothing to do.
    EXPECT_GE(4 * Tile::lines, 3 * Tile::threads * Tile::lines_per_thread);
    EXPECT_LE(2 * Tile::field_size * sizeof(typename Tile::C), 100000u);
  }

  TEST(LineTile, LayoutsAreInjectiveAndThreadsBusy)
  {
    for_each_size([](auto size) {
      check_line_tile<tensor::LineTile<double, size.dim, size.n>>();
      check_line_tile<tensor::LineTile<float, size.dim, size.n>>();
    });
  }

  /// All warps reading entry k of their lines along direction d.
  template <typename Tile, int d>
  Wavefronts line_wavefronts()
  {
    constexpr int bytes = sizeof(typename Tile::C);
    Wavefronts sum;
    for (int first = 0; first < Tile::lines; first += 32)
      for (int k = 0; k < Tile::n; ++k)
        sum += mma::wavefronts(mma::make_addresses([&](int lane) {
          return first + lane < Tile::lines
              ? Tile::template offset<d>(Tile::line(first + lane), k) * bytes
              : mma::inactive;
        }),
            bytes);
    return sum;
  }

  template <typename Tile>
  Wavefronts all_line_wavefronts()
  {
    Wavefronts sum = line_wavefronts<Tile, 0>();
    sum += line_wavefronts<Tile, 1>();
    if constexpr (Tile::dim == 3)
      sum += line_wavefronts<Tile, 2>();
    return sum;
  }

  TEST(LineTile, PowersOfTwoAreFreeOfConflicts)
  {
    for_each_size([](auto size) {
      if constexpr ((size.n & (size.n - 1)) == 0)
      {
        EXPECT_EQ(
            (all_line_wavefronts<tensor::LineTile<double, size.dim, size.n>>().conflicts()), 0);
        EXPECT_EQ(
            (all_line_wavefronts<tensor::LineTile<float, size.dim, size.n>>().conflicts()), 0);
      }
    });
  }

  TEST(LineTile, OthersHaveFew)
  {
    for_each_size([](auto size) {
      if constexpr (size.dim == 3)
      {
        const Wavefronts fp64 = all_line_wavefronts<tensor::LineTile<double, 3, size.n>>();
        const Wavefronts fp32 = all_line_wavefronts<tensor::LineTile<float, 3, size.n>>();
        EXPECT_LE(fp64.count, 1.67 * fp64.ideal);
        EXPECT_LE(fp32.count, 1.75 * fp32.ideal);
        RecordProperty("fp64_" + std::to_string(size.n),
            std::to_string(fp64.count) + " / " + std::to_string(fp64.ideal));
        RecordProperty("fp32_" + std::to_string(size.n),
            std::to_string(fp32.count) + " / " + std::to_string(fp32.ideal));
      }
    });
  }
} // namespace
} // namespace tensormg
