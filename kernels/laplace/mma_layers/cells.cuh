// The warps that compute in the tensor-core layer kernel: see mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers/fragments.cuh"

namespace tensormg::laplace::mma_layers
{
template <typename Tile, Form form>
class Cells
{
  using Number = typename Tile::Number;
  using W = Weights<Tile>;
  using Trace = Traces<Tile::parts>;
  /// Lines of the cells before (rows 0..7) and after the warp's (rows 8..15), slots are modes of a line.
  using Ends = SmallA[Tile::end_blocks];
  static constexpr int n = Tile::n, modes = Tile::modes, tiles = Tile::tiles;
  using Lines = typename Tile::Lines;
  using Own = typename Tile::Own;
  using Planes = typename Tile::Planes;
  static constexpr int groups = Tile::groups, x_blocks = Tile::x_blocks;
  static constexpr int y_blocks = Tile::own_y_blocks, line_tiles = Tile::line_tiles;
  static constexpr int own_line_tiles = Tile::own_line_tiles;
  static constexpr int y_tiles = W::y_tiles;
  static constexpr unsigned all = ~0u;

  const MmaLayersParameters<Tile> &p;
  const Shared<Tile> &shared;
  const W weights;
  const int lane;
  const int strip;            ///< 16 cells with the warps that share a plane of theirs
  const int cy, cell0, share; ///< row of cells, first cell, which lines
  static constexpr int partial_blocks = Tile::partial_blocks;
  /// Where this lane writes lines of the last blocks of a plane's result, in slot 0, and bytes from there to the next slot: what
  /// is no mode of the warp's goes to a place of its own.
  SharedAddress partial_result[partial_blocks];
  int partial_result_step[partial_blocks];
  const LinesAt<Tile, x_blocks> own_at;
  const int z_face_words; ///< this lane's, Weights
  /// D without the part of k, of this lane's columns.
  float2 diagonal[Tile::multiplies_diagonal ? 1 : tiles];
  Trace below[groups];                     ///< in z, at the top of the layer before
  Trace top[Tile::keeps_top ? groups : 1]; ///< and of this one
  /// Of the traces in z below and above, what modes k of one parity want in their place: values below + above and half
  /// derivatives below - above (k even), values below - above and half derivatives below + above (k odd).
  struct FacesZ
  {
    Trace of[groups];
  } even, odd;
  int first_slot = 0; ///< of the ring of planes: plane 0 of the current layer
  unsigned turn = 0;  ///< number of the current layer, of those that this block has
  pipeline::RingPosition<Tile::halo_ring> halo;
  pipeline::RingPosition<Tile::input_ring> input;
  pipeline::RingPosition<2> mail_in, mail_out;
  Place &s; ///< in shared memory
  /// Modes of the cells before and after the warp's that this lane reads, if plane 0 of the tile or, where before or after is a
  /// cell beside the tile, of the halo began at the base.
  SharedAddress ends_at[2][Tile::end_words];
  bool end_in_halo[2];

  /// Weights of traces in y.
  static constexpr int held_blocks = y_blocks < Lines::weights ? y_blocks : Lines::weights;
  typename W::Held held[2][Tile::holds_weights ? held_blocks : 1];

  /// Those of the other products, but for z.
  typename W::Held held_x_trace[Tile::holds_all ? x_blocks : 1][Tile::pairs];
  typename W::SmallHeld held_x_face[Tile::holds_all ? Tile::pairs : 1][tiles];
  typename W::Held held_y_face[Tile::holds_all && !Own::by_parity ? y_tiles : 1][tiles];
  typename W::SmallHeld held_joined_y_face[Tile::holds_all && Own::by_parity ? tiles : 1];
  typename W::SmallHeld held_ends[Tile::holds_all ? Tile::end_blocks : 1];

  int last_cell; ///< of the warp's, 0..15
  int ends_from; ///< lane that has the trace before or after the warp's cells, of the first lines
  /// Where lanes take traces beside their cells from, exchange_x().
  Choice<Tile::chooses_by_masks> first_row, last_row, low_ends, high_ends;
  /// p.scale for the lane's two cells; 0 beyond the last one: padding is zero in src and stays zero in dst.
  float scale[2];

