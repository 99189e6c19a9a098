// The tensor-core column kernel: see steps.cuh and jumps.cuh.
#pragma once

#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/mma_column/jumps.cuh"
#include "kernels/laplace/mma_column/steps.cuh"

namespace tensormg::laplace::mma_column
{
template <typename Tile, Form form>
__global__ __launch_bounds__(Tile::threads, 1) void mma_column_kernel(
    const __grid_constant__ MmaColumnParameters<Tile> p)
{
  static_assert(form != Form::apply);
  const march::PlaneRings<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    march::initialise<Tile>(shared);
  if constexpr (form == Form::residual)
    JumpConstants<Tile>(shared.base).fill(p);
  else
    Constants<Tile>(shared.base).fill(p);
  __syncthreads();

  const int service = int(threadIdx.x) - 128 * Tile::consumer_groups;
  if (service < 0)
  {
    pipeline::grow_registers<Tile::consumer_registers>();
    if (int(threadIdx.x) < 32 * Tile::warps)
    {
      if constexpr (form == Form::residual)
        Jumps<Tile>(p, shared).run();
      else
        Steps<Tile>(p, shared).run();
    }
    return;
  }
  pipeline::shrink_registers<Tile::service_registers>();
  if (service == 0)
    march::produce<Tile>(p, shared);
  if (service == 32)
    march::produce_input<&pipeline::load_box_once, Tile>(p, shared);
  if (service == 64)
    march::store_results<Tile>(p, shared);
}
} // namespace tensormg::laplace::mma_column
