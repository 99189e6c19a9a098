// The warps that compute in the kernel that works on a layer in rounds, and the kernel: see rounds.cuh.
#pragma once

#include <cstring>

#include "kernels/device/copy_async.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/rounds/edges.cuh"
#include "kernels/laplace/rounds/faces.cuh"

namespace tensormg::laplace::rounds
{
template <typename Tile, Form form>
class Cells : RoundWork<Tile>
{
  using Work = RoundWork<Tile>;
  using typename Work::C;
  using typename Work::Number;
  using typename Work::Sums;
  using typename Work::Trace;
  using typename Work::V;
  using Work::cell, Work::p, Work::s, Work::shared, Work::own_index, Work::index;
  using Work::load, Work::behind, Work::ghost, Work::unit, Work::own_slot, Work::wait_own;
  using Work::n, Work::modes, Work::width, Work::mode_x;
  static constexpr int strips = Tile::strips;
  static constexpr int next_plane = Tile::plane_bytes / int(sizeof(Number));

  /// Both faces in z are added when a layer is done: with b of the residual registers are few, and old takes their place later; traces
  /// below wait in fewer than what they give. Otherwise (B u of FP64) those below are there before its sums, and each number begins
  /// where the one before it has been written, so that writes do not come all at once.
  static constexpr bool faces_at_once = form != Form::apply || sizeof(C) < 8;

  V held[strips][n]; ///< sums of lines in z, but for the faces above, or for both
  Trace top[strips]; ///< of the layer worked on
  Trace below[faces_at_once ? strips : 1];
  unsigned layers = 0; ///< that have been worked on

public:
  using Work::Work;

  __device__ __forceinline__ void run()
  {
    Place here;
    for (int segment = 0; own_place(p, shared.worker(), segment, here); ++segment)
    {
      __syncwarp();
      s = here;
      __syncwarp();
#pragma unroll 1
      for (int c = s.z0 - s.before; c <= s.z1; ++c)
        work_on(c);
    }
  }

private:
  /// Of Chebyshev steps only, which alone have them.
  __device__ __forceinline__ const RowStepParameters<Tile> &step() const
  {
    return static_cast<const RowStepParameters<Tile> &>(p);
  }
  /// Layer c, or what lies behind the last one.
  __device__ __forceinline__ void work_on(int c)
  {
    const bool is_own = c >= s.z0 && c < s.z1;
    if (is_own && c == s.z0)
    {
      wait_own(own_index);
      begin_rounds(c);
    }
    Trace lower[strips], upper[strips];
    if (c < s.z1 || s.after)
    {
      sum_z(lower, upper);
      if (is_own)
        pipeline::arrive_to_overwrite(shared.summed_z());
      else
        release_layer();
    }
    else
#pragma unroll
      for (int t = 0; t < strips; ++t)
        lower[t] = p.sides[5] == Side::ghost ? ghost_z(5, t) : behind(5, top[t]);
    finish_and_begin(c, lower, upper);
    if (is_own)
    {
      pipeline::wait(shared.summed_z(), layers++ % 2);
      add_round<0>(c);
    }
  }

  // Lines in z: strip `t` of half a warp is line unit() + t units of a plane. Without its last strip it takes its first one again,
  // in vain.
  static constexpr bool all_have(int t) { return (t + 1) * Tile::units <= modes; }
  __device__ __forceinline__ bool has(int t) const
  {
    return all_have(t) || unit() + t * Tile::units < modes;
  }
  __device__ __forceinline__ int line(int t) const
  {
    return has(t) ? unit() + t * Tile::units : unit();
  }

  /// Traces of a layer at its bottom and its top, as it comes.
  __device__ __forceinline__ void sum_z(Trace (&lower)[strips], Trace (&upper)[strips]) const
  {
    Sums of[strips];
#pragma unroll
    for (int round = 0; round < Tile::rounds; ++round)
    {
      wait_own(own_index + round);
      const Number *const from = shared.own(own_slot(own_index + round), 0) + cell;
#pragma unroll
      for (int m = 0; m < Tile::planes; ++m)
#pragma unroll
        for (int t = 0; t < strips; ++t)
        {
          const int k = round * Tile::planes + m;
          of[t].add(k, p.v[k], p.h[k], load(from + line(t) * mode_x + m * next_plane));
        }
    }
#pragma unroll
    for (int t = 0; t < strips; ++t)
    {
      lower[t] = of[t].lower();
      upper[t] = of[t].upper();
    }
  }
  /// A layer of which nothing is written has been read.
  __device__ __forceinline__ void release_layer()
  {
#pragma unroll 1
    for (int round = 0; round < Tile::rounds; ++round, ++own_index)
      pipeline::arrive_to_overwrite(shared.own_empty(own_slot(own_index)));
  }
  __device__ __forceinline__ Trace ghost_z(int side, int t) const
  {
    if (s.last_y < 0)
      return {V(C(0)), V(C(0))};
    return ghost(side, p.block.rows_per_plane(), s.y0 * n + line(t) / n, line(t) % n);
  }

