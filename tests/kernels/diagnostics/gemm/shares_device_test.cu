// Products on mma.sync and WMMA whose steps along k are divided into equal shares: every kind of share, on a device.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/fp64.cuh"
#include "kernels/diagnostics/gemm/single.cuh"
#include "tests/support/gemm_cases.h"

namespace tensormg::gemm
{
namespace
{
  template <typename Config>
  void check_shares(const Size &size, int whole, int shares, double factor, double sum)
  {
    SCOPED_TRACE(std::to_string(whole) + " whole tiles, " + std::to_string(shares) + " shares");
    using T = Tile<Config>;
    const Tiles tiles = tiles_of(size, T::m, T::n);
    const StreamK product{tiles, static_cast<int>(divide_up(size.k, T::k)), whole, shares};
    ASSERT_LE(shares, product.steps_of_divided());
    using Stored = typename T::Stored;
    using Result = typename T::Result;
    const auto multiply = [&](const Size &, const Stored *a, const Stored *b, Result *c,
                              Stream stream) {
      test::run_twice(size, divided_numbers<Config>(product), c, stream, [&](Result *workspace) {
        run_divided<Config>("testing shares", size, product, a, b, c, workspace, stream);
      });
    };
    test::check_product<Stored, Result>(multiply, size, factor, sum);
  }

  /// Six tiles of eight steps each, the last ones cut off; rows by whole words and by numbers.
  template <typename Config>
  void check_all(double factor, double sum)
  {
    constexpr int m = Config::m, n = Config::n, k = Config::k;
    for (const Size size :
        {Size{2 * m + 5, 2 * n - 4, 7 * k + 4}, {2 * m + 5, 2 * n - 3, 7 * k + 3}})
    {
      check_shares<Config>(size, 0, 5, factor, sum);  // more than a tile each
      check_shares<Config>(size, 0, 7, factor, sum);  // nearly all with an end of a tile
      check_shares<Config>(size, 0, 18, factor, sum); // three of each tile
      check_shares<Config>(size, 0, 48, factor, sum); // single steps
      check_shares<Config>(size, 2, 9, factor, sum);  // behind whole tiles
      check_shares<Config>(size, 5, 3, factor, sum);
    }
    // Many sections are added in slices, here with a tile whose first section is the end of a share.
    check_shares<Config>({m + 1, 7, 37 * k}, 0, 35, factor, sum);
    check_shares<Config>({5, 7, 37 * k - 1}, 0, 19, factor, sum);
  }

  class GemmSharesDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  TEST_F(GemmSharesDevice, Fp64)
  {
    check_all<Fp64ConfigsOf<Fp64Shape::m8n8k4>::Large>(0., test::of_double);
    check_all<Fp64ConfigsOf<Fp64Shape::cuda_cores>::Small>(0., test::of_double);
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "m16n8k4 needs compute capability 9.0";
    check_all<Fp64ConfigsOf<Fp64Shape::m16n8k4>::Small>(0., test::of_double);
    check_all<Fp64ConfigsOf<Fp64Shape::m16n8k8>::Large>(0., test::of_double);
  }

  /// Sums of WMMA leave by way of the memory that tiles of the next section take.
  TEST_F(GemmSharesDevice, Single)
  {
    constexpr double of_correction = 0x1p-20;
    check_all<SingleConfigOf<SinglePolicy{Unit::mma, Format::fp16, Correction::outside}>>(
        of_correction, test::of_float);
    check_all<SingleConfigOf<SinglePolicy{Unit::wmma, Format::tf32}>>(
        test::of_tf32, test::of_float);
  }
} // namespace
} // namespace tensormg::gemm
