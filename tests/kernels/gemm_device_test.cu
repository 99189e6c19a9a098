// Dense products on a device against the reference: all rungs, shapes and methods, for sizes of zero, one, odd
// ones, multiples of the tiles and several tiles.
#include <cstdint>
#include <stdexcept>

#include <gtest/gtest.h>

#include "kernels/core/device.h"
#include "kernels/gemm/device.h"
#include "tests/support/gemm_cases.h"

namespace tensormg
{
namespace
{
  using namespace gemm;

  class GemmDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  TEST_F(GemmDevice, Fp16Ladder)
  {
    test::check_products<Half, float>(fp16<Rung::naive>, 0., test::of_float);
    test::check_products<Half, float>(fp16<Rung::more_tiles>, 0., test::of_float);
    test::check_products<Half, float>(fp16<Rung::permuted>, 0., test::of_float);
    test::check_products<Half, float>(fp16<Rung::buffered>, 0., test::of_float);
    test::check_products<Half, float>(fp16<Rung::staged>, 0., test::of_float);
    test::check_products<Half, float>(fp16<Rung::larger>, 0., test::of_float);
  }

  TEST_F(GemmDevice, Wgmma)
  {
    if (device_properties().major != 9)
      GTEST_SKIP() << "wgmma needs compute capability 9.0";
    for (const Size size : {Size{0, 8, 8}, {3, 8, 0}, {1, 8, 8}, {128, 256, 64}, {17, 40, 136},
             {130, 264, 72}, {300, 520, 328}})
      test::check_product<Half, float>(fp16_wgmma, size, 0., test::of_float);
    EXPECT_THROW(fp16_wgmma({8, 7, 8}, nullptr, nullptr, nullptr, nullptr), std::invalid_argument);
    EXPECT_THROW(fp16_wgmma({8, 8, 7}, nullptr, nullptr, nullptr, nullptr), std::invalid_argument);
  }

  TEST_F(GemmDevice, TellsItsTiles)
  {
    const Blocking larger = fp16_blocking<Rung::larger>();
    EXPECT_EQ(larger.tile_m, 128);
    EXPECT_EQ(larger.tile_n, 128);
    EXPECT_GE(larger.blocks, device_properties().multiprocessors);
    if (device_properties().major != 9)
      GTEST_SKIP() << "wgmma needs compute capability 9.0";
    EXPECT_EQ(fp16_wgmma_blocking().tile_n, 256);
    EXPECT_EQ(fp16_wgmma_blocking().blocks, device_properties().multiprocessors);
  }

  TEST_F(GemmDevice, Fp64)
  {
    test::check_products<double, double>(fp64<Fp64Shape::m8n8k4>, 0., test::of_double);
    if (device_properties().major < 9)
      GTEST_SKIP() << "m16n8k4 needs compute capability 9.0";
    test::check_products<double, double>(fp64<Fp64Shape::m16n8k4>, 0., test::of_double);
    test::check_products<double, double>(fp64<Fp64Shape::m16n8k8>, 0., test::of_double);
  }

  TEST_F(GemmDevice, Single)
  {
    test::check_products<float, float>(single<SingleMethod::tf32>, test::of_tf32, test::of_float);
    // Of the products small times small is lost, and the last bits of what is small.
    test::check_products<float, float>(
        single<SingleMethod::tf32_three>, 0x1p-20, 3. * test::of_float);
    test::check_products<float, float>(
        single<SingleMethod::tf32_corrected>, 0x1p-20, test::of_float);
    test::check_products<float, float>(
        single<SingleMethod::fp16_corrected>, 0x1p-20, test::of_float);
  }

  TEST_F(GemmDevice, RefusesSizesBeyond32Bits)
  {
    EXPECT_THROW(
        fp16<Rung::larger>({std::int64_t(1) << 31, 1, 1}, nullptr, nullptr, nullptr, nullptr),
        std::length_error);
  }
} // namespace
} // namespace tensormg
