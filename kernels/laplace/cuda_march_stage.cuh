// Faces in x and y of one plane, and the kernel of the marching design: see cuda_march.cuh.
#pragma once

#include "kernels/core/shared_memory.cuh"
#include "kernels/laplace/cuda_march_consumer.cuh"

namespace tensormg::laplace::march
{
/// Numbers of a pack in the exchange buffers: one access.
template <typename Tile>
__device__ __forceinline__ PackOf<Tile> read(const typename Tile::Slot *from)
{
  return load_pack<Tile::width>(from->number);
}

/// Sums the lines of a plane that has arrived in `slot`.
template <typename Tile, Form form, int type>
__device__ __forceinline__ void Consumer<Tile, form, type>::stage(int plane_index, int slot)
{
  pipeline::wait(shared.edge_full(edge.slot), edge.parity);
  const Number *plane = shared.own(slot);
  if constexpr (sums_y)
    stage_y(plane_index, plane);
  if constexpr (sums_x)
    stage_x(plane);
}

template <typename Tile, Form form, int type>
__device__ __forceinline__ void Consumer<Tile, form, type>::stage_y(
    int plane_index, const Number *plane)
{
  const Tables<Tile> tables{p, edge.slot};
  LineSums<Tile> sums;
  unrolled<0, n>([&](auto j) __attribute__((always_inline)) {
    sums.template add<j>(tables, load_pack<width>(plane + own_at + j * line));
  });
  staged.y[0] = sums.vl();
  staged.y[1] = sums.dl();
  staged.y[2] = sums.vr();
  staged.y[3] = sums.dr();
  // At the ends of the block the traces outside take the place of those that the service warps found.
  if (at_end) // of the block, in y
  {
    if (s.lower_end && cy == 0)
      close_y(plane_index, false, staged.y[0], staged.y[1]);
    if (s.upper_end && cy == s.last_y)
      close_y(plane_index, true, staged.y[2], staged.y[3]);
  }
}

template <typename Tile, Form form, int type>
__device__ __forceinline__ void Consumer<Tile, form, type>::close_y(
    int plane_index, bool upper, const V &value, const V &derivative)
{
  const Side side = p.sides[upper ? 3 : 2];
  Slot *to = shared.edge_y(edge.slot, upper ? 2 : 0) + i * packs + pack;
  if (side == Side::ghost)
  {
    const Block &block = p.block;
    const C *ghost = p.ghost[upper ? 3 : 2] + std::int64_t(plane_index) * block.row() +
        i * block.pitch + s.x0 + pack * width;
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      const bool there = pack * width + w <= s.last_x;
      to[0].number[w] = there ? ghost[w] : C(0);
      to[tops].number[w] = there ? ghost[block.planes() * block.row() + w] : C(0);
    }
    return;
  }
  const C sign = side == Side::dirichlet ? C(-1) : C(1);
  write_pack(to[0].number, sign * value);
  write_pack(to[tops].number, -sign * derivative);
}

