// The theory of memory-bound kernels: published worked examples, limits, and both forms of the formula.
#include "kernels/diagnostics/roofline/roofline.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using namespace roofline;

  constexpr double scale_intensity = 1. / 16.;      // 1 flop on 16 bytes
  constexpr double five_point_intensity = 10. / 16; // 5 multiplications, 5 additions
  constexpr double forty_nine_point_intensity = 98. / 16.;

  // 108 multiprocessors, 64 flop per clock, 1.41 GHz; 1935 GB/s.
  constexpr Rates a100{108. * 64. * 1.41e9, 1935e9};
  // 132 multiprocessors, 128 flop per clock, 1.98 GHz; 3350 GB/s.
  constexpr Rates hopper{132. * 128. * 1.98e9, 3350e9};

  // The figures of arXiv 2502.16851: double precision, tensor cores twice as fast as CUDA cores.
  TEST(Roofline, PublishedExamples)
  {
    EXPECT_NEAR(balance(a100), 5.04, 0.005);
    EXPECT_NEAR(balance(hopper), 9.99, 0.005);
    EXPECT_NEAR(memory_bound_limit(2.), 1.33, 0.005);
    // One fused multiply-add per 8 bytes of matrix is more than any sparse product has.
    EXPECT_NEAR(infinite_alpha_limit(balance(a100), 2. / 8.), 1.05, 0.005);
    // So many steps of a 5-point stencil must be fused before it is bound by arithmetic.
    EXPECT_NEAR(depth_of_balance(balance(hopper), five_point_intensity), 15.98, 0.005);
  }

  // Hopper's m8n8k4 has the rate of its CUDA cores: alpha is 1, and nothing can be gained.
  TEST(Roofline, NothingIsGainedFromAUnitOfTheSameSpeed)
  {
    EXPECT_EQ(memory_bound_limit(1.), 1.);
    for (const double intensity : {0., 0.1, 1., 10., 1e6})
    {
      EXPECT_EQ(unoverlapped_speedup(1., 7.8, intensity), 1.);
      EXPECT_EQ(overlapped_speedup(1., 7.8, intensity), 1.);
    }
  }

  // 4.3 TB/s and 33.5 TFLOP/s: balance 7.8.
  TEST(Roofline, KernelsOfTheDiagnosisOnAnH200)
  {
    constexpr double b = 33.5 / 4.3;
    EXPECT_NEAR(unoverlapped_speedup(2., b, scale_intensity), 1.004, 5e-4);
    EXPECT_NEAR(unoverlapped_speedup(2., b, 1. / 6.), 1.011, 5e-4);
    EXPECT_NEAR(unoverlapped_speedup(2., b, five_point_intensity), 1.039, 5e-4);
    EXPECT_LT(unoverlapped_speedup(2., b, forty_nine_point_intensity), memory_bound_limit(2.));
  }

  TEST(Roofline, TheBoundIsTheQuotientOfTheTimes)
  {
    for (const double alpha : {1., 2., 7.5, 16.})
      for (const double flops : {1., 37., 1e3})
      {
        const Work work{flops, 24.};
        const Rates plain{31., 4.}, tensor{alpha * plain.flops, plain.bytes};
        const double bound = unoverlapped_speedup(alpha, balance(plain), intensity(work));
        EXPECT_NEAR(unoverlapped_speedup(work, plain, work, tensor), bound, 1e-14 * bound);
        const double overlapped = overlapped_speedup(alpha, balance(plain), intensity(work));
        EXPECT_NEAR(overlapped_speedup(work, plain, work, tensor), overlapped, 1e-14 * overlapped);
        EXPECT_LE(bound, infinite_alpha_limit(balance(plain), intensity(work)));
        EXPECT_LE(bound, alpha);
        if (is_memory_bound(work, plain))
        {
          EXPECT_LE(bound, memory_bound_limit(alpha));
          EXPECT_EQ(overlapped, 1.);
        }
      }
  }

  TEST(Roofline, Limits)
  {
    constexpr double b = 10.;
    // At the balance the memory-bound limit is reached; far above it, the factor of the units.
    EXPECT_DOUBLE_EQ(unoverlapped_speedup(2., b, b), memory_bound_limit(2.));
    EXPECT_NEAR(unoverlapped_speedup(1e12, b, 3.), infinite_alpha_limit(b, 3.), 1e-9);
    EXPECT_NEAR(unoverlapped_speedup(8., b, 1e12), 8., 1e-9);
    EXPECT_EQ(overlapped_speedup(8., b, 80.), 8.);
    EXPECT_EQ(overlapped_speedup(8., b, 20.), 2.);
    EXPECT_EQ(unoverlapped_speedup(8., b, 0.), 1.);
    EXPECT_EQ(overlapped_speedup(8., b, 0.), 1.);
    EXPECT_TRUE(std::isinf(intensity({1., 0.})));
  }

  TEST(Roofline, TimesAndRoof)
  {
    constexpr Rates machine{100., 10.};
    constexpr Work memory{20., 10.}, arithmetic{500., 10.};
    EXPECT_TRUE(is_memory_bound(memory, machine));
    EXPECT_FALSE(is_memory_bound(arithmetic, machine));
    EXPECT_EQ(overlapped_seconds(memory, machine), 1.);
    EXPECT_EQ(unoverlapped_seconds(memory, machine), 1.2);
    EXPECT_EQ(overlapped_seconds(arithmetic, machine), 5.);
    EXPECT_EQ(unoverlapped_seconds(arithmetic, machine), 6.);
    EXPECT_EQ(attainable_flops(2., machine), 20.);
    EXPECT_EQ(attainable_flops(50., machine), 100.);
    // Without arithmetic no rate of it is needed.
    EXPECT_EQ(unoverlapped_seconds({0., 10.}, {0., 10.}), 1.);
  }

  // 208 flops on the tensor cores in place of 98 on CUDA cores, of half the rate each.
  TEST(Roofline, RedundantWork)
  {
    constexpr Rates cuda{33.5e12, 4.3e12}, slow_tensor{33.5e12, 4.3e12}, tensor{67e12, 4.3e12};
    constexpr Work useful{98., 16.}, redundant{208., 16.};
    EXPECT_LT(overlapped_speedup(useful, cuda, redundant, slow_tensor), 0.61);
    EXPECT_NEAR(overlapped_speedup(useful, cuda, redundant, tensor), 1., 1e-12);
    EXPECT_LT(unoverlapped_speedup(useful, cuda, redundant, tensor), 1.);
  }
} // namespace
} // namespace tensormg
