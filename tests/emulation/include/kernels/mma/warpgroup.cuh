// kernels/mma/warpgroup.cuh of the emulation: the same functions by their definitions, at once.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "kernels/core/half.h"
#include "kernels/mma/fragment.h"
#include "tests/emulation/emulation.h"

namespace tensormg::mma
{
/// Where entry (i, k), i along the columns of A' or B, lies: the canonical layouts of the PTX ISA before the
/// swizzle of the address.
struct SharedMatrix
{
  std::uintptr_t begin;
  std::int64_t leading, stride; ///< bytes
  bool k_is_fastest;

  SharedMatrix after(int bytes) const
  {
    return {begin + static_cast<std::uintptr_t>(bytes), leading, stride, k_is_fastest};
  }
  float at(int i, int k) const
  {
    const std::int64_t offset = k_is_fastest
        ? i / 8 * stride + i % 8 * 128 + 2 * k
        : i / 64 * leading + k / 8 * stride + k % 8 * 128 + i % 64 * 2;
    const std::uintptr_t address = begin + static_cast<std::uintptr_t>(offset);
    Half value;
    std::memcpy(
        &value, reinterpret_cast<const void *>(address ^ (address >> 3 & 0x70)), sizeof(value));
    return Half::to_float_portable(value.bits);
  }
};

namespace internal
{
  inline SharedMatrix describe(const void *tile, int leading, int stride, bool k_is_fastest)
  {
    const auto begin = reinterpret_cast<std::uintptr_t>(tile);
    if (begin % 1024 != 0)
      throw std::runtime_error("wgmma with a tile that is not aligned to 1024 bytes");
    return {begin, leading, stride, k_is_fastest};
  }
} // namespace internal

inline SharedMatrix rows_of_k(const void *tile) { return internal::describe(tile, 0, 1024, true); }
inline SharedMatrix rows_of_n(const void *tile, int block_bytes)
{
  return internal::describe(tile, block_bytes, 1024, false);
}

inline void warpgroup_begin() {}
inline void warpgroup_commit() {}
template <int pending>
void warpgroup_wait()
{
  emulation::warp_barrier(~0u);
}
template <int pending, int count>
void warpgroup_wait(float (&)[count])
{
  warpgroup_wait<pending>();
}

namespace internal
{
  template <int count>
  void multiply(float (&d)[count], SharedMatrix a, SharedMatrix b, bool accumulate)
  {
    const int thread = static_cast<int>(emulation::thread->index.x), lane = emulation::thread->lane;
    const int warp = thread / 32 % 4;
    for (int i = 0; i < count; ++i)
    {
      const int row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
      const int column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
      double sum = accumulate ? static_cast<double>(d[i]) : 0.;
      for (int k = 0; k < 16; ++k)
        sum += static_cast<double>(a.at(row, k)) * static_cast<double>(b.at(column, k));
      d[i] = static_cast<float>(sum);
    }
  }

  /// A in registers: every warp has the fragment of its 16 rows.
  template <int count>
  void multiply(
      float (&d)[count], const FragmentA<M16N8K16<Half>> &a, SharedMatrix b, bool accumulate)
  {
    using S = M16N8K16<Half>;
    emulation::collective(~0u, a, [&](auto of_lane) {
      const int lane = emulation::thread->lane;
      for (int i = 0; i < count; ++i)
      {
        const int row = lane / 4 + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
        double sum = accumulate ? static_cast<double>(d[i]) : 0.;
        for (int k = 0; k < S::k; ++k)
        {
          const Holder in_a = holder_of<S, Operand::a>({row, k});
          sum += static_cast<double>(
                     Half::to_float_portable(of_lane(in_a.lane).get(in_a.element).bits)) *
              static_cast<double>(b.at(column, k));
        }
        d[i] = static_cast<float>(sum);
      }
      return 0;
    });
  }
} // namespace internal

inline void multiply_64x256x16(float (&d)[128], SharedMatrix a, SharedMatrix b, bool accumulate)
{
  internal::multiply(d, a, b, accumulate);
}
inline void multiply_64x224x16(float (&d)[112], SharedMatrix a, SharedMatrix b, bool accumulate)
{
  internal::multiply(d, a, b, accumulate);
}
inline void multiply_64x192x16(float (&d)[96], SharedMatrix a, SharedMatrix b, bool accumulate)
{
  internal::multiply(d, a, b, accumulate);
}
inline void multiply_64x128x16(float (&d)[64], SharedMatrix a, SharedMatrix b, bool accumulate)
{
  internal::multiply(d, a, b, accumulate);
}
inline void multiply_64x64x16(float (&d)[32], SharedMatrix a, SharedMatrix b, bool accumulate)
{
  internal::multiply(d, a, b, accumulate);
}

inline void multiply_64x128x16(
    float (&d)[64], const FragmentA<M16N8K16<Half>> &a, SharedMatrix b, bool accumulate)
{
  internal::multiply(d, a, b, accumulate);
}
inline void multiply_64x64x16(
    float (&d)[32], const FragmentA<M16N8K16<Half>> &a, SharedMatrix b, bool accumulate)
{
  internal::multiply(d, a, b, accumulate);
}
} // namespace tensormg::mma
