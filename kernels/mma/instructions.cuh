// The PTX instructions behind kernels/mma: mma.sync, ldmatrix and the conversions to multiplicands.
// The only file with assembly for them.
//
//   mma_sync(d, a, b, c)     D = A B + C       mma_sync(d, a, b)     D += A B
//   ldmatrix<form>(a, row)   fills a fragment; row: the lane's row of ldmatrix_row
//   to_tf32(x), to_half(x), to_bf16(x), to_halves(x, y)   float -> multiplicand by the conversion instruction
//   stmatrix_transposed(r, row)               accumulators -> rows in shared memory
//   fused_halves(a, b, c)                     a b + c of two halves each
//   select_bits(mask, a, b)                   bits of a or b
//   reciprocal(x)                             1 / x by the instruction
//
// All 32 lanes of the warp must call them together. A shape that the GPU compiled for does not have
// is an error at compile time; where a kernel is built for several GPUs, ask
// `if constexpr (is_available<S>)` first.
//
// Source: PTX ISA, "mma", "ldmatrix", "cvt". Tests: tests/kernels/mma/device_test.cu.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/compiled_for.cuh"
#include "kernels/device/shared_address.cuh"
#include "kernels/mma/chaining.h"
#include "kernels/mma/fragment.h"
#include "kernels/mma/ldmatrix_maps.h"