template <typename Tile, Form form, int type>
__device__ __forceinline__ void Consumer<Tile, form, type>::stage_x(const Number *plane)
{
  const int at_line = active() ? q / packs : q / packs - Tile::lines;
  const Tables<Tile> tables{p, edge.slot};
  LineSums<Tile> sums;
  unrolled<0, n>([&](auto a) __attribute__((always_inline)) {
    sums.template add<a>(tables, load_pack<width>(plane + at_line * line + a * row + pack * width));
  });
  const V vl = sums.vl(), dl = sums.dl(), vr = sums.vr(), dr = sums.dr();
  C left_v = shared.edge_x(edge.slot, 0)[at_line], left_d = shared.edge_x(edge.slot, 1)[at_line];
  C right_v = shared.edge_x(edge.slot, 2)[at_line], right_d = shared.edge_x(edge.slot, 3)[at_line];
  const int first = pack * width;
  if (s.left_closed)
  {
    const C sign = p.sides[0] == Side::dirichlet ? C(-1) : C(1);
    left_v = sign * vl.at[0];
    left_d = -sign * dl.at[0];
  }
  if (s.right_closed)
  {
    const C sign = p.sides[1] == Side::dirichlet ? C(-1) : C(1);
#pragma unroll
    for (int w = 0; w < width; ++w)
      if (first + w == s.last_x)
      {
        right_v = sign * vr.at[w];
        right_d = -sign * dr.at[w];
      }
  }
  // A padding cell must see no traces: it is zero in src and stays zero in dst.
  C lower_v = __shfl_up_sync(~0u, vr.at[width - 1], 1, packs);
  C lower_d = __shfl_up_sync(~0u, dr.at[width - 1], 1, packs);
  const C upper_v = __shfl_down_sync(~0u, vl.at[0], 1, packs);
  const C upper_d = __shfl_down_sync(~0u, dl.at[0], 1, packs);
  lower_v = first == 0 ? left_v : first == s.last_x + 1 ? C(0) : lower_v;
  lower_d = first == 0 ? left_d : first == s.last_x + 1 ? C(0) : lower_d;
#pragma unroll
  for (int w = 0; w < width; ++w)
  {
    const bool last = first + w == s.last_x, after = first + w == s.last_x + 1;
    const C vm = w == 0 ? lower_v : after ? C(0) : vr.at[w == 0 ? 0 : w - 1];
    const C dm = w == 0 ? lower_d : after ? C(0) : dr.at[w == 0 ? 0 : w - 1];
    // (A shuffle beyond the last pack gives this lane's own number, the first of its pack.)
    const C inner_v = w < width - 1 ? vl.at[w < width - 1 ? w + 1 : w] : after ? C(0) : upper_v;
    const C inner_d = w < width - 1 ? dl.at[w < width - 1 ? w + 1 : w] : after ? C(0) : upper_d;
    const C vp = last ? right_v : inner_v, dp = last ? right_d : inner_d;
    staged.x[0].at[w] = dm - dp;
    staged.x[1].at[w] = vp + vm;
    staged.x[2].at[w] = -dm - dp;
    staged.x[3].at[w] = vp - vm;
  }
}

/// Hands the staged sums to the other threads; the buffer is free since the barrier before last.
template <typename Tile, Form form, int type>
__device__ __forceinline__ void Consumer<Tile, form, type>::publish()
{
  if (active())
  {
    if constexpr (sums_y)
    {
      Slot *above = shared.above(buffer) + q - tops, *below = shared.below(buffer) + q + tops;
      write_pack(above[0].number, staged.y[0]);
      write_pack(above[Tile::columns_y].number, staged.y[1]);
      write_pack(below[0].number, staged.y[2]);
      write_pack(below[Tile::columns_y].number, staged.y[3]);
    }
    if constexpr (sums_x)
    {
      Slot *lines = shared.lines(buffer) + q;
#pragma unroll
      for (int part = 0; part < 4; ++part)
        write_pack(lines[part * columns].number, staged.x[part]);
    }
  }
  pipeline::arrive(shared.exchanged(buffer));
  buffer ^= 1;
  edge_now = edge.slot;
  edge.advance();
}

/// Adds the faces in x and y of plane k of the layer.
template <typename Tile, Form form, int type>
__device__ __forceinline__ void Consumer<Tile, form, type>::add_faces(int k)
{
  const int last = buffer ^ 1;
  const bool lowest = cy == 0, highest = cy == s.last_y;
  const int top = i * packs + pack;
  const Slot *below = (lowest ? shared.edge_y(edge_now, 0) : shared.below(last) + cy * tops) + top;
  const Slot *above = (highest ? shared.edge_y(edge_now, 2) : shared.above(last) + cy * tops) + top;
  const V below_v = read<Tile>(below),
          below_d = read<Tile>(below + (lowest ? tops : Tile::columns_y));
  const V above_v = read<Tile>(above),
          above_d = read<Tile>(above + (highest ? tops : Tile::columns_y));
  V ya[2], yb[2]; // for even and odd modes
#pragma unroll
  for (int w = 0; w < width; ++w)
  {
    ya[0].at[w] = below_d.at[w] - above_d.at[w];
    yb[0].at[w] = above_v.at[w] + below_v.at[w];
    ya[1].at[w] = -below_d.at[w] - above_d.at[w];
    yb[1].at[w] = above_v.at[w] - below_v.at[w];
  }
  const Slot *lines = shared.lines(last) + i % 2 * 2 * columns + cy * n * packs + pack;
  const Tables<Tile> t{p, edge_now};
  // Registers have no index: a branch for each plane.
  unrolled<0, n>([&](auto plane) __attribute__((always_inline)) {
    if (k == plane)
      unrolled<0, modes>([&](auto m) __attribute__((always_inline)) {
        constexpr int j = mode_y(m);
        const V xa = read<Tile>(lines + j * packs), xb = read<Tile>(lines + columns + j * packs);
        add_product(sum[plane][m], t.template vd<1, j>(), ya[j % 2]);
        add_product(sum[plane][m], t.template gd<1, j>(), yb[j % 2]);
        add_product(sum[plane][m], vx, xa);
        add_product(sum[plane][m], gx, xb);
      });
  });
}

