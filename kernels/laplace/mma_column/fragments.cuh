// What a lane of the tensor-core column kernel holds of multiplicands and traces, and where it finds them: see
// mma_column.cuh.
#pragma once

#include "kernels/laplace/mma_column/constants.cuh"

namespace tensormg::laplace::mma_column
{
/// Value and half derivative of one line at two cells, 8 rows of a fragment apart.
struct Traces
{
  std::uint32_t low, high;

  Traces() = default;
  __device__ __forceinline__ Traces(std::uint32_t low_, std::uint32_t high_)
    : low(low_)
    , high(high_)
  {}
  __device__ __forceinline__ explicit Traces(const D &sums)
    : low(mma::to_halves(sums.registers[0], sums.registers[1]))
    , high(mma::to_halves(sums.registers[2], sums.registers[3]))
  {}

  __device__ __forceinline__ Traces flipped(std::uint32_t bits) const
  {
    return {low ^ bits, high ^ bits};
  }
};

/// Bytes from the beginning of a slot: this lane's line in each block of 16 modes of a row of cells. Lanes whose
/// mode does not exist read the last one (its weights are zero, but it must be a number).
template <int blocks>
struct BlocksAt
{
  int of[blocks];
};

/// Where a warp finds the traces of the row of cells beside its own in y.
template <int blocks>
struct Beside
{
  BlocksAt<blocks> at; ///< this lane's lines; at a closed side of the own row
  int entry;           ///< of the weights
  std::uint32_t flip;  ///< bits: behind a closed side
  bool ghost;          ///< they lie in memory instead
};

/// The traces on both sides of lines as a multiplicand.
__device__ __forceinline__ A both(const Traces &below, const Traces &above)
{
  return A{{below.low, below.high, above.low, above.high}};
}

/// The modes of a tile as multiplicand of a diagonal matrix.
__device__ __forceinline__ SmallA modes_of_tile(const A &a, int tile)
{
  return {{a.registers[2 * tile], a.registers[2 * tile + 1]}};
}

__device__ __forceinline__ void add_product(D &sum, const SmallA &a, const SmallB &b)
{
  add_small(sum, [&](mma::FragmentC<SmallShape> &same) { mma::mma_sync(same, a, b); });
}
} // namespace tensormg::laplace::mma_column
