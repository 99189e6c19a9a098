// The warps that compute in the layer kernel on CUDA cores, and the kernel: see layers.cuh.
#pragma once

#include <type_traits>

#include "kernels/device/copy_async.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/layers/mail.cuh"

namespace tensormg::laplace::layers
{
template <typename Tile>
using WorkOf = std::conditional_t<Tile::by_mail, MailWork<Tile>, PlaneWork<Tile>>;

template <typename Tile, Form form>
class Cells : WorkOf<Tile>
{
  using Work = WorkOf<Tile>;
  using typename Work::C;
  using typename Work::Number;
  using typename Work::Trace;
  using typename Work::V;
  using Work::cell, Work::group, Work::half, Work::p, Work::s, Work::shared, Work::warp;
  using Work::load, Work::behind, Work::ghost;
  using Work::n, Work::modes, Work::width, Work::mode_x;
  static constexpr int strips_per_warp = Tile::strips_per_warp;
  /// old is read when b is there: all of a layer, or, if it is finished in steps, each step's one step before, of which L2 has been
  /// told with b.
  static constexpr bool prefetches_old = form == Form::chebyshev && Tile::steps_out > 1;

  Trace below[strips_per_warp]; ///< in z: of the layer before, at its top
  Trace top[strips_per_warp];   ///< of this layer
  int layer = 0;                ///< number of layer c in the order of copies
  int planes = 0;               ///< of cells around the tile that were copied before layer c
  /// Of the phases of this layer, of halo_full(), mail_full() and mail_empty(): the next own layer has the other one.
  unsigned own_parity = 0;
  unsigned met = 0, in_group = 0; ///< of the phases that are waited for next

public:
  using Work::Work;

  __device__ __forceinline__ void run()
  {
    Place here;
    for (int index = 0; own_place(p, shared.worker(), index, here); ++index)
    {
      __syncwarp();
      s = here;
      __syncwarp();
      begin_segment();
#pragma unroll 1
      for (int c = s.z0; c < s.z1; ++c)
      {
#pragma unroll 1
        for (int k = group; k < n; k += Tile::groups)
          add_x_and_y(c, k);
        pipeline::arrive(shared.met());
        add_z(c);
        ++layer;
        planes += n;
        own_parity ^= 1u;
      }
      if (s.after)
      {
        release(layer);
        ++layer;
      }
    }
  }

private:
  /// Of Chebyshev steps only, which alone have them.
  __device__ __forceinline__ const RowStepParameters<Tile> &step() const
  {
    return static_cast<const RowStepParameters<Tile> &>(p);
  }
  __device__ __forceinline__ void wait_full(int l, int k) const
  {
    pipeline::wait(shared.full(l, k), Shared<Tile>::parity(l));
  }
  __device__ __forceinline__ void wait_full(int l) const
  {
    for (int k = 0; k < n; k += Tile::planes_in)
      wait_full(l, k);
  }
  /// A layer of which nothing is written has been read.
  __device__ __forceinline__ void release(int l) const
  {
    for (int k = 0; k < n; k += Tile::planes_out)
      pipeline::arrive_to_overwrite(shared.done(l, k));
  }

  // Lines in z: strip `t` of this warp is lines 2 (warp + t warps) + half of a plane, each of 16 lanes. A warp without its
  // last strip reads its first one again, in vain, so that nothing branches; another warp's line that one may be writing.
  static constexpr int lines = Tile::rows * modes;
  static_assert(lines / 2 >= Tile::warps);
  static constexpr bool all_have(int t) { return (t + 1) * Tile::warps <= lines / 2; }
  __device__ __forceinline__ int wanted_line(int t) const
  {
    return 2 * (warp + t * Tile::warps) + half;
  }
  __device__ __forceinline__ bool has(int t) const { return all_have(t) || wanted_line(t) < lines; }
  __device__ __forceinline__ int line(int t) const
  {
    return has(t) ? wanted_line(t) : wanted_line(0);
  }
  __device__ __forceinline__ int at_strip(int t) const { return line(t) * mode_x + cell; }

  __device__ __forceinline__ LineSums<V> sums_z(int l, int t) const
  {
    LineSums<V> sums;
#pragma unroll
    for (int k = 0; k < n; ++k)
      sums.add(k, p.v[k], p.h[k], load(shared.own(l, k) + at_strip(t)));
    return sums;
  }
  __device__ __forceinline__ Trace ghost_z(int side, int t) const
  {
    const int cy = line(t) / modes;
    if (cy > s.last_y)
      return {V(C(0)), V(C(0))};
    return ghost(
        side, p.block.rows_per_plane(), (s.y0 + cy) * n + line(t) % modes / n, line(t) % n);
  }