  /// Where the traces on one side in y come from.
  struct Beside
  {
    SharedAddress at[y_blocks]; ///< lines, if their plane began at the base
    bool in_halo;
    bool left;          ///< which end of those lines
    std::uint32_t flip; ///< bits: behind a closed side
    bool ghost;         ///< they lie in memory instead
  } beside[2];

public:
  __device__ __forceinline__ Cells(
      const MmaLayersParameters<Tile> &p_, const Shared<Tile> &shared_, int warp)
    : p(p_)
    , shared(shared_)
    , weights(shared_.base)
    , lane(threadIdx.x % 32)
    , strip(warp / Tile::split)
    , cy(strip / (Tile::cells_x / 16))
    , cell0(strip % (Tile::cells_x / 16) * 16)
    , share(warp % Tile::split)
    , own_at(shared_.base, cy, share, cell0)
    , z_face_words(weights.z_face_of_lane())
    , s(shared_.place(warp))
  {
#pragma unroll
    for (int at = 0; at < partial_blocks; ++at)
    {
      const int block = x_blocks - partial_blocks + at;
      const SharedAddress line = own_at.of(block);
      const bool is_own = Own::exists(share, 16 * block + lane / 16 * 8 + lane % 8);
      // The place of its own lies in the same banks.
      partial_result[at] = is_own
          ? line + Shared<Tile>::input_at(0, 0)
          : lane_address(shared.base + Tile::spare_offset + warp * Tile::spare_bytes) +
              Tile::in_spare(line);
      partial_result_step[at] = is_own ? Tile::input_bytes : 0;
    }
    if constexpr (Tile::holds_all)
    {
      hold_all();
      if constexpr (Tile::mail_replaces_weights)
      {
        pipeline::arrive(shared.held());
        pipeline::wait(shared.held(), 0);
      }
    }
    if constexpr (!Tile::multiplies_diagonal)
#pragma unroll
      for (int tile = 0; tile < tiles; ++tile)
      {
        const int mode = Own::mode(share, 8 * tile + 2 * (lane % 4));
        const int next = Own::mode(share, 8 * tile + 2 * (lane % 4) + 1);
        diagonal[tile] = {p.lambda[0][mode % n] + p.lambda[1][mode / n],
            p.lambda[0][next % n] + p.lambda[1][next / n]};
      }
  }

  __device__ __forceinline__ void run()
  {
    Place here;
    for (int index = 0; place(p, index, here); ++index)
    {
      __syncwarp();
      s = here;
      __syncwarp();
      if (cy > s.last_y || cell0 > s.last_x)
      {
        pass_by();
        continue;
      }
      begin_segment();
      Plane at;
      begin_layers(at);
#pragma unroll 1
      for (int c = s.z0; c < s.z1; ++c)
      {
        work_on_layer(at, c);
        advance();
      }
      if (s.after)
        release_layer();
    }
  }

private:
  /// A plane whose traces are known: own modes, traces beside this warp's lines.
  struct Plane
  {
    A u[x_blocks];
    Trace x[Tile::pairs], y[2][line_tiles]; ///< y: on its way, if the warps of a strip share it
  };
  /// What becomes traces.
  struct SumsX
  {
    D own[Tile::pairs], ends;
  };
  using SumsY = D[2][own_line_tiles];
  using TracesY = Trace[2][line_tiles];
  using Accumulators = D[tiles];