namespace tensormg::mma
{
template <typename S>
inline constexpr bool is_available = compiled_for::capability >= S::min_capability;

namespace internal
{
  __device__ inline void mma(FragmentC<M8N8K4<double>> &d, const FragmentA<M8N8K4<double>> &a,
      const FragmentB<M8N8K4<double>> &b, const FragmentC<M8N8K4<double>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1}, {%2}, {%3}, {%4, %5};"
        : "=d"(d.registers[0]), "=d"(d.registers[1])
        : "d"(a.registers[0]), "d"(b.registers[0]), "d"(c.registers[0]), "d"(c.registers[1]));
  }

  __device__ inline void mma(FragmentC<M16N8K4<double>> &d, const FragmentA<M16N8K4<double>> &a,
      const FragmentB<M16N8K4<double>> &b, const FragmentC<M16N8K4<double>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=d"(d.registers[0]), "=d"(d.registers[1]), "=d"(d.registers[2]), "=d"(d.registers[3])
        : "d"(a.registers[0]), "d"(a.registers[1]), "d"(b.registers[0]), "d"(c.registers[0]),
        "d"(c.registers[1]), "d"(c.registers[2]), "d"(c.registers[3]));
  }

  __device__ inline void mma(FragmentC<M16N8K8<double>> &d, const FragmentA<M16N8K8<double>> &a,
      const FragmentB<M16N8K8<double>> &b, const FragmentC<M16N8K8<double>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=d"(d.registers[0]), "=d"(d.registers[1]), "=d"(d.registers[2]), "=d"(d.registers[3])
        : "d"(a.registers[0]), "d"(a.registers[1]), "d"(a.registers[2]), "d"(a.registers[3]),
        "d"(b.registers[0]), "d"(b.registers[1]), "d"(c.registers[0]), "d"(c.registers[1]),
        "d"(c.registers[2]), "d"(c.registers[3]));
  }

  __device__ inline void mma(FragmentC<M16N8K16<double>> &d, const FragmentA<M16N8K16<double>> &a,
      const FragmentB<M16N8K16<double>> &b, const FragmentC<M16N8K16<double>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
        "{%12, %13, %14, %15}, {%16, %17, %18, %19};"
        : "=d"(d.registers[0]), "=d"(d.registers[1]), "=d"(d.registers[2]), "=d"(d.registers[3])
        : "d"(a.registers[0]), "d"(a.registers[1]), "d"(a.registers[2]), "d"(a.registers[3]),
        "d"(a.registers[4]), "d"(a.registers[5]), "d"(a.registers[6]), "d"(a.registers[7]),
        "d"(b.registers[0]), "d"(b.registers[1]), "d"(b.registers[2]), "d"(b.registers[3]),
        "d"(c.registers[0]), "d"(c.registers[1]), "d"(c.registers[2]), "d"(c.registers[3]));
  }

  __device__ inline void mma(FragmentC<M16N8K4<Tf32>> &d, const FragmentA<M16N8K4<Tf32>> &a,
      const FragmentB<M16N8K4<Tf32>> &b, const FragmentC<M16N8K4<Tf32>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=f"(d.registers[0]), "=f"(d.registers[1]), "=f"(d.registers[2]), "=f"(d.registers[3])
        : "r"(a.registers[0]), "r"(a.registers[1]), "r"(b.registers[0]), "f"(c.registers[0]),
        "f"(c.registers[1]), "f"(c.registers[2]), "f"(c.registers[3]));
  }

  __device__ inline void mma(FragmentC<M16N8K8<Tf32>> &d, const FragmentA<M16N8K8<Tf32>> &a,
      const FragmentB<M16N8K8<Tf32>> &b, const FragmentC<M16N8K8<Tf32>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d.registers[0]), "=f"(d.registers[1]), "=f"(d.registers[2]), "=f"(d.registers[3])
        : "r"(a.registers[0]), "r"(a.registers[1]), "r"(a.registers[2]), "r"(a.registers[3]),
        "r"(b.registers[0]), "r"(b.registers[1]), "f"(c.registers[0]), "f"(c.registers[1]),
        "f"(c.registers[2]), "f"(c.registers[3]));
  }

  __device__ inline void mma(FragmentC<M16N8K8<Half>> &d, const FragmentA<M16N8K8<Half>> &a,
      const FragmentB<M16N8K8<Half>> &b, const FragmentC<M16N8K8<Half>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=f"(d.registers[0]), "=f"(d.registers[1]), "=f"(d.registers[2]), "=f"(d.registers[3])
        : "r"(a.registers[0]), "r"(a.registers[1]), "r"(b.registers[0]), "f"(c.registers[0]),
        "f"(c.registers[1]), "f"(c.registers[2]), "f"(c.registers[3]));
  }

  __device__ inline void mma(FragmentC<M16N8K16<Half>> &d, const FragmentA<M16N8K16<Half>> &a,
      const FragmentB<M16N8K16<Half>> &b, const FragmentC<M16N8K16<Half>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d.registers[0]), "=f"(d.registers[1]), "=f"(d.registers[2]), "=f"(d.registers[3])
        : "r"(a.registers[0]), "r"(a.registers[1]), "r"(a.registers[2]), "r"(a.registers[3]),
        "r"(b.registers[0]), "r"(b.registers[1]), "f"(c.registers[0]), "f"(c.registers[1]),
        "f"(c.registers[2]), "f"(c.registers[3]));
  }

  __device__ inline void mma(FragmentC<M16N8K8<Bf16>> &d, const FragmentA<M16N8K8<Bf16>> &a,
      const FragmentB<M16N8K8<Bf16>> &b, const FragmentC<M16N8K8<Bf16>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=f"(d.registers[0]), "=f"(d.registers[1]), "=f"(d.registers[2]), "=f"(d.registers[3])
        : "r"(a.registers[0]), "r"(a.registers[1]), "r"(b.registers[0]), "f"(c.registers[0]),
        "f"(c.registers[1]), "f"(c.registers[2]), "f"(c.registers[3]));
  }

  __device__ inline void mma(FragmentC<M16N8K16<Bf16>> &d, const FragmentA<M16N8K16<Bf16>> &a,
      const FragmentB<M16N8K16<Bf16>> &b, const FragmentC<M16N8K16<Bf16>> &c)
  {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d.registers[0]), "=f"(d.registers[1]), "=f"(d.registers[2]), "=f"(d.registers[3])
        : "r"(a.registers[0]), "r"(a.registers[1]), "r"(a.registers[2]), "r"(a.registers[3]),
        "r"(b.registers[0]), "r"(b.registers[1]), "f"(c.registers[0]), "f"(c.registers[1]),
        "f"(c.registers[2]), "f"(c.registers[3]));
  }

  template <LdmatrixForm form>
  __device__ inline void load_matrices(std::uint32_t (&r)[1], std::uint32_t row)
  {
    if constexpr (form == LdmatrixForm::plain)
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                   : "=r"(r[0])
                   : "r"(row)
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                   : "=r"(r[0])
                   : "r"(row)
                   : "memory");
  }

  template <LdmatrixForm form>
  __device__ inline void load_matrices(std::uint32_t (&r)[2], std::uint32_t row)
  {
    if constexpr (form == LdmatrixForm::plain)
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(r[0]), "=r"(r[1])
                   : "r"(row)
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(r[0]), "=r"(r[1])
                   : "r"(row)
                   : "memory");
  }

  template <LdmatrixForm form>
  __device__ inline void load_matrices(std::uint32_t (&r)[4], std::uint32_t row)
  {
    if constexpr (form == LdmatrixForm::plain)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                   : "r"(row)
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                   : "r"(row)
                   : "memory");
  }
} // namespace internal