  /// The traces below the first layer and at its top.
  __device__ __forceinline__ void begin_segment()
  {
    wait_full(layer);
    if (s.before)
    {
#pragma unroll
      for (int t = 0; t < strips_per_warp; ++t)
        below[t] = sums_z(layer, t).upper();
      ++layer;
      wait_full(layer);
    }
    const bool from_ghost = p.sides[4] == Side::ghost;
#pragma unroll
    for (int t = 0; t < strips_per_warp; ++t)
    {
      const LineSums<V> sums = sums_z(layer, t);
      top[t] = sums.upper();
      if (!s.before)
        below[t] = from_ghost ? ghost_z(4, t) : behind(4, sums.lower());
    }
    if (s.before)
      release(layer - 1);
    else
    {
      // Nobody writes to the layer before all have read it; otherwise done() of the layer before says so.
      pipeline::arrive(shared.met());
      meet();
    }
  }
  __device__ __forceinline__ void meet()
  {
    pipeline::wait(shared.met(), met);
    met ^= 1u;
  }

  /// Where strip `t` of this warp is in plane 0 of layer c of b or old, of which nothing goes through shared memory.
  __device__ __forceinline__ const Number *place_of(const Number *input, int c, int t) const
  {
    // Where there is nothing, something else, which nobody stores: a selected zero would have to wait for the number.
    const int there = min(line(t), (s.last_y + 1) * modes - 1);
    const int x = min(s.x0 + cell, int(p.block.pitch) - width);
    return input + c * (n * p.plane) + (s.y0 * modes + there) * p.block.pitch + x;
  }
  /// `count` planes of all strips from `first` on.
  template <int count>
  __device__ __forceinline__ void read_once(
      V (&numbers)[strips_per_warp][count], const Number *input, int c, int first) const
  {
#pragma unroll
    for (int t = 0; t < strips_per_warp; ++t)
    {
      const Number *const from = place_of(input, c, t);
#pragma unroll
      for (int m = 0; m < count; ++m)
        if (first + m < n)
          numbers[t][m] = load_pack_once<width>(from + (first + m) * p.plane);
    }
  }
  /// Those that are finished with plane `first`.
  using Old = V[strips_per_warp][Tile::planes_out];
  __device__ __forceinline__ void read_old(Old &old, int c, int first) const
  {
    if (step().old != nullptr)
      read_once(old, step().old, c, first);
    else
#pragma unroll
      for (int t = 0; t < strips_per_warp; ++t)
#pragma unroll
        for (int m = 0; m < Tile::planes_out; ++m)
          old[t][m] = V(C(0));
  }
  __device__ __forceinline__ void prefetch_old(int c) const
  {
    if (step().old == nullptr)
      return;
#pragma unroll
    for (int t = 0; t < strips_per_warp; ++t)
    {
      const Number *const from = place_of(step().old, c, t);
#pragma unroll
      for (int k = 0; k < n; ++k)
        prefetch_to_l2(from + k * p.plane);
    }
  }

  /// Adds the faces in z to the sums of the other directions in layer c: the layer is done.
  __device__ __forceinline__ void add_z(int c)
  {
    V b[strips_per_warp][n];
    if constexpr (form != Form::apply)
      read_once(b, p.input, c, 0); // asked for before anybody waits
    if constexpr (prefetches_old)
      prefetch_old(c);
    Trace above[strips_per_warp], next_top[strips_per_warp];
    if (c + 1 < s.z1 || s.after)
      sum_above(above, next_top);
    else
#pragma unroll
      for (int t = 0; t < strips_per_warp; ++t)
        above[t] = p.sides[5] == Side::ghost ? ghost_z(5, t) : behind(5, top[t]);
    Old old, next_old;
    if constexpr (form == Form::chebyshev)
      read_old(old, c, 0);
    meet();
    Faces<V> faces[strips_per_warp];
#pragma unroll
    for (int t = 0; t < strips_per_warp; ++t)
    {
      faces[t] = Faces<V>(below[t], above[t]);
      below[t] = top[t];
      top[t] = next_top[t];
    }
#pragma unroll
    for (int first = 0; first < n; first += Tile::planes_out)
    {
      const int next = first + Tile::planes_out;
      if constexpr (form == Form::chebyshev)
        if (next < n)
          read_old(next_old, c, next);
      finish_planes(first, faces, b, old);
      if constexpr (form == Form::chebyshev)
#pragma unroll
        for (int t = 0; t < strips_per_warp; ++t)
#pragma unroll
          for (int m = 0; m < Tile::planes_out; ++m)
            old[t][m] = next_old[t][m];
    }
  }