  __device__ __forceinline__ int own_slot(int k) const
  {
    const int slot = first_slot + k;
    return slot < Tile::ring ? slot : slot - Tile::ring;
  }
  /// All planes of the current layer (ahead = 0) or of the next one have arrived.
  __device__ __forceinline__ void wait_layer(unsigned ahead) const
  {
    pipeline::wait(shared.layer_full(turn + ahead), Shared<Tile>::layer_parity(turn + ahead));
  }
  __device__ __forceinline__ void advance()
  {
    ++turn;
    first_slot += n;
    if (first_slot >= Tile::ring)
      first_slot -= Tile::ring;
  }
  __device__ __forceinline__ void release_layer()
  {
#pragma unroll 1
    for (int k = 0; k < n; ++k)
      pipeline::arrive_to_overwrite(shared.own_empty(own_slot(k)));
    advance();
  }
  /// Plane k of the layer and the cells around it, which the copy engine may overwrite when all that has been read of them is there:
  /// behind a fence, or `behind_sums`, of plane k, with which the arrival waits for nothing else. What has been read of it for z
  /// is in results of the layer before, which have been written by then. In the first layer of a segment there are none: that of all
  /// its planes is behind the fence with which plane 0 is released, before any other one.
  template <bool behind_sums>
  __device__ __forceinline__ void release_plane(int k, const SumsX &x, const SumsY &y)
  {
    if constexpr (!behind_sums || !Tile::releases_behind_sums)
    {
      pipeline::arrive_to_overwrite(shared.own_empty(own_slot(k)));
      release_halo(0);
      return;
    }
    std::uint32_t words = bits_of(x.ends);
#pragma unroll
    for (int pair = 0; pair < Tile::pairs; ++pair)
      words ^= bits_of(x.own[pair]);
#pragma unroll
    for (int side = 0; side < 2; ++side)
#pragma unroll
      for (int lines = 0; lines < own_line_tiles; ++lines)
        words ^= bits_of(y[side][lines]);
    const std::uint32_t zero = pipeline::zero_after(p.zero, words);
    pipeline::arrive_behind(shared.own_empty(own_slot(k)), zero);
    release_halo(zero);
  }
  /// Behind what gave `zero`, or a fence.
  __device__ __forceinline__ void release_halo(std::uint32_t zero)
  {
    pipeline::arrive_behind(shared.halo_empty(halo.slot), zero);
    halo.advance();
  }
  static __device__ __forceinline__ std::uint32_t bits_of(const D &sums)
  {
    return __float_as_uint(sums.registers[0]);
  }
  /// b and old are there, and room for the result.
  __device__ __forceinline__ auto input_barrier() const
  {
    return form == Form::apply ? shared.input_empty(input.slot) : shared.input_full(input.slot);
  }
  __device__ __forceinline__ unsigned input_parity() const
  {
    return form == Form::apply ? input.parity ^ 1u : input.parity;
  }
  __device__ __forceinline__ void wait_input() const
  {
    pipeline::wait(input_barrier(), input_parity());
  }
  __device__ __forceinline__ void hand_over_result()
  {
    pipeline::arrive(shared.result(input.slot));
    input.advance();
  }

  /// Cells outside of the block: takes from the rings what the other warps take.
  __device__ __forceinline__ void pass_by()
  {
    for (int c = s.z0 - s.before; c < s.z1 + s.after; ++c)
    {
      wait_layer(0);
      release_layer();
      for (int k = 0; k < n && c >= s.z0 && c < s.z1; ++k)
      {
        pipeline::wait(shared.halo_full(halo.slot), halo.parity);
        wait_input();
        release_halo(0);
        hand_over_result();
      }
    }
  }

  /// What lies behind a Dirichlet or Neumann side has the own traces there but for one sign each.
  __device__ __forceinline__ std::uint32_t flip(int side) const
  {
    return reflects_odd(p.sides[side]) ? 0x00008000u : 0x80000000u;
  }
  __device__ __forceinline__ void find_ends();

  __device__ __forceinline__ Trace ghost(
      int side, unsigned lines, unsigned line, unsigned i, bool exists) const;
  __device__ __forceinline__ Trace ghost_z(int side, int group) const;
  __device__ __forceinline__ Trace ghost_y(int side, int plane, int lines) const;
  __device__ __forceinline__ Beside beside_y(bool upper) const;
  __device__ __forceinline__ void begin_segment();
  __device__ __forceinline__ SharedAddress lines_z_at(int tile, int pair, int from) const;
  template <bool at_lower, typename Use>
  __device__ __forceinline__ void sum_z(int from, const Use &use) const;
  template <int count>
  __device__ __forceinline__ void close_above(int c, const Trace (&at_top)[count]);
  template <typename Above>
  __device__ __forceinline__ void combine(int group, const Above &above);