  /// With its faces above layer c - 1 is done, and written; layer c begins with its faces below. Where there is no such layer it works
  /// in vain.
  __device__ __forceinline__ void finish_and_begin(
      int c, const Trace (&lower)[strips], const Trace (&upper)[strips])
  {
    const int x = s.x0 + cell;
    const bool writes = c > s.z0 && x < int(p.block.pitch) && s.last_y >= 0;
    const bool first = c == s.z0 && !s.before;
    Number *const results = p.dst + (c - 1) * (n * p.plane) + s.y0 * modes * p.block.pitch + x;
    if constexpr (!faces_at_once)
#pragma unroll
      for (int t = 0; t < strips; ++t)
      {
        Trace next_below = top[t];
        if (first)
          next_below = below_first(lower[t], t);
        top[t] = upper[t];
        Number *to = results + line(t) * p.block.pitch;
        const bool writes_line = writes && has(t);
#pragma unroll
        for (int k = 0; k < n; ++k, to += p.plane)
        {
          V result = held[t][k];
          finish(result, k, lower[t], t);
          if (writes_line)
            store_once(to, result);
          begin(held[t][k], k, next_below);
        }
      }
    else
    {
#pragma unroll
      for (int t = 0; t < strips; ++t)
      {
#pragma unroll
        for (int k = 0; k < n; ++k)
          finish(held[t][k], k, lower[t], t);
        if (writes && has(t))
          write_strip(results + line(t) * p.block.pitch, t);
      }
      Trace next_below[strips];
      if (first)
#pragma unroll
        for (int t = 0; t < strips; ++t)
          next_below[t] = below_first(lower[t], t);
      else
#pragma unroll
        for (int t = 0; t < strips; ++t)
          next_below[t] = top[t];
#pragma unroll
      for (int t = 0; t < strips; ++t)
      {
        top[t] = upper[t];
        below[t] = next_below[t];
      }
    }
  }
  /// Plane k of layer c - 1, with what is above.
  __device__ __forceinline__ void finish(V &sum, int k, const Trace &above, int t) const
  {
    if constexpr (faces_at_once)
    {
      const march::Faces<V> faces(below[t], above);
      add_product(sum, p.vd[2][k], faces.v[k % 2]);
      add_product(sum, p.gd[2][k], faces.g[k % 2]);
      if constexpr (form == Form::chebyshev)
        sum = step().factor[k][line(t)] * sum;
    }
    else
    {
      add_product(sum, p.vd[2][k], -above.d);
      add_product(sum, p.gd[2][k], above.v);
    }
  }
  /// Plane k of layer c, with what is below.
  __device__ __forceinline__ void begin(V &sum, int k, const Trace &traces) const
  {
    sum = p.gd[2][k] * (k % 2 == 0 ? traces.v : -traces.v);
    add_product(sum, p.vd[2][k], k % 2 == 0 ? traces.d : -traces.d);
  }
  /// Below the first layer of the block.
  __device__ __forceinline__ Trace below_first(const Trace &lower, int t) const
  {
    return p.sides[4] == Side::ghost ? ghost_z(4, t) : behind(4, lower);
  }
  __device__ __forceinline__ void write_strip(Number *to, int t) const
  {
#pragma unroll
    for (int k = 0; k < n; ++k, to += p.plane)
      store_once(to, held[t][k]);
  }
  static __device__ __forceinline__ void store_once(Number *to, const V &value)
  {
    using Word = typename WordOf<8>::type;
    Word word;
    memcpy(&word, &value, 8);
    __stcs(reinterpret_cast<Word *>(to), word);
  }

  /// Faces in y of the first round of layer c, of which the first planes are there.
  __device__ __forceinline__ void begin_rounds(int c)
  {
    this->send();
    this->sum_around();
    this->template combine_y<0>(c);
  }

