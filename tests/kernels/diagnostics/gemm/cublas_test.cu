// cuBLAS as `diagnose` calls it: rows, columns and types are the right way round.
#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/device.h"
#include "tests/support/gemm_cases.h"

namespace tensormg
{
namespace
{
  using namespace gemm;

  TEST(GemmCublas, AgreesWithTheReference)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    use_device(0);
    test::check_products<Half, float>(cublas_fp16, 0., test::of_float);
    test::check_products<double, double>(cublas_fp64, 0., test::of_double);
    test::check_products<float, float>(cublas_fp32, 0., test::of_float);
    test::check_products<float, float>(cublas_tf32, test::of_tf32, test::of_float);
    const auto batch_of_one = [](const Size &size, const float *a, const float *b, float *c,
                                  Stream stream) { cublas_fp32_batched(size, 1, a, b, c, stream); };
    test::check_products<float, float>(batch_of_one, 0., test::of_float);
  }
} // namespace
} // namespace tensormg
