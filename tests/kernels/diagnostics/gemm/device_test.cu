// Dense products on a device against the reference: all rungs, shapes and methods, for sizes of zero, one, odd
// ones, multiples of the tiles and several tiles.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/aligned_rows.h"
#include "kernels/diagnostics/gemm/device.h"
#include "kernels/diagnostics/gemm/wgmma/plan.h"
#include "tests/support/few_cases.h"
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
    // Once around the ring of stages, and on.
    for (const Size size : {Size{24, 40, 408}, {20, 17, 391}})
      test::check_product<Half, float>(fp16<Rung::staged>, size, 0., test::of_float);
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "the last rung needs the shared memory of compute capability 9.0";
    test::check_products<Half, float>(fp16<Rung::larger>, 0., test::of_float);
    test::check_products<Half, float>(fp16<Rung::cuda_cores>, 0., test::of_float);
    for (const Size size : {Size{24, 40, 408}, {20, 17, 391}})
    {
      test::check_product<Half, float>(fp16<Rung::larger>, size, 0., test::of_float);
      test::check_product<Half, float>(fp16<Rung::cuda_cores>, size, 0., test::of_float);
    }
  }

  /// The twins on CUDA cores move as many bytes.
  TEST_F(GemmDevice, TwinsHaveTheSameTiles)
  {
    for (const Size &size : {Size{5, 7, 3}, Size{130, 72, 640}, Size{2000, 3000, 100}})
    {
      EXPECT_EQ(fp64_shared_bytes<Fp64Shape::cuda_cores>(size),
          fp64_shared_bytes<Fp64Shape::m16n8k4>(size));
      EXPECT_EQ(
          fp64_workspace<Fp64Shape::cuda_cores>(size), fp64_workspace<Fp64Shape::m16n8k4>(size));
      EXPECT_EQ(fp16_shared_bytes<Rung::cuda_cores>(size), fp16_shared_bytes<Rung::larger>(size));
    }
  }

  /// With the workspace that it asks for, and nothing written beyond that.
  template <typename Number, typename Result, auto multiply, auto workspace_numbers>
  void in_workspace(const Size &size, const Number *a, const Number *b, Result *c, Stream stream)
  {
    test::run_in_workspace<Number>(workspace_numbers(size), stream,
        [&](Number *workspace) { multiply(size, a, b, c, workspace, stream); });
  }
  template <typename Number, auto multiply>
  void by_wgmma(const Size &size, const Number *a, const Number *b, float *c, Stream stream)
  {
    const wgmma::Plan plan = wgmma::plan_of<Number>(size);
    EXPECT_GE(wgmma_workspace<Number>(size), wgmma::factor_numbers<Number>(size, plan.shape));
    in_workspace<Number, float, multiply, wgmma_workspace<Number>>(size, a, b, c, stream);
  }
  // Few tiles and long k, which is divided if it is a single tile; rows that start anywhere.
  constexpr std::array long_sizes{Size{3, 18, 1032}, Size{5, 17, 1031}, Size{60, 60, 640},
      Size{130, 72, 640},
      Size{20, 36, 2112}}; // in sixteen shares or more on a device, added in slices
  constexpr bool is_single_tile(const Size &size) { return size.m <= 64 && size.n <= 64; }
  // Rows of A, of B and of C that start anywhere; tiles cut off in all directions.
  constexpr std::array odd_sizes{Size{1, 1, 1}, Size{5, 7, 3}, Size{17, 41, 136}, Size{17, 40, 131},
      Size{130, 262, 72}, Size{131, 267, 65}, Size{300, 516, 328}};

  // Of corrected products small times small is lost, and the last bits of what is small.
  constexpr double of_correction = 0x1p-20;

  TEST_F(GemmDevice, Wgmma)
  {
    if (device_properties().code_capability / 10 != 9)
      GTEST_SKIP() << "wgmma needs compute capability 9.0";
    for (const Size size : {Size{0, 8, 8}, {3, 8, 0}, {1, 8, 8}, {128, 256, 64}, {17, 40, 136},
             {130, 264, 72}, {300, 520, 328}})
      test::check_product<Half, float>(by_wgmma<Half, fp16_wgmma>, size, 0., test::of_float);
    for (const Size &size : odd_sizes)
      test::check_product<Half, float>(by_wgmma<Half, fp16_wgmma>, size, 0., test::of_float);
    for (const Size size : {Size{1, 1, 1}, Size{300, 520, 328}, Size{17, 1032, 136}})
      test::check_product<Half, float>(
          by_wgmma<Half, fp16_wgmma_largest>, size, 0., test::of_float);
  }

  /// By a shape of tiles, with the last `divided` tiles in `parts` parts.
  template <typename Number>
  void check_plan(
      std::span<const wgmma::Shape> shapes, int shape, int divided, int parts, const Size &size)
  {
    SCOPED_TRACE("shape " + std::to_string(shape) + ", " + std::to_string(divided) + " tiles in " +
        std::to_string(parts) + " parts");
    const auto multiply = [&](const Size &, const Number *a, const Number *b, float *c,
                              Stream stream) {
      const wgmma::Shape &s = shapes[static_cast<std::size_t>(shape)];
      const Tiles tiles = tiles_of(size, s.rows(), s.tile_n);
      const int all = tiles.m * tiles.n;
      const wgmma::Plan plan{shape, s,
          {tiles, static_cast<int>(divide_up(size.k, wgmma::tile_k)), std::max(0, all - divided),
              parts, parts > 1 && size.n % s.tile_n != 0 && divided <= tiles.m}};
      DeviceArray<Number> workspace(wgmma::factor_numbers<Number>(size, plan.shape));
      test::run_twice(size, plan.partial_numbers(), c, stream, [&](float *partial) {
        wgmma::multiply(plan, size, a, b, c, workspace.data(), partial, stream);
      });
    };
    test::check_product<Number, float>(
        multiply, size, std::is_same_v<Number, Half> ? 0. : of_correction, test::of_float);
  }

  template <typename Number>
  void check_shapes(std::span<const wgmma::Shape> shapes)
  {
    struct Case
    {
      int divided, parts;
      Size size;
    };
    const Case cases[] = {{0, 1, {131, 267, 65}}, {1, 3, {300, 264, 200}},
        {2, 3, {300, 267, 200}},  // of the last column of tiles
        {1, 33, {65, 73, 2130}}}; // many parts are added in slices
    for (int shape = 0; shape < static_cast<int>(shapes.size()); ++shape)
      for (int i = 0; i < 4; ++i)
        if (!test::has_few_cases() || i == shape % 4)
          check_plan<Number>(shapes, shape, cases[i].divided, cases[i].parts, cases[i].size);
    check_plan<Number>(shapes, 0, 2, 2, {5, 513, 131});
    // More rows of tiles than a band: the last column is not the end of the order without it.
    const auto lowest = std::ranges::min_element(shapes, {}, &wgmma::Shape::rows);
    check_plan<Number>(shapes, static_cast<int>(lowest - shapes.begin()), 9, 2,
        {8 * lowest->rows() + 3, lowest->tile_n + 9, 130});
    EXPECT_EQ(wgmma::plan_of<Number>(Size{0, 8, 8}).partial_numbers(), 0);
  }

  TEST_F(GemmDevice, WgmmaInEveryShape)
  {
    if (device_properties().code_capability / 10 != 9)
      GTEST_SKIP() << "wgmma needs compute capability 9.0";
    check_shapes<Half>(wgmma::shapes);
    check_plan<Half>(wgmma::shapes, 2, 9, 2, {8 * 128 + 3, 256 + 9, 130});
  }

  TEST_F(GemmDevice, CorrectedWgmmaInEveryShape)
  {
    if (device_properties().code_capability / 10 != 9)
      GTEST_SKIP() << "wgmma needs compute capability 9.0";
    check_shapes<float>(wgmma::corrected_shapes);
  }

  TEST_F(GemmDevice, TellsItsTiles)
  {
    if (device_properties().code_capability / 10 != 9)
      GTEST_SKIP() << "wgmma, and the shared memory of the last rung, need compute capability 9.0";
    const Blocking larger = fp16_blocking<Rung::larger>();
    EXPECT_EQ(larger.tile_m, 256);
    EXPECT_EQ(larger.tile_n, 128);
    EXPECT_GE(larger.blocks, device_properties().multiprocessors);
    EXPECT_EQ(fp16_wgmma_blocking().tile_m, 256); // of a cluster of two blocks
    EXPECT_EQ(fp16_wgmma_blocking().tile_n, 256);
    EXPECT_EQ(fp16_wgmma_blocking().blocks, device_properties().multiprocessors / 2);
  }

  template <Fp64Shape shape>
  void check_fp64()
  {
    constexpr auto multiply = in_workspace<double, double, fp64<shape>, fp64_workspace<shape>>;
    test::check_products<double, double>(multiply, 0., test::of_double);
    for (const Size &size : long_sizes)
    {
      if (is_single_tile(size))
      {
        EXPECT_GE(fp64_workspace<shape>(size), 2 * size.m * size.n);
      }
      test::check_product<double, double>(multiply, size, 0., test::of_double);
    }
    EXPECT_EQ(fp64_workspace<shape>({3, 18, 127}), 0);
    // One large tile beyond two for each multiprocessor; the last rows and columns are cut off.
    const std::int64_t rows = 128 * (2 * device_properties().multiprocessors + 1);
    for (const Size &size : {Size{rows, 64, 400}, Size{rows - 5, 61, 399}})
    {
      EXPECT_GT(fp64_workspace<shape>(size), 0);
      test::check_product<double, double>(multiply, size, 0., test::of_double);
    }
    // More large tiles (128 x 64) than fit on the device at once: three or more rows of them, at most two blocks on a multiprocessor.
    const std::int64_t columns = 64 * (2 * device_properties().multiprocessors / 3 + 1);
    for (const Size &size : {Size{3 * 128, columns, 48}, Size{2 * 128 + 3, columns - 3, 35}})
    {
      EXPECT_EQ(fp64_workspace<shape>(size), 0);
      test::check_product<double, double>(multiply, size, 0., test::of_double);
    }
    for (const Size size :
        {Size{24, 40, 102}, {20, 17, 97}}) // once around the ring of stages, and on
      test::check_product<double, double>(multiply, size, 0., test::of_double);
  }

  TEST_F(GemmDevice, Fp64)
  {
    check_fp64<Fp64Shape::m8n8k4>();
    check_fp64<Fp64Shape::cuda_cores>();
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "m16n8k4 needs compute capability 9.0";
    check_fp64<Fp64Shape::m16n8k4>();
    check_fp64<Fp64Shape::m16n8k8>();
  }

  template <Unit unit, Format format, Correction correction = Correction::none>
  void check_single(double factor, double sum)
  {
    SCOPED_TRACE("unit " + std::to_string(static_cast<int>(unit)) + ", format " +
        std::to_string(static_cast<int>(format)) + ", correction " +
        std::to_string(static_cast<int>(correction)));
    constexpr SinglePolicy policy{unit, format, correction};
    constexpr auto multiply =
        in_workspace<float, float, Single<policy>::multiply, Single<policy>::workspace>;
    test::check_products<float, float>(multiply, factor, sum);
    for (const Size &size : long_sizes)
    {
      if (is_single_tile(size))
      {
        EXPECT_GE(Single<policy>::workspace(size), 2 * size.m * size.n);
      }
      test::check_product<float, float>(multiply, size, factor, sum);
    }
  }

  TEST_F(GemmDevice, SingleByMma)
  {
    check_single<Unit::mma, Format::tf32>(test::of_tf32, test::of_float);
    check_single<Unit::mma, Format::tf32, Correction::three_products>(
        of_correction, 3. * test::of_float);
    check_single<Unit::mma, Format::tf32, Correction::outside>(of_correction, test::of_float);
    check_single<Unit::mma, Format::fp16>(test::of_tf32, test::of_float); // as many bits
    check_single<Unit::mma, Format::fp16, Correction::outside>(of_correction, test::of_float);
  }

  TEST_F(GemmDevice, SingleByWgmma)
  {
    if (device_properties().code_capability / 10 != 9)
      GTEST_SKIP() << "wgmma needs compute capability 9.0";
    for (const Size size : {Size{0, 8, 8}, {3, 8, 0}, {1, 8, 8}, {128, 128, 32}, {17, 40, 136},
             {130, 264, 72}, {300, 136, 328}})
      test::check_product<float, float>(
          by_wgmma<float, single_wgmma>, size, of_correction, test::of_float);
    for (const auto &sizes : {std::vector(odd_sizes.begin(), odd_sizes.end()),
             std::vector(long_sizes.begin(), long_sizes.end())})
      for (const Size &size : sizes)
        test::check_product<float, float>(
            by_wgmma<float, single_wgmma>, size, of_correction, test::of_float);
  }

  TEST_F(GemmDevice, SingleByWmma)
  {
    check_single<Unit::wmma, Format::tf32>(test::of_tf32, test::of_float);
    check_single<Unit::wmma, Format::tf32, Correction::outside>(of_correction, test::of_float);
  }

  TEST_F(GemmDevice, SingleByCudaCores)
  {
    check_single<Unit::cuda_cores, Format::fp32>(0., test::of_float);
    check_single<Unit::cuda_cores, Format::tf32>(test::of_tf32, test::of_float);
    check_single<Unit::cuda_cores, Format::tf32, Correction::outside>(
        of_correction, test::of_float);
    check_single<Unit::cuda_cores, Format::fp16>(test::of_tf32, test::of_float);
    check_single<Unit::cuda_cores, Format::fp16, Correction::outside>(
        of_correction, test::of_float);
  }

  /// Without correction a product is as bad as its format: the policies differ.
  template <Unit unit, Format format, Correction correction = Correction::none>
  constexpr auto product_by = Single<SinglePolicy{unit, format, correction}>::multiply;

  TEST_F(GemmDevice, CorrectionIsWhatRecoversSinglePrecision)
  {
    const Size size{16, 8, 8};
    const auto a = test::gemm_numbers<float>(size.m * size.k, 0.1),
               b = test::gemm_numbers<float>(size.k * size.n, 0.7);
    const auto error = [&](auto kernel) {
      DeviceArray<float> device_a(size.m * size.k), device_b(size.k * size.n),
          device_c(size.m * size.n);
      device_a.copy_from_host(a.data());
      device_b.copy_from_host(b.data());
      kernel(size, device_a.data(), device_b.data(), device_c.data(), nullptr, nullptr);
      std::vector<float> c(size.m * size.n);
      device_c.copy_to_host(c.data());
      double largest = 0.;
      std::vector<double> row(size.n), magnitude(size.n);
      for (std::int64_t i = 0; i < size.m; ++i)
      {
        reference_row(size, i, a.data(), b.data(), row.data());
        magnitude_row(size, i, a.data(), b.data(), magnitude.data());
        for (std::int64_t j = 0; j < size.n; ++j)
          largest = std::max(
              largest, std::abs(static_cast<double>(c[i * size.n + j]) - row[j]) / magnitude[j]);
      }
      return largest;
    };
    const double exact = error(product_by<Unit::cuda_cores, Format::fp32>);
    EXPECT_LT(exact, 1e-6);
    for (const double rounded :
        {error(product_by<Unit::mma, Format::tf32>), error(product_by<Unit::wmma, Format::tf32>),
            error(product_by<Unit::cuda_cores, Format::fp16>)})
      EXPECT_GT(rounded, 2e-5);
    for (const double corrected : {error(product_by<Unit::mma, Format::fp16, Correction::outside>),
             error(product_by<Unit::wmma, Format::tf32, Correction::outside>),
             error(product_by<Unit::cuda_cores, Format::tf32, Correction::outside>)})
      EXPECT_LT(corrected, 2e-6);
  }

  TEST_F(GemmDevice, RefusesSizesBeyond32Bits)
  {
    EXPECT_THROW(
        fp16<Rung::larger>({std::int64_t(1) << 31, 1, 1}, nullptr, nullptr, nullptr, nullptr),
        std::length_error);
  }
} // namespace
} // namespace tensormg
