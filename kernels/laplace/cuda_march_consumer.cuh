// The consumers of the marching kernel: see cuda_march.cuh.
#pragma once

#include "kernels/laplace/cuda_march_lines.cuh"
#include "kernels/mma/instructions.cuh"

namespace tensormg::laplace::march
{
/// The threads of one type: what they hold and the order of their steps. The faces in z are here, those in
/// x and y in cuda_march_stage.cuh.
template <typename Tile, Form form, int type>
class Consumer
{
  static_assert(form != Form::apply);
  using Number = typename Tile::Number;
  using C = typename Tile::C;
  using Slot = typename Tile::Slot;
  using V = PackOf<Tile>;
  static constexpr int n = Tile::n, width = Tile::width, packs = Tile::packs;
  static constexpr int modes = (n - type + Tile::types - 1) / Tile::types; ///< j of this thread
  static constexpr bool sums_y = type == 0, sums_x = type == Tile::types - 1;
  static constexpr int columns = Tile::columns;
  static constexpr int row = Tile::cells_x; ///< numbers between modes in x in a plane of the tile
  static constexpr int line = row * n;      ///< between modes in y
  static constexpr int tops = Tile::tops;
  /// The planes of a layer one after the other as a loop: where their code would be more than the instruction cache has
  /// room for. Shorter code is faster without (docs/kernels.md).
  static constexpr bool is_loop = form == Form::chebyshev && (n > 6 || sizeof(C) == sizeof(double));

  static constexpr int mode_y(int m) { return type + Tile::types * m; }

  const MarchParameters<Tile> &p;
  const Shared<Tile> &shared;
  const int q;           ///< column of this thread
  const bool in_columns; ///< there is such a column
  const int pack, i, cy; ///< its pack in x, mode in x, row of cells
  const int own_at;      ///< position of its mode j = 0 in a plane
  const int line_x;      ///< the line in x that it sums
  C vx, gx, lambda_x;    ///< weights of mode i

  V sum[n][modes];                  ///< B u so far
  V carry_v[modes], carry_d[modes]; ///< traces at the top of the layer below
  pipeline::RingPosition<Tile::ring> own;
  pipeline::RingPosition<Tile::edge_ring> edge; ///< of the plane to be staged
  int edge_now = 0;                             ///< slot of the plane whose faces are added
  pipeline::RingPosition<Tile::input_ring> input;
  int buffer = 0;               ///< of the exchange, for the plane that is published next
  unsigned exchange_parity = 0; ///< bit b: parity of the phase of buffer b that is waited for next
  Place s;
  Number *dst; ///< first mode j of this column in the first plane of the block
  bool stores; ///< this column is part of the block
  bool at_end; ///< this row of cells lies at an end of the block in y

  /// What stage() found, waiting for publish().
  struct Staged
  {
    V y[4]; ///< VL, DL, VR, DR of the line in y
    V x[4]; ///< the pairs of the line in x: even, odd
  } staged;

public:
  __device__ __forceinline__ Consumer(
      const MarchParameters<Tile> &p_, const Shared<Tile> &shared_, int q_)
    : p(p_)
    , shared(shared_)
    , q(q_)
    , in_columns(q_ < Tile::columns)
    , pack(q_ % packs)
    , i(q_ / packs % n)
    , cy(q_ / (packs * n) % Tile::cells_y) // threads without a column read what others read
    , own_at(cy * n * line + i * row + pack * width)
    , line_x(q_ / packs)
  {
    // p lies in constant memory; an index that differs between lanes is served once per value.
    vx = p.vd[0][i];
    gx = p.gd[0][i];
    lambda_x = p.lambda[0][i];
  }

  __device__ __forceinline__ void run()
  {
    for (int index = 0; place(p, index, s); ++index)
    {
      begin_segment();
      if constexpr (is_loop)
      // One turn more, which only finishes the last layer: so that code is there once.
#pragma unroll 1
        for (int c = s.z0; c <= s.z1; ++c)
        {
          begin_layer(c, c < s.z1);
          if (c < s.z1)
            add_layer(c);
        }
      else
      {
        for (int c = s.z0; c < s.z1; ++c)
        {
          begin_layer(c, true);
          add_layer(c);
        }
        begin_layer(s.z1, false);
      }
      end_segment();
    }
  }

private:
  /// False for the threads that only fill the last warp of a type.
  __device__ __forceinline__ bool active() const { return Tile::columns % 32 == 0 || in_columns; }

