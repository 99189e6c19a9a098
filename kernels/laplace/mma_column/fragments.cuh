// What a lane of the tensor-core column kernel holds of traces: see steps.cuh.
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

/// The traces on both sides of lines as a multiplicand.
__device__ __forceinline__ A both(const Traces &below, const Traces &above)
{
  return A{{below.low, below.high, above.low, above.high}};
}

/// Where a warp finds what lies beside its cells in y.
struct BesideRow
{
  int at;    ///< this lane's line; at a closed side, and in the residual at a ghost, of the own row
  int entry; ///< of its weights
  std::uint32_t flip; ///< bits of traces, in the residual of weights: behind a closed side
  bool ghost;         ///< they lie in memory; in the residual that is added
};

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
