// The probe finds what adders are known to do: the model of tensor cores, and sums to nearest one after the other.
#include "kernels/diagnostics/precision/adder_probe.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/diagnostics/precision/block_sum.h"
#include "kernels/diagnostics/precision/recorded_kernels.h"

namespace tensormg
{
namespace
{
  using namespace precision;

  /// Sums of floats by the model, `adder.block` products at once.
  AdderProperties probe_model(const Adder &adder, const UnitFormat &format)
  {
    return probe_adder(format, [&](const std::vector<SumTest> &tests) {
      std::vector<double> results;
      for (const SumTest &test : tests)
      {
        auto sum = static_cast<float>(test.c);
        for (std::size_t first = 0; first < test.a.size();
             first += static_cast<std::size_t>(adder.block))
        {
          std::vector<double> terms;
          for (std::size_t k = first;
               k < std::min(test.a.size(), first + static_cast<std::size_t>(adder.block)); ++k)
            terms.push_back(test.a[k] * test.b[k]);
          sum = add_block(sum, terms, adder);
        }
        results.push_back(sum);
      }
      return results;
    });
  }

  TEST(AdderProbe, FindsTheModel)
  {
    constexpr UnitFormat wide{16, 24, -126, 127};
    for (const int extra_bits : {0, 1, 2, 3})
      for (const int block : {4, 8, 16})
      {
        const AdderProperties found = probe_model({block, extra_bits}, wide);
        EXPECT_EQ(found.rounding, Rounding::towards_zero);
        // More terms than products of a block are not aligned at once.
        EXPECT_EQ(found.extra_bits, std::min(extra_bits, block == 4 ? 2 : extra_bits));
        EXPECT_EQ(found.block, block);
        EXPECT_EQ(found.block_is_whole, block == 16);
        EXPECT_TRUE(found.keeps_subnormal_factors);
        EXPECT_TRUE(found.keeps_subnormal_sums);
        EXPECT_TRUE(found.overflow_is_infinite.has_value());
      }
    const AdderProperties half = probe_model({8, 2}, {16, 24, -14, 15});
    EXPECT_FALSE(half.overflow_is_infinite.has_value());
  }

  TEST(AdderProbe, FindsSumsToNearest)
  {
    const AdderProperties found =
        probe_adder({4, 53, -1022, 1023}, [](const std::vector<SumTest> &tests) {
          std::vector<double> results;
          for (const SumTest &test : tests)
          {
            double sum = test.c;
            for (std::size_t k = 0; k < test.a.size(); ++k)
              sum = std::fma(test.a[k], test.b[k], sum);
            results.push_back(sum);
          }
          return results;
        });
    EXPECT_EQ(found.rounding, Rounding::nearest);
    EXPECT_EQ(found.extra_bits, 0);
    EXPECT_EQ(found.block, 1);
    EXPECT_TRUE(found.keeps_subnormal_factors);
    EXPECT_EQ(found.overflow_is_infinite, true);
  }

  TEST(KernelNames, SayWhetherTensorCoresWork)
  {
    for (const char *name :
        {"sm90_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x128x16_tensor16x8x16",
            "cutlass_80_tensorop_d884gemm_64x32_16x4_nn_align1",
            "nvjet_sm90_hss_320x128_64x3_coopB",
            "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_nn",
            "void cutlass::Kernel2<cutlass_80_wmma_tensorop_s161616gemm_f16_16x16_128x1_nn_align2>"})
      EXPECT_EQ(uses_tensor_cores(name), true) << name;
    for (const char *name :
        {"ampere_sgemm_128x64_nn", "cutlass_80_simt_sgemm_256x128_8x4_nn_align1",
            "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x8_stage3_ffma",
            "gemmSN_NN_kernel",
            "gemmSN_NN_kernel<float, cublasGemvTensorStridedBatched<float const>>"})
      EXPECT_EQ(uses_tensor_cores(name), false) << name;
    EXPECT_EQ(uses_tensor_cores("splitKreduce_kernel"), std::nullopt);
  }
} // namespace
} // namespace tensormg