  /// Traces of the layer above at its bottom and its top, plane by plane as it comes.
  __device__ __forceinline__ void sum_above(
      Trace (&above)[strips_per_warp], Trace (&next_top)[strips_per_warp]) const
  {
    LineSums<V> sums[strips_per_warp];
#pragma unroll
    for (int k = 0; k < n; ++k)
    {
      if (k % Tile::planes_in == 0)
        wait_full(layer + 1, k);
#pragma unroll
      for (int t = 0; t < strips_per_warp; ++t)
        sums[t].add(k, p.v[k], p.h[k], load(shared.own(layer + 1, k) + at_strip(t)));
    }
#pragma unroll
    for (int t = 0; t < strips_per_warp; ++t)
    {
      above[t] = sums[t].lower();
      next_top[t] = sums[t].upper();
    }
  }

  /// Faces in z, b and old of the planes that are written with plane `first`.
  __device__ __forceinline__ void finish_planes(int first, const Faces<V> (&faces)[strips_per_warp],
      const V (&b)[strips_per_warp][n], const Old &old) const
  {
    V sum[Tile::planes_out][strips_per_warp];
#pragma unroll
    for (int m = 0; m < Tile::planes_out; ++m)
#pragma unroll
      for (int t = 0; t < strips_per_warp; ++t)
        if (first + m < n)
          sum[m][t] = load(shared.sum(layer, first + m) + at_strip(t));
#pragma unroll
    for (int m = 0; m < Tile::planes_out; ++m)
#pragma unroll
      for (int t = 0; t < strips_per_warp; ++t)
        if (first + m < n)
        {
          const int k = first + m;
          if constexpr (form != Form::apply)
            sum[m][t] = b[t][k] + sum[m][t];
          add_product(sum[m][t], p.vd[2][k], faces[t].v[k % 2]);
          add_product(sum[m][t], p.gd[2][k], faces[t].g[k % 2]);
          if constexpr (form == Form::chebyshev)
          {
            sum[m][t] = step().factor[k][line(t) % modes] * sum[m][t];
            add_product(sum[m][t], -step().theta, old[t][m]);
          }
          if (has(t))
            write_rounded(shared.own(layer, k) + at_strip(t), sum[m][t]);
        }
    pipeline::arrive_to_overwrite(shared.done(layer, first));
  }

  /// Faces in x and y and the diagonal, of plane k of layer c.
  __device__ __forceinline__ void add_x_and_y(int c, int k)
  {
    const typename Work::Plane plane{
        shared.own(layer, k), shared.sum(layer, k), (planes + k) % Tile::halo_ring, c * n + k};
    typename Work::FacesY faces_y[n];
    if constexpr (Tile::by_mail)
      this->exchange_y(faces_y, plane, k, own_parity);
    else
    {
      pipeline::wait(shared.halo_full(k), own_parity);
      this->sum_y(faces_y, plane);
      this->sum_edges(plane);
      pipeline::arrive_to_overwrite(shared.halo_empty(plane.slot));
      if constexpr (Tile::in_place)
        pipeline::arrive(shared.group(group));
    }
    // Who has finished its first planes of the layer before has read all of this one for z. Sums that have their own place
    // take that of the same plane there.
    if (c > s.z0 || s.before)
      pipeline::wait(
          shared.done(layer - 1, Tile::in_place ? 0 : k), Shared<Tile>::parity(layer - 1));
    // Those who work on rows beside each other in a plane read it before they write to it.
    if constexpr (!Tile::by_mail && Tile::in_place)
    {
      pipeline::wait(shared.group(group), in_group);
      in_group ^= 1u;
    }
    this->write_rows(faces_y, plane, p.lambda[2][k]);
    if constexpr (Tile::by_mail)
      this->has_read_mail(k); // not before: write_rows() has used all of it
  }
};

template <typename Tile, Form form>
__global__ void __cluster_dims__(Tile::cluster, 1, 1) __launch_bounds__(Tile::threads, 1)
    layers_kernel(const __grid_constant__ RowParametersOf<Tile, form> p)
{
  const Shared<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    initialise<Tile>(shared);
  march::take_number<Tile>(p, shared.worker());
  cluster::synchronize<Tile::cluster>();
  march::share_number<Tile>(shared.worker());

  const int service = int(threadIdx.x) - Tile::first_service;
  if (service < 0)
  {
    if constexpr (Tile::moves_registers)
      pipeline::grow_registers<Tile::consumer_registers>();
    const int warp = __shfl_sync(~0u, int(threadIdx.x) / 32, 0);
    if (warp < Tile::warps)
      Cells<Tile, form>(p, shared, warp).run();
  }
  else
  {
    if constexpr (Tile::moves_registers)
      pipeline::shrink_registers<Tile::service_registers>();
    if constexpr (Tile::writes_apart)
    {
      if (service == 0)
        read_layers(p, shared);
      if (service == 64)
        write_layers(p, shared);
    }
    else if (service == 0)
      copy_layers(p, shared);
    if (service == 32)
      copy_halo(p, shared);
  }
  // The block beside may still say that it has read mail, for which nobody waits any more.
  if constexpr (Tile::cluster > 1)
    cluster::synchronize<Tile::cluster>();
}
} // namespace tensormg::laplace::layers
