// Fast division for smoothers.
#pragma once

namespace tensormg::laplace::cellwise
{
/// 1 / x of a normal number, to a few units in the last place: a step of a smoother needs no more.
__device__ __forceinline__ float inverse(float x)
{
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.f / x;
#endif
}
__device__ __forceinline__ double inverse(double x)
{
#if defined(__CUDA_ARCH__)
  double result; // 20 bits, and twice as many after each Newton step
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(result) : "d"(x));
  result = fma(result, fma(-x, result, 1.), result);
  return fma(result, fma(-x, result, 1.), result);
#else
  return 1. / x;
#endif
}
} // namespace tensormg::laplace::cellwise
