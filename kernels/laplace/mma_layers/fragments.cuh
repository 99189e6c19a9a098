// Traces and multiplicands that a lane of the tensor-core layer kernel holds: see mma_layers.cuh.
#pragma once

#include <type_traits>

#include "kernels/laplace/mma_layers/weights.cuh"

namespace tensormg::laplace::mma_layers
{
__device__ __forceinline__ float2 to_floats(std::uint32_t halves)
{
  __half2 both;
  memcpy(&both, &halves, sizeof(both));
  return __half22float2(both);
}

template <int parts>
struct Traces;
/// Register r of sums, as such or as traces.
__device__ __forceinline__ float number_of(const D &sums, int r) { return sums.registers[r]; }
template <int parts>
__device__ __forceinline__ float number_of(const Traces<parts> &traces, int r)
{
  return traces.number(r);
}

/// Two columns (value and half derivative of one line) at two cells, 8 rows of a fragment apart; each number as the sum
/// of `parts` numbers of FP16.
template <int parts>
struct alignas(8 * parts) Traces
{
  std::uint32_t low[parts], high[parts];

  Traces() = default;
  __device__ __forceinline__ Traces(float a, float b, float c, float d)
  {
    split(low, a, b);
    split(high, c, d);
  }
  __device__ __forceinline__ explicit Traces(const D &sums)
    : Traces(sums.registers[0], sums.registers[1], sums.registers[2], sums.registers[3])
  {}

  /// Of register r of the sums.
  __device__ __forceinline__ float number(int r) const
  {
    float sum = 0.f;
#pragma unroll
    for (int part = parts - 1; part >= 0; --part)
    {
      const float2 both = to_floats(r < 2 ? low[part] : high[part]);
      sum += r % 2 == 0 ? both.x : both.y;
    }
    return sum;
  }

  __device__ __forceinline__ Traces flipped(std::uint32_t bits) const
  {
    Traces result;
#pragma unroll
    for (int part = 0; part < parts; ++part)
    {
      result.low[part] = low[part] ^ bits;
      result.high[part] = high[part] ^ bits;
    }
    return result;
  }

  /// What even modes want of the traces below (this) and above, sums or traces: values below + above, half derivatives below - above; or odd
  /// ones: values below - above, half derivatives below + above; rounded once.
  template <typename Above>
  __device__ __forceinline__ Traces joined(const Above &above, bool even) const
  {
    if constexpr (parts == 1)
      return with_signs(Traces(above), even ? 0xbc003c00u : 0x3c00bc00u); // (1, -1), (-1, 1)
    else
    {
      float sums[4];
#pragma unroll
      for (int r = 0; r < 4; ++r)
      {
        const float b = number_of(above, r);
        sums[r] = number(r) + (even == (r % 2 == 0) ? b : -b);
      }
      return {sums[0], sums[1], sums[2], sums[3]};
    }
  }

private:
  __device__ __forceinline__ Traces with_signs(const Traces &other, std::uint32_t signs) const
  {
    static_assert(parts == 1);
    Traces result;
    result.low[0] = mma::fused_halves(other.low[0], signs, low[0]);
    result.high[0] = mma::fused_halves(other.high[0], signs, high[0]);
    return result;
  }
  __device__ __forceinline__ static void split(std::uint32_t (&to)[parts], float a, float b)
  {
    to[0] = mma::to_halves(a, b);
    if constexpr (parts == 2)
    {
      const float2 first = to_floats(to[0]);
      to[1] = mma::to_halves(a - first.x, b - first.y);
    }
  }
};

/// Which of two words a lane takes: by a predicate, or by a mask, which takes a register and no instruction to be looked up.
template <bool by_mask>
class Choice
{
  std::conditional_t<by_mask, std::uint32_t, bool> first_ = {};

public:
  Choice() = default;
  __device__ __forceinline__ Choice(bool first)
  {
    if constexpr (by_mask)
      first_ = first ? ~0u : 0u;
    else
      first_ = first;
  }
  __device__ __forceinline__ std::uint32_t of(std::uint32_t first, std::uint32_t second) const
  {
    if constexpr (by_mask)
      return mma::select_bits(first_, first, second);
    else
      return first_ ? first : second;
  }
};

/// sum += numbers of src times weights
template <int parts>
__device__ __forceinline__ void add_numbers(D &sum, const A &a, const B (&weights)[parts])
{
#pragma unroll
  for (int part = 0; part < parts; ++part)
    mma::mma_sync(sum, a, weights[part]);
}

template <int parts>
__device__ __forceinline__ void add_numbers(D &sum, const SmallA &a, const SmallB (&weights)[parts])
{
  add_small(sum, [&](mma::FragmentC<SmallShape> &same) {
#pragma unroll
    for (int part = 0; part < parts; ++part)
      mma::mma_sync(same, a, weights[part]);
  });
}

/// sum += traces of two groups of 4 lines (slots 0..7 and 8..15) times weights; the product of two second parts
/// is less than what the sum is rounded by
template <int parts>
__device__ __forceinline__ void add_traces(
    D &sum, const Traces<parts> &first, const Traces<parts> &second, const B (&weights)[parts])
{
#pragma unroll
  for (int of_traces = 0; of_traces < parts; ++of_traces)
#pragma unroll
    for (int of_weights = 0; of_weights + of_traces < parts; ++of_weights)
      mma::mma_sync(sum,
          A{{first.low[of_traces], first.high[of_traces], second.low[of_traces],
              second.high[of_traces]}},
          weights[of_weights]);
}

/// The same with traces of one group (slots 0..7)
template <int parts>
__device__ __forceinline__ void add_traces(
    D &sum, const Traces<parts> &traces, const SmallB (&weights)[parts])
{
  add_small(sum, [&](mma::FragmentC<SmallShape> &same) {
#pragma unroll
    for (int of_traces = 0; of_traces < parts; ++of_traces)
#pragma unroll
      for (int of_weights = 0; of_weights + of_traces < parts; ++of_weights)
        mma::mma_sync(
            same, SmallA{{traces.low[of_traces], traces.high[of_traces]}}, weights[of_weights]);
  });
}

/// This lane's line in each block of 16 modes of a warp, if their plane began at the base: eight lines and eight cells per
/// matrix of ldmatrix. Lanes whose mode does not exist read one that does (its weights are zero, but it
/// must be a number).
template <typename Tile, int blocks>
struct LinesAt
{
  static_assert(blocks <= 2 || !Tile::Own::by_parity, "blocks follow one another");
  SharedAddress first, last;

  LinesAt() = default;
  /// Of a row of cells, at 16 cells from `cell` on.
  __device__ __forceinline__ LinesAt(const unsigned char *base, int row, int share, int cell)
    : first(lane_address(base + in_plane(row, share, cell, 0)))
    , last(lane_address(base + in_plane(row, share, cell, blocks - 1)))
  {}
  static __device__ __forceinline__ int in_plane(int row, int share, int cell, int block)
  {
    const int lane = threadIdx.x % 32;
    const int mode = Tile::Own::mode(share, 16 * block + lane / 16 * 8 + lane % 8);
    return Tile::Rows::at(row * Tile::modes + mode, cell + lane / 8 % 2 * 8);
  }
  /// Rows of 16 lines are permuted alike.
  __device__ __forceinline__ SharedAddress of(int block) const
  {
    return block == blocks - 1 ? last : first + block * 16 * Tile::row_bytes;
  }
};
} // namespace tensormg::laplace::mma_layers