  // Ring of the tile's planes: `own` is plane 0 of the current layer.
  __device__ __forceinline__ int own_slot(int k) const
  {
    const int slot = own.slot + k;
    return slot < Tile::ring ? slot : slot - Tile::ring;
  }
  __device__ __forceinline__ void wait_own(int k) const
  {
    const int slot = own.slot + k;
    const bool next = slot >= Tile::ring;
    pipeline::wait(shared.own_full(next ? slot - Tile::ring : slot), own.parity ^ unsigned(next));
  }
  __device__ __forceinline__ void advance_own()
  {
    own.slot += n;
    if (own.slot >= Tile::ring)
    {
      own.slot -= Tile::ring;
      own.parity ^= 1u;
    }
  }
  __device__ __forceinline__ bool leads() const { return type == 0 && q == 0; }
  /// Plane k of this layer (k = -1: the one before) is not needed any more, by no consumer.
  __device__ __forceinline__ void release_own(int k) const
  {
    pipeline::arrive(shared.own_empty(k < 0 && own.slot == 0 ? Tile::ring - 1 : own_slot(k)));
  }
  /// All consumers meet.
  __device__ __forceinline__ void meet()
  {
    pipeline::arrive(shared.exchanged(buffer));
    buffer ^= 1;
    wait_exchanged();
  }

  __device__ __forceinline__ void begin_segment()
  {
    const Block &block = p.block;
    dst = p.dst + (std::int64_t(s.y0 + cy) * n + type) * p.row + i * block.pitch + s.x0 +
        pack * width;
    stores = active() && cy <= s.last_y && s.x0 + pack * width < block.pitch;
    at_end = (s.lower_end && cy == 0) || (s.upper_end && cy == s.last_y);
    if (s.before)
    {
      // The traces at the top of the layer before come from its planes.
      unrolled<0, n>([&](auto k) __attribute__((always_inline)) { wait_own(k); });
      unrolled<0, modes>([&](auto m) __attribute__((always_inline)) {
        const LineSums<Tile> sums = sums_z<m>();
        carry_v[m] = sums.vr();
        carry_d[m] = sums.dr();
      });
      meet();
      if (leads())
        unrolled<0, n>([&](auto k) __attribute__((always_inline)) { release_own(k); });
      advance_own();
    }
    wait_own(0);
    stage(s.z0 * n, own.slot);
    publish();
  }

  template <int m>
  __device__ __forceinline__ LineSums<Tile> sums_z() const
  {
    const Tables<Tile> tables{p, own.slot};
    LineSums<Tile> sums;
    unrolled<0, n>([&](auto k) __attribute__((always_inline)) {
      sums.template add<k>(
          tables, load_pack<width>(shared.own(own_slot(k)) + own_at + mode_y(m) * line));
    });
    return sums;
  }

  /// Finishes layer c - 1, if it is of this segment, and starts layer c if that is.
  __device__ __forceinline__ void begin_layer(int c, bool starts)
  {
    const bool finishes = c > s.z0;
    const bool is_there = starts || s.after;
    if (is_there)
      unrolled<1, n>([&](auto k) __attribute__((always_inline)) { wait_own(k); });
    if (!starts && is_there)
      wait_own(0);
    if (c == 0 && p.sides[4] == Side::ghost)
      unrolled<0, modes>([&](auto m) __attribute__((always_inline)) {
        load_ghost_z(4, mode_y(m), carry_v[m], carry_d[m]);
      });
    // Plane by plane, as b and old arrive; src is read once more instead of being kept.
    V vl[modes], dl[modes], vr[modes], dr[modes];
    unrolled<0, modes>([&](auto m) __attribute__((always_inline)) {
      if (is_there)
      {
        const LineSums<Tile> sums = sums_z<m>();
        vl[m] = sums.vl();
        dl[m] = sums.dl();
        vr[m] = sums.vr();
        dr[m] = sums.dr();
      }
      else
        close_above<m>(vl[m], dl[m]);
      close_below(c, vl[m], dl[m], carry_v[m], carry_d[m]);
    });
    unrolled<0, n>([&](auto k) __attribute__((always_inline)) {
      if (finishes)
        finish_plane<k>(c - 1, vl, dl);
      if (starts)
        unrolled<0, modes>([&](auto m) __attribute__((always_inline)) {
          start<k, m>(load_pack<width>(shared.own(own_slot(k)) + own_at + mode_y(m) * line));
        });
    });
    unrolled<0, modes>([&](auto m) __attribute__((always_inline)) {
      carry_v[m] = vr[m];
      carry_d[m] = dr[m];
    });
  }

  /// At the lower side of the block the traces below layer 0 follow from its own.
  __device__ __forceinline__ void close_below(
      int c, const V &vl, const V &dl, V &below_v, V &below_d) const
  {
    if (c > 0 || p.sides[4] == Side::ghost)
      return;
    const C sign = p.sides[4] == Side::dirichlet ? C(-1) : C(1);
    below_v = sign * vl;
    below_d = -sign * dl;
  }