  /// Of those whose traces in y this warp forms.
  __device__ __forceinline__ int first_y_block() const
  {
    return Tile::shares_y ? share * y_blocks : 0;
  }
  /// Held, or of shared memory.
  __device__ __forceinline__ auto y_trace(int side, int block) const
  {
    return Tile::holds_weights
        ? held[side][block % held_blocks]
        : weights.hold(W::y_trace(beside[side].left, first_y_block() + block));
  }
  __device__ __forceinline__ auto y_face(int lines, int tile) const
  {
    return Tile::holds_all
        ? held_y_face[Tile::holds_all ? lines : 0][tile]
        : weights.hold_once(W::y_face(0, lines, tile) + share * (y_tiles * tiles));
  }
  /// By parity.
  __device__ __forceinline__ auto joined_y_face(int tile) const
  {
    return Tile::holds_all ? held_joined_y_face[Tile::holds_all ? tile : 0]
                           : weights.hold_y_face(share, tile);
  }
  __device__ __forceinline__ auto x_trace(int block, int pair) const
  {
    return Tile::holds_all ? held_x_trace[Tile::holds_all ? block : 0][pair]
                           : weights.hold_once(W::x_trace(block, pair));
  }
  __device__ __forceinline__ auto x_face(int pair, int tile) const
  {
    return Tile::holds_all ? held_x_face[Tile::holds_all ? pair : 0][tile]
                           : weights.hold_x_face(pair, tile);
  }
  __device__ __forceinline__ auto ends_trace(int block) const
  {
    return Tile::holds_all ? held_ends[Tile::holds_all ? block : 0] : weights.hold_ends(block);
  }
  __device__ __forceinline__ void hold_all();
  /// With the signs of what lies behind a closed side: a lane's column is lane / 4, a value if that is even.
  __device__ __forceinline__ void hold_weights()
  {
#pragma unroll
    for (int side = 0; side < 2; ++side)
    {
      const bool flips = (beside[side].flip & (lane / 4 % 2 == 0 ? 0x00008000u : 0x80000000u)) != 0;
#pragma unroll
      for (int block = 0; block < held_blocks; ++block)
        held[side][block] = weights.hold(W::y_trace(beside[side].left, first_y_block() + block))
                                .flipped(flips ? 0x80008000u : 0u);
    }
  }

  __device__ __forceinline__ A load_row(int side, int block, int k) const
  {
    return load_cells(beside[side].at[block] +
        (beside[side].in_halo ? Shared<Tile>::halo_at(halo.slot)
                              : Shared<Tile>::own_at(own_slot(k))));
  }
  __device__ __forceinline__ void begin_layers(Plane &first);
  __device__ __forceinline__ void work_on_layer(Plane &at, int c);
  __device__ __forceinline__ void work_at_once(int layer, int k, const FacesZ &z);
  template <bool finishes, bool begins>
  __device__ __forceinline__ void work(Plane &at, Plane &next, int layer, int k, const FacesZ &z);
  __device__ __forceinline__ void read(A (&u)[x_blocks], Ends &ends, int k) const;
  __device__ __forceinline__ void multiply_x(
      SumsX &x, const A (&u)[x_blocks], const Ends &ends) const;
  __device__ __forceinline__ void multiply_y(SumsY &y, int k) const;
  __device__ __forceinline__ void exchange_x(Trace (&faces)[Tile::pairs], const SumsX &sums) const;
  __device__ __forceinline__ void hand_over_y(TracesY &faces, const SumsY &sums);
  __device__ __forceinline__ void take_y(TracesY &faces);
  __device__ __forceinline__ void take_ghosts(TracesY &faces, int plane) const;
  template <int blocks_b, int blocks_old>
  __device__ __forceinline__ void read_input(A (&b)[blocks_b], A (&old)[blocks_old]) const;
  __device__ __forceinline__ void add_x(Accumulators &sum, const Trace (&faces)[Tile::pairs]) const;
  __device__ __forceinline__ void add_diagonal(
      Accumulators &sum, const A (&u)[x_blocks], int k) const;
  __device__ __forceinline__ void add_y(
      Accumulators &sum, const Trace (&faces)[2][line_tiles]) const;
  __device__ __forceinline__ void add_z(Accumulators &sum, int k, const FacesZ &faces) const;
  template <int blocks_b, int blocks_old>
  __device__ __forceinline__ void write(const Accumulators &sum, const A (&u)[x_blocks],
      const A (&b)[blocks_b], const A (&old)[blocks_old], int k) const;
};
} // namespace tensormg::laplace::mma_layers