/// Faces in x and y of the planes of layer c.
template <typename Tile, Form form, int type>
__device__ __forceinline__ void Consumer<Tile, form, type>::add_layer(int c)
{
  const auto add_plane = [&](auto k) __attribute__((always_inline))
  {
    const bool more = k + 1 < n || c + 1 < s.z1;
    if (more)
    {
      if (k + 1 == n)
        wait_own(n);
      stage(c * n + k + 1, own_slot(k + 1));
    }
    wait_exchanged();
    // Everyone has staged plane k and is past plane k - 1; with k > 0 everyone has begun the layer.
    if (leads() && (k > 0 || c > s.z0))
    {
      release_own(k - 1);
      pipeline::arrive(shared.edge_empty(edge_now == 0 ? Tile::edge_ring - 1 : edge_now - 1));
    }
    add_faces(k);
    if (more)
      publish();
  };
  if constexpr (is_loop)
#pragma unroll 1
    for (int k = 0; k < n; ++k)
      add_plane(k);
  else
    unrolled<0, n>(add_plane);
  advance_own();
}

template <typename Tile, Form form, int type>
__device__ __forceinline__ void consume(const MarchParameters<Tile> &p, const Shared<Tile> &shared)
{
  const int warp = threadIdx.x / 32;
  if (warp >= (type + 1) * Tile::column_warps)
  {
    if constexpr (type + 1 < Tile::types)
      consume<Tile, form, type + 1>(p, shared);
    return; // warps that only fill a group
  }
  Consumer<Tile, form, type>(p, shared, threadIdx.x - type * Tile::column_warps * 32).run();
}

template <typename Tile>
__device__ void initialise(const Shared<Tile> &shared)
{
  for (int slot = 0; slot < Tile::ring; ++slot)
  {
    pipeline::init(shared.own_full(slot), 1);
    pipeline::init(shared.own_empty(slot), 1);
  }
  for (int slot = 0; slot < Tile::halo_ring; ++slot)
  {
    pipeline::init(shared.halo_full(slot), 1);
    pipeline::init(shared.halo_empty(slot), pipeline::warp_arrivals);
  }
  for (int slot = 0; slot < Tile::edge_ring; ++slot)
  {
    pipeline::init(shared.edge_full(slot), pipeline::warp_arrivals);
    pipeline::init(shared.edge_empty(slot), 1);
  }
  for (int slot = 0; slot < Tile::input_ring; ++slot)
  {
    pipeline::init(shared.input_full(slot), 1);
    pipeline::init(shared.input_empty(slot), pipeline::warp_arrivals * Tile::consumer_warps);
  }
  for (int buffer = 0; buffer < 2; ++buffer)
    pipeline::init(shared.exchanged(buffer), pipeline::warp_arrivals * Tile::consumer_warps);
  pipeline::fence_init();
}

template <typename Tile, Form form>
__global__ __launch_bounds__(Tile::threads, 1) void march_kernel(
    const __grid_constant__ MarchParameters<Tile> p)
{
  const Shared<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    initialise<Tile>(shared);
  __syncthreads();

  const int service = int(threadIdx.x) - 128 * Tile::consumer_groups;
  if (service < 0)
  {
    pipeline::grow_registers<Tile::consumer_registers>();
    consume<Tile, form, 0>(p, shared);
    return;
  }
  pipeline::shrink_registers<Tile::service_registers>();
  if (service >= 96)
    sum_edges<Tile, 1>(p, shared, 3 - service / 32);
  else if (service == 0)
    produce_own(p, shared);
  else if (service == 32)
    produce_halo(p, shared);
  else if (service == 64)
    produce_input(p, shared);
}
} // namespace tensormg::laplace::march