  template <int k, int m>
  __device__ __forceinline__ void start(const V &u)
  {
    const Tables<Tile> t{p, own.slot};
    C lambda = lambda_x + t.template lambda<1, mode_y(m)>() + t.template lambda<2, k>();
    if constexpr (form == Form::chebyshev)
      lambda *= p.start;
    sum[k][m] = lambda * u;
    constexpr C sign = k % 2 == 0 ? 1 : -1;
    add_product(sum[k][m], sign * t.template vd<2, k>(), carry_d[m]);
    add_product(sum[k][m], sign * t.template gd<2, k>(), carry_v[m]);
  }

  /// Adds the upper face in z.
  template <int k, int m>
  __device__ __forceinline__ void finish(const V &v_above, const V &d_above)
  {
    const Tables<Tile> t{p, own.slot};
    add_product(sum[k][m], -t.template vd<2, k>(), d_above);
    add_product(sum[k][m], t.template gd<2, k>(), v_above);
  }

  /// Finishes plane k of layer c with b and old.
  template <int k>
  __device__ __forceinline__ void finish_plane(
      int c, const V (&v_above)[modes], const V (&d_above)[modes])
  {
    pipeline::wait(shared.input_full(input.slot), input.parity);
    const Tables<Tile> t{p, own.slot};
    if (stores)
      unrolled<0, modes>([&](auto m) __attribute__((always_inline)) {
        finish<k, m>(v_above[m], d_above[m]);
        const int at = own_at + mode_y(m) * line;
        V result = load_pack<width>(shared.input(input.slot, 0) + at) - sum[k][m];
        if constexpr (form == Form::chebyshev)
        {
          const C diagonal =
              lambda_x + t.template lambda<1, mode_y(m)>() + t.template lambda<2, k>();
          result = p.alpha * mma::reciprocal(diagonal) * result;
          if (p.has_old)
            add_product(result, -p.theta, load_pack<width>(shared.input(input.slot, 1) + at));
        }
        store<k, m>(c, result);
      });
    pipeline::arrive_to_overwrite(shared.input_empty(input.slot));
    input.advance();
  }

  template <int k, int m>
  __device__ __forceinline__ void store(int c, const V &value) const
  {
    store_pack<Number>(
        dst + std::int64_t(c) * (n * p.plane) + (k * p.plane + Tile::types * m * p.row), value);
  }

  /// Traces above the last layer at the upper side of the block.
  template <int m>
  __device__ __forceinline__ void close_above(V &v_above, V &d_above) const
  {
    if (p.sides[5] == Side::ghost)
      return load_ghost_z(5, mode_y(m), v_above, d_above);
    const C sign = p.sides[5] == Side::dirichlet ? C(-1) : C(1);
    v_above = sign * carry_v[m];
    d_above = -sign * carry_d[m];
  }

  __device__ __forceinline__ void end_segment()
  {
    meet();
    if (leads())
    {
      release_own(-1); // the last plane of the last layer
      pipeline::arrive(shared.edge_empty(edge_now));
    }
    if (s.after)
    {
      if (leads())
        unrolled<0, n>([&](auto k) __attribute__((always_inline)) { release_own(k); });
      advance_own();
    }
  }

  __device__ __forceinline__ void load_ghost_z(int side, int j, V &value, V &derivative) const
  {
    const Block &block = p.block;
    const std::int64_t at =
        (std::int64_t(s.y0 + cy) * n + j) * block.row() + i * block.pitch + s.x0 + pack * width;
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      const bool there = stores && cy <= s.last_y && pack * width + w <= s.last_x;
      value.at[w] = there ? p.ghost[side][at + w] : C(0);
      derivative.at[w] =
          there ? p.ghost[side][block.rows_per_plane() * block.row() + at + w] : C(0);
    }
  }

  __device__ __forceinline__ void add_layer(int c);
  __device__ __forceinline__ void stage(int plane_index, int slot);
  __device__ __forceinline__ void stage_y(int plane_index, const Number *plane);
  __device__ __forceinline__ void stage_x(const Number *plane);
  __device__ __forceinline__ void close_y(
      int plane_index, bool upper, const V &value, const V &derivative);
  __device__ __forceinline__ void add_faces(int k);
  __device__ __forceinline__ void publish();

  __device__ __forceinline__ void wait_exchanged()
  {
    // The buffer published last; `buffer` is already the other one.
    const int last = buffer ^ 1;
    pipeline::wait(shared.exchanged(last), exchange_parity >> last & 1u);
    exchange_parity ^= 1u << last;
  }
};
} // namespace tensormg::laplace::march
