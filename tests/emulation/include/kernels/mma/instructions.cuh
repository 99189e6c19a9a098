// kernels/mma/instructions.cuh of the emulation: the same functions by their definitions. Sums of float are
// formed in double and rounded once, where the hardware truncates: close, not equal.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "kernels/device/shared_address.cuh"
#include "kernels/mma/chaining.h"
#include "kernels/mma/fragment.h"
#include "kernels/mma/ldmatrix_maps.h"
#include "tests/emulation/emulation.h"

namespace tensormg::mma
{
inline constexpr int compiled_capability = 1000;

template <typename S>
inline constexpr bool is_available = true;

namespace internal
{
  /// As the multiplier sees it: of a TF32 operand only the upper 19 bits.
  inline double multiplicand(double value) { return value; }
  inline double multiplicand(Tf32 value)
  {
    return static_cast<double>(std::bit_cast<float>(value.bits & ~Tf32::low_bits));
  }
  inline double multiplicand(Half value)
  {
    return static_cast<double>(Half::to_float_portable(value.bits));
  }
  inline double multiplicand(Bf16 value) { return static_cast<double>(static_cast<float>(value)); }

  /// What a lane sends.
  template <typename S>
  struct Multiplicands
  {
    double a[FragmentA<S>::n_elements], b[FragmentB<S>::n_elements];
    Multiplicands(const FragmentA<S> &in_a, const FragmentB<S> &in_b)
    {
      for (int i = 0; i < FragmentA<S>::n_elements; ++i)
        a[i] = multiplicand(in_a.get(i));
      for (int i = 0; i < FragmentB<S>::n_elements; ++i)
        b[i] = multiplicand(in_b.get(i));
    }
  };

  /// Who holds the entries of A and B.
  template <typename S>
  struct Holders
  {
    Holder a[S::m][S::k], b[S::k][S::n];
    constexpr Holders()
      : a()
      , b()
    {
      for (int k = 0; k < S::k; ++k)
      {
        for (int i = 0; i < S::m; ++i)
          a[i][k] = holder_of<S, Operand::a>({i, k});
        for (int j = 0; j < S::n; ++j)
          b[k][j] = holder_of<S, Operand::b>({k, j});
      }
    }
  };
} // namespace internal

template <typename S>
void mma_sync(FragmentC<S> &d, const FragmentA<S> &a, const FragmentB<S> &b, const FragmentC<S> &c)
{
  static constexpr internal::Holders<S> holders;
  const internal::Multiplicands<S> mine(a, b);
  d = emulation::collective(~0u, mine, [&](auto of_lane) {
    FragmentC<S> result = c;
    foreach_ij(result, emulation::thread->lane, [&](int i, int j, typename S::Accumulator &sum) {
      double exact = static_cast<double>(sum);
      for (int k = 0; k < S::k; ++k)
      {
        const Holder in_a = holders.a[i][k], in_b = holders.b[k][j];
        exact += of_lane(in_a.lane).a[in_a.element] * of_lane(in_b.lane).b[in_b.element];
      }
      sum = static_cast<typename S::Accumulator>(exact);
    });
    return result;
  });
}

template <typename S>
void mma_sync(FragmentC<S> &d, const FragmentA<S> &a, const FragmentB<S> &b)
{
  mma_sync(d, a, b, d);
}

template <LdmatrixForm form, typename S, Operand operand>
void ldmatrix(Fragment<S, operand> &fragment, const void *row)
{
  static_assert(has_ldmatrix<S, operand>(form));
  fragment = emulation::collective(~0u, row, [&](auto of_lane) {
    Fragment<S, operand> result{};
    const int lane = emulation::thread->lane;
    for (int r = 0; r < result.n_registers; ++r)
    {
      const auto bytes_of = [&](int matrix_row) {
        const void *from = of_lane(8 * r + matrix_row);
        if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0)
          throw std::runtime_error("ldmatrix with a row that is not aligned to 16 bytes");
        return static_cast<const unsigned char *>(from);
      };
      unsigned char word[4];
      if (form == LdmatrixForm::plain)
        std::memcpy(word, bytes_of(lane / 4) + 4 * (lane % 4), 4);
      else
        for (int i = 0; i < 2; ++i)
          std::memcpy(word + 2 * i, bytes_of(2 * (lane % 4) + i) + 2 * (lane / 4), 2);
      std::memcpy(&result.registers[r], word, 4);
    }
    return result;
  });
}

template <LdmatrixForm form, typename S, Operand operand>
void ldmatrix(Fragment<S, operand> &fragment, SharedAddress row)
{
  ldmatrix<form>(fragment, reinterpret_cast<const void *>(row));
}

inline Tf32 to_tf32(float value) { return Tf32::round(value); }
inline Half to_half(float value) { return Half(value); }
inline Bf16 to_bf16(float value) { return Bf16::round(value); }
inline std::uint32_t to_halves(float low, float high)
{
  return std::uint32_t(Half(low).bits) | std::uint32_t(Half(high).bits) << 16;
}

/// Rounded twice, but for factors of 1 and -1, where the sum of two halves in FP32 is exact enough.
inline std::uint32_t fused_halves(std::uint32_t a, std::uint32_t b, std::uint32_t c)
{
  const auto number = [](std::uint32_t halves, int shift) {
    return Half::to_float_portable(static_cast<std::uint16_t>(halves >> shift));
  };
  const auto fused = [&](int at) { return std::fma(number(a, at), number(b, at), number(c, at)); };
  return to_halves(fused(0), fused(16));
}

inline std::uint32_t select_bits(std::uint32_t mask, std::uint32_t a, std::uint32_t b)
{
  return (a & mask) | (b & ~mask);
}

inline float reciprocal(float x) { return 1.F / x; }

template <std::size_t matrices>
void stmatrix_transposed(const std::uint32_t (&r)[matrices], void *row)
{
  struct Sent
  {
    std::uint32_t r[matrices];
    void *row;
  };
  Sent sent{};
  std::memcpy(sent.r, r, sizeof(r));
  sent.row = row;
  emulation::collective(~0u, sent, [](auto of_lane) {
    const int lane = emulation::thread->lane;
    for (int m = 0; m < int(matrices); ++m)
      for (int i = 0; i < 2; ++i)
      {
        auto *to = static_cast<unsigned char *>(of_lane(8 * m + 2 * (lane % 4) + i).row);
        if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0)
          throw std::runtime_error("stmatrix with a row that is not aligned to 16 bytes");
        const auto half = static_cast<std::uint16_t>(of_lane(lane).r[m] >> (16 * i));
        std::memcpy(to + 2 * (lane / 4), &half, 2);
      }
    return 0;
  });
}
template <std::size_t matrices>
void stmatrix_transposed(const std::uint32_t (&r)[matrices], SharedAddress row)
{
  stmatrix_transposed(r, reinterpret_cast<void *>(row));
}
} // namespace tensormg::mma