/// D = A B + C; d may be c. Accumulates in double, or in float (rounding of the partial sums is up to
/// the hardware: it truncates rather than rounds).
template <typename S>
__device__ inline void mma_sync(
    FragmentC<S> &d, const FragmentA<S> &a, const FragmentB<S> &b, const FragmentC<S> &c)
{
  static_assert(is_available<S>,
      "the GPU compiled for has no such mma.sync: mma.m16n8k*.f64 needs sm_90, the others sm_80");
  if constexpr (is_available<S>)
    internal::mma(d, a, b, c);
}

/// D += A B.
template <typename S>
__device__ inline void mma_sync(FragmentC<S> &d, const FragmentA<S> &a, const FragmentB<S> &b)
{
  mma_sync(d, a, b, d);
}

/// Fills a fragment from shared memory: x1, x2 or x4 as the fragment has registers. `row` points at
/// the 16 bytes, 16-byte aligned, of the entry ldmatrix_row<S, operand>(form, lane), in lanes below
/// 8 n_registers; the others may pass any address in shared memory.
template <LdmatrixForm form, typename S, Operand operand>
__device__ inline void ldmatrix(Fragment<S, operand> &fragment, SharedAddress row)
{
  static_assert(has_ldmatrix<S, operand>(form),
      "ldmatrix moves 16-bit elements, and 32-bit multiplicands in its plain form");
  internal::load_matrices<form>(fragment.registers, row);
}
template <LdmatrixForm form, typename S, Operand operand>
__device__ inline void ldmatrix(Fragment<S, operand> &fragment, const void *row)
{
  ldmatrix<form>(fragment, shared_address(row));
}

/// To nearest, ties away from zero: cvt.rna.tf32.f32. The same as Tf32::round.
__device__ inline Tf32 to_tf32(float value)
{
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return Tf32{bits};
}

/// To nearest even: cvt.rn.f16.f32. The same as Half(float) but for the bits of a NaN.
__device__ inline Half to_half(float value)
{
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return std::bit_cast<Half>(bits);
}

/// To nearest even: cvt.rn.bf16.f32. The same as Bf16::round but for the bits of a NaN.
__device__ inline Bf16 to_bf16(float value)
{
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return Bf16{bits};
}

/// Two numbers as one register of a multiplicand, to nearest even: cvt.rn.f16x2.f32.
__device__ inline std::uint32_t to_halves(float low, float high)
{
  std::uint32_t bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}

/// a b + c of two numbers of FP16 each, rounded once: fma.rn.f16x2.
__device__ inline std::uint32_t fused_halves(std::uint32_t a, std::uint32_t b, std::uint32_t c)
{
  std::uint32_t bits;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(bits) : "r"(a), "r"(b), "r"(c));
  return bits;
}

/// The bits of a where those of mask are set, of b elsewhere: lop3. Written in C++ with a mask that came from a predicate,
/// the compiler goes back to the predicate.
__device__ inline std::uint32_t select_bits(std::uint32_t mask, std::uint32_t a, std::uint32_t b)
{
  std::uint32_t bits;
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(bits) : "r"(mask), "r"(a), "r"(b));
  return bits;
}

/// 1 / x, off by one unit in the last place at most; x neither subnormal nor larger than 2^126: rcp.approx.ftz.f32.
/// The rounded one (__frcp_rn) branches, and nothing is scheduled across that.
__device__ inline float reciprocal(float x)
{
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Writes 8 x 8 matrices of 16-bit elements transposed: lane's register m holds entries (lane / 4,
/// 2 (lane % 4)) and the next one of matrix m, and becomes part of rows 2 (lane % 4), 2 (lane % 4) + 1 in shared
/// memory. `row`: in lane 8 m + r the 16 bytes, 16-byte aligned, for row r of matrix m. Four matrices, or
/// two (lanes 16.. may then pass any address in shared memory). Needs sm_90. PTX ISA, "stmatrix".
__device__ inline void stmatrix_transposed(const std::uint32_t (&r)[4], SharedAddress row)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}
__device__ inline void stmatrix_transposed(const std::uint32_t (&r)[2], SharedAddress row)
{
  if constexpr (!compiled_for::has_copy_engine)
    return compiled_for::stop();
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row),
               "r"(r[0]), "r"(r[1])
               : "memory");
}
template <std::size_t matrices>
__device__ inline void stmatrix_transposed(const std::uint32_t (&r)[matrices], void *row)
{
  stmatrix_transposed(r, shared_address(row));
}
} // namespace tensormg::mma
