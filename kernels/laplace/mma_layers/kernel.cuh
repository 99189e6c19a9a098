// The order of work in the tensor-core layer kernel, and the kernel: see mma_layers.cuh.
#pragma once

#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/mma_layers/planes.cuh"

namespace tensormg::laplace::mma_layers
{
/// Finishes plane k of the layer, whose traces are known, and forms those of plane k + 1; both at once, so that the one
/// goes on while the other waits for products, shared memory or shuffles.
template <typename Tile, Form form>
template <bool finishes, bool begins>
__device__ __forceinline__ void Cells<Tile, form>::work(
    Plane &at, Plane &next, int layer, int k, const FacesZ &z)
{
  constexpr bool takes = finishes && Tile::shares_y;
  const auto phase = [&](int index) {
    return index == 0 ? pipeline::Phase{shared.halo_full(halo.slot), halo.parity}
        : index == 1  ? pipeline::Phase{input_barrier(), input_parity()}
                      : pipeline::Phase{shared.mailed(strip, mail_in.slot), mail_in.parity};
  };
  constexpr int first = begins ? 0 : 1, end = 1 + int(finishes) + int(takes);
  pipeline::wait_all<end - first>([&](int index) { return phase(first + index); });
  if constexpr (finishes)
  {
    take_y(at.y);
    take_ghosts(at.y, layer * n + k);
  }
  Ends ends;
  if constexpr (begins)
    read(next.u, ends, k + 1);
  Accumulators sum = {};
  if constexpr (finishes)
  {
    if constexpr (Tile::multiplies_diagonal)
      add_diagonal(sum, at.u, k);
    add_z(sum, k, z);
    add_y(sum, at.y);
    add_x(sum, at.x);
  }
  SumsX x{};
  SumsY y{};
  if constexpr (begins)
  {
    multiply_x(x, next.u, ends);
    multiply_y(y, k + 1);
  }
  A b[form == Form::apply ? 1 : x_blocks], old[form == Form::chebyshev ? x_blocks : 1];
  if constexpr (finishes)
    read_input(b, old);
  if constexpr (begins)
  {
    hand_over_y(next.y, y);
    exchange_x(next.x, x);
    release_plane<finishes>(k + 1, x, y);
  }
  if constexpr (finishes)
  {
    write(sum, at.u, b, old, k);
    hand_over_result();
  }
}

/// One plane from beginning to end.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::work_at_once(int layer, int k, const FacesZ &z)
{
  pipeline::wait(shared.halo_full(halo.slot), halo.parity);
  wait_input();
  Plane at;
  Ends ends;
  read(at.u, ends, k);
  SumsY y{};
  multiply_y(y, k);
  SumsX x{};
  multiply_x(x, at.u, ends);
  Accumulators sum = {};
  if constexpr (Tile::multiplies_diagonal)
    add_diagonal(sum, at.u, k);
  add_z(sum, k, z);
  hand_over_y(at.y, y);
  A b[form == Form::apply ? 1 : x_blocks], old[form == Form::chebyshev ? x_blocks : 1];
  read_input(b, old);
  exchange_x(at.x, x);
  release_plane<false>(k, x, y);
  add_x(sum, at.x);
  take_y(at.y);
  take_ghosts(at.y, layer * n + k);
  add_y(sum, at.y);
  write(sum, at.u, b, old, k);
  hand_over_result();
}

/// Begins plane 0 of the segment's first layer, if there are two planes at a time.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::begin_layers(Plane &first)
{
  if constexpr (Tile::overlaps)
  {
    Plane none;
    work<false, true>(none, first, s.z0, -1, odd);
  }
}

/// `at`: plane 0 of the layer, whose traces are known, and then that of the next one.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::work_on_layer(Plane &at, int c)
{
  Trace at_top[Tile::keeps_top ? 1 : groups];
  if constexpr (!Tile::keeps_top)
    sum_z<false>(0, [&](int group, const D &, const D &upper) { at_top[group] = Trace(upper); });
  close_above(c, at_top);
  if constexpr (Tile::overlaps)
  {
    Plane next;
#pragma unroll 1
    for (int k = 0; k + 2 < n; k += 2)
    {
      work<true, true>(at, next, c, k, even);
      work<true, true>(next, at, c, k + 1, odd);
    }
    const bool last = c + 1 == s.z1;
    if constexpr (n % 2 == 0)
    {
      work<true, true>(at, next, c, n - 2, even);
      if (last)
        work<true, false>(next, at, c, n - 1, odd);
      else
        work<true, true>(next, at, c, n - 1, odd);
    }
    else if (last)
      work<true, false>(at, next, c, n - 1, even);
    else
    {
      work<true, true>(at, next, c, n - 1, even);
      at = next;
    }
  }
  else
  {
#pragma unroll 1
    for (int k = 0; k + 1 < n; k += 2)
    {
      work_at_once(c, k, even);
      work_at_once(c, k + 1, odd);
    }
    if constexpr (n % 2 == 1)
      work_at_once(c, n - 1, even);
  }
}

/// The sums, b and old: to where b was, which this warp alone has read.
template <typename Tile, Form form>
template <int blocks_b, int blocks_old>
__device__ __forceinline__ void Cells<Tile, form>::write(const Accumulators &sum,
    const A (&u)[x_blocks], const A (&b)[blocks_b], const A (&old)[blocks_old], int k) const
{
  std::uint32_t halves[2 * tiles];
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
  {
#pragma unroll
    for (int high = 0; high < 2; ++high)
    {
      const int r = tile % 2 * 2 + high;
      // In the fused forms the sums have the other sign.
      const float2 faces{scale[high] * sum[tile].registers[2 * high],
          scale[high] * sum[tile].registers[2 * high + 1]};
      float2 result = faces;
      if constexpr (form != Form::apply)
      {
        const float2 right = to_floats(b[tile / 2].registers[r]);
        result = {faces.x + right.x, faces.y + right.y};
      }
      if constexpr (!Tile::multiplies_diagonal)
      {
        const float of_k = p.lambda[2][k];
        const float2 d{diagonal[tile].x + of_k, diagonal[tile].y + of_k};
        const float2 v = to_floats(u[tile / 2].registers[r]);
        if constexpr (form == Form::apply)
          result = {fmaf(d.x, v.x, result.x), fmaf(d.y, v.y, result.y)};
        else if constexpr (form == Form::residual)
          result = {fmaf(-d.x, v.x, result.x), fmaf(-d.y, v.y, result.y)};
        else
        {
          const float2 before = to_floats(old[tile / 2].registers[r]);
          result = {fmaf(p.alpha * mma::reciprocal(d.x), result.x, p.u_factor * v.x),
              fmaf(p.alpha * mma::reciprocal(d.y), result.y, p.u_factor * v.y)};
          result = {fmaf(-p.theta, before.x, result.x), fmaf(-p.theta, before.y, result.y)};
        }
      }
      halves[2 * tile + high] = mma::to_halves(result.x, result.y);
    }
  }
  const int to = Shared<Tile>::input_at(input.slot, 0);
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
  {
    std::uint32_t four[4] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < 4 && 4 * block + r < 2 * tiles; ++r)
      four[r] = halves[4 * block + r];
    const int partial = block - (x_blocks - partial_blocks);
    const SharedAddress at = partial < 0
        ? own_at.of(block) + to
        : partial_result[max(partial, 0)] + input.slot * partial_result_step[max(partial, 0)];
    if (block + 1 < x_blocks || tiles % 2 == 0)
      mma::stmatrix_transposed(four, at);
    else
      mma::stmatrix_transposed({halves[2 * tiles - 2], halves[2 * tiles - 1]}, at);
  }
}

template <typename Tile, Form form>
__global__ __launch_bounds__(Tile::threads, 1) void mma_layers_kernel(
    const __grid_constant__ MmaLayersParameters<Tile> p)
{
  static_assert(!Tile::multiplies_diagonal || form == Form::residual);
  const Shared<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    initialise<Tile>(shared);
  Weights<Tile>(shared.base).fill(p);
  __syncthreads();

  const int service = int(threadIdx.x) - 128 * Tile::consumer_groups;
  if (service < 0)
  {
    pipeline::grow_registers<Tile::consumer_registers>();
    const int warp = __shfl_sync(~0u, int(threadIdx.x) / 32, 0);
    if (warp < Tile::warps)
      Cells<Tile, form>(p, shared, warp).run();
    return;
  }
  pipeline::shrink_registers<Tile::service_registers>();
  if (service == 0)
    produce_own(p, shared);
  if (service == 32)
    produce_halo(p, shared);
  if constexpr (form != Form::apply)
    if (service == 64)
      march::produce_input<&pipeline::load_box_once, Tile>(p, shared);
  if (service == 96)
    store_results(p, shared);
}
} // namespace tensormg::laplace::mma_layers