  /// The sums of x and y of a round, into registers.
  template <int round>
  __device__ __forceinline__ void add_round(int c)
  {
    constexpr bool more = round + 1 < Tile::rounds;
    pipeline::wait(shared.faces(), index % 2);
    this->template write_sums<round>();
    pipeline::arrive(shared.sums());
    ++own_index;
    ++index;
    const bool next_layer = !more && c + 1 < s.z1;
    if (more || next_layer)
    {
      if constexpr (!more)
        wait_own(own_index);
      this->send();
      this->sum_around();
    }
    const bool has_old = form == Form::chebyshev && step().old != nullptr;
    Numbers b, old;
    if constexpr (form != Form::apply)
      read_once<round>(b, p.input, c);
    if (has_old)
      prefetch<round>(step().old, c);
    pipeline::wait(shared.sums(), (index - 1) % 2);
    const int here = own_slot(own_index - 1);
    if constexpr (more)
      this->template combine_y<round + 1>(c);
#pragma unroll
    for (int t = 0; t < strips; ++t)
#pragma unroll
      for (int m = 0; m < Tile::planes; ++m)
      {
        V &to = held[t][round * Tile::planes + m];
        const V sum = load(shared.own(here, m) + line(t) * mode_x + cell);
        if constexpr (form != Form::apply)
          to = b[m][t] + sum;
        else if constexpr (faces_at_once)
          to = sum;
        else
          to = to + sum;
      }
    pipeline::arrive_to_overwrite(shared.own_empty(here));
    if (has_old) // not before b has been added: there are no registers for both
      read_once<round>(old, step().old, c);
    if (next_layer)
      this->template combine_y<0>(c + 1);
    if (has_old)
      add_old<round>(old);
    if constexpr (more)
      add_round<round + 1>(c);
  }

  /// Of b or old in a round, neither of which passes shared memory.
  using Numbers = V[Tile::planes][strips];
  template <int round>
  __device__ __forceinline__ const Number *place_of(const Number *input, int c, int t) const
  {
    // Where there is nothing, something else, which nobody stores: a selected zero would have to wait for the number.
    const int y = s.last_y < 0 ? s.y0 - 1 : s.y0;
    const int x = min(s.x0 + cell, int(p.block.pitch) - width);
    return input + (c * n + round * Tile::planes) * p.plane +
        (y * modes + line(t)) * p.block.pitch + x;
  }
  template <int round>
  __device__ __forceinline__ void read_once(Numbers &numbers, const Number *input, int c) const
  {
#pragma unroll
    for (int t = 0; t < strips; ++t)
    {
      const Number *const from = place_of<round>(input, c, t);
#pragma unroll
      for (int m = 0; m < Tile::planes; ++m)
        numbers[m][t] = load_pack_once<width>(from + m * p.plane);
    }
  }
  template <int round>
  __device__ __forceinline__ void prefetch(const Number *input, int c) const
  {
#pragma unroll
    for (int t = 0; t < strips; ++t)
    {
      const Number *const from = place_of<round>(input, c, t);
#pragma unroll
      for (int m = 0; m < Tile::planes; ++m)
        prefetch_to_l2(from + m * p.plane);
    }
  }
  /// Such that what the sums are multiplied by in the end gives -theta old.
  template <int round>
  __device__ __forceinline__ void add_old(const Numbers &old)
  {
#pragma unroll
    for (int t = 0; t < strips; ++t)
#pragma unroll
      for (int m = 0; m < Tile::planes; ++m)
      {
        constexpr int first = round * Tile::planes;
        add_product(held[t][first + m], step().of_old[first + m][line(t)], old[m][t]);
      }
  }
};

template <typename Tile, Form form>
__global__ void __cluster_dims__(Tile::cluster, 1, 1) __launch_bounds__(Tile::threads, 1)
    rounds_kernel(const __grid_constant__ RowParametersOf<Tile, form> p)
{
  const Shared<Tile> shared{dynamic_shared()};
  if (threadIdx.x == 0)
    initialise<Tile>(shared);
  march::take_number<Tile>(p, shared.worker());
  cluster::synchronize<Tile::cluster>();
  march::share_number<Tile>(shared.worker());

  const int warp = __shfl_sync(~0u, int(threadIdx.x) / 32, 0);
  if (warp < Tile::warps)
    Cells<Tile, form>(p, shared, warp).run();
  else if (warp == Tile::warps)
    Edges<Tile>(p, shared).run();
  else if (threadIdx.x == 32 * (Tile::warps + 1))
    Copier<Tile>(p, shared).run();
  cluster::synchronize<Tile::cluster>(); // the other block may still send letters
}
} // namespace tensormg::laplace::rounds
