// The constant multiplicands of the tensor-core layer kernel: see mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers/mma_layers.cuh"
#include "kernels/laplace/mma_weights.cuh"

namespace tensormg::laplace::mma_layers
{
using namespace mma_weights;

/// Rows (slots) and columns of the weights:
///   ends     slot: mode of a line (EndSlots) of the cell before or after a warp's; column c: value or half derivative (c % 2) at its
///            right end (c < 2) or left one (c < 4), or of the warp's own cell, as they are behind a closed side: at its left
///            end (c < 6) or right one
///   x_trace  slot: of a block of 16 (OwnModes); column c: of line c % 4 / 2 of a pair, at the right end
///            (c < 4) or the left one, value or half derivative (c % 2)
///   x_face   slot s: trace below (s < 4) or above line s % 4 / 2 of a pair, s % 2; column: own mode of a tile
///   y_trace  slot: mode j n + i of a block (LineBlocks); column c: of line i = c / 2 of a tile at one end, c % 2
///   y_face   slot s: trace below (s < 8) or above line s % 8 / 2 of a tile, s % 2; column: own mode of a tile. Joined: slot s: sum or
///            difference of the traces below and above line s / 2, s % 2; by parity of lines 4 (tile % 2) + s / 2
///   z_trace  slot s < 4: line s of a group in the first plane of a pair (PlanePairs), s >= 12: line s - 12 in the second one; column c:
///            what these modes add to line c / 2 at its right end, c % 2
///   z_face   slot s: sum or difference of the traces below and above line s / 2 of a tile, s % 2 (FacesZ); column: own
///            mode of the tile, in plane k: not zero for its own line only
template <typename Tile>
class Weights
{
  using Lines = typename Tile::Lines;
  using Own = typename Tile::Own;
  using Planes = typename Tile::Planes;
  static constexpr int n = Tile::n, parts = Tile::parts;
  unsigned char *const base, *const held_base;
  static constexpr int z_faces_at = Tile::entries * parts * 256;
  static constexpr int small_at = Tile::held_entries * parts * 256;
  static constexpr int diagonal_at = Tile::constant_bytes - Tile::diagonal_bytes;
  static constexpr int plane_bytes = 128 * Tile::split * Tile::tile_pairs;

public:
  __device__ __forceinline__ explicit Weights(unsigned char *shared)
    : base(shared + Tile::constant_offset)
    , held_base(shared + Tile::held_offset)
  {}

  // Numbers of entries,
  static constexpr int y_trace(bool left, int block)
  {
    return int(left) * Lines::weights + block % Lines::weights;
  }
  static constexpr int z_traces = 2 * Lines::weights;
  static constexpr int z_trace(int pair) { return z_traces + pair; }
  static_assert(z_trace(Planes::pairs) == Tile::entries);
  // of those that may be held from the start,
  static constexpr int x_trace(int block, int pair) { return block * Tile::pairs + pair; }
  static constexpr int y_faces = Tile::x_blocks * Tile::pairs;
  static constexpr int y_tiles =
      Tile::joins_y ? 1 : Tile::line_tiles; ///< of lines that are told apart
  static constexpr int y_face(int share, int lines, int tile)
  {
    return y_faces + (share * y_tiles + lines) * Tile::tiles + tile;
  }
  static_assert(y_faces + Tile::y_face_entries == Tile::held_entries);
  // and with eight slots.
  static constexpr int ends = Tile::pairs * Tile::tiles;
  static constexpr int small_y_faces = ends + Tile::end_blocks;

  /// An entry in registers.
  struct Held
  {
    B part[parts];

    __device__ __forceinline__ Held flipped(std::uint32_t bits) const
    {
      Held result;
#pragma unroll
      for (int at = 0; at < parts; ++at)
        result.part[at] = B{{part[at].registers[0] ^ bits, part[at].registers[1] ^ bits}};
      return result;
    }
  };
  struct SmallHeld
  {
    SmallB part[parts];
  };
  __device__ __forceinline__ Held hold(int entry) const
  {
    Held held;
#pragma unroll
    for (int part = 0; part < parts; ++part)
      held.part[part] = read_weights(base + (part * Tile::entries + entry) * 256);
    return held;
  }
  /// x_trace, y_face
  __device__ __forceinline__ Held hold_once(int entry) const
  {
    Held held;
#pragma unroll
    for (int part = 0; part < parts; ++part)
      held.part[part] = read_weights(held_base + (part * Tile::held_entries + entry) * 256);
    return held;
  }
  /// z_trace of the second group of a tile: what is in slots 0..7 and 8..15 changes places.
  static __device__ __forceinline__ Held swapped(const Held &held)
  {
    Held result;
#pragma unroll
    for (int part = 0; part < parts; ++part)
      result.part[part] = B{{held.part[part].registers[1], held.part[part].registers[0]}};
    return result;
  }
  __device__ __forceinline__ SmallHeld hold_small(int entry) const
  {
    SmallHeld held;
#pragma unroll
    for (int part = 0; part < parts; ++part)
      held.part[part] =
          read_small_weights(held_base + small_at + (part * Tile::small_entries + entry) * 128);
    return held;
  }
  __device__ __forceinline__ SmallHeld hold_x_face(int pair, int tile) const
  {
    return hold_small(pair * Tile::tiles + tile);
  }
  __device__ __forceinline__ SmallHeld hold_ends(int block) const
  {
    return hold_small(ends + block);
  }
  /// By parity.
  __device__ __forceinline__ SmallHeld hold_y_face(int share, int tile) const
  {
    return hold_small(small_y_faces + share * Tile::tiles + tile);
  }

  /// z_face: the same two numbers for every line, in a lane's first word, in its second one, or in none of them.
  __device__ __forceinline__ int z_face_of_lane() const
  {
    const int slot = threadIdx.x % 4, column = threadIdx.x % 32 / 4;
    return z_faces_at + 8 * (slot == column ? 0 : slot + 4 == column ? 1 : 2);
  }
  __device__ __forceinline__ Held hold_z_face(int of_lane, int k) const
  {
    Held held;
#pragma unroll
    for (int part = 0; part < parts; ++part)
    {
      const uint2 both = *reinterpret_cast<const uint2 *>(base + of_lane + 24 * (part * n + k));
      held.part[part] = B{{both.x, both.y}};
    }
    return held;
  }

  /// D in plane k as diagonal matrices of two tiles, each in two parts. Only lanes on the diagonal read: all of them, with a place for
  /// zeros, would take shared memory twice as long.
  __device__ __forceinline__ uint4 diagonal(int share, int k, int pair) const
  {
    uint4 words{0, 0, 0, 0};
    if (is_on_diagonal())
      words = *reinterpret_cast<const uint4 *>(base + diagonal_at + k * plane_bytes +
          (share * Tile::tile_pairs + pair) * 128 + threadIdx.x % 32 / 4 * 16);
    return words;
  }

  /// All threads of the block.
  __device__ void fill(const MmaLayersParameters<Tile> &p) const
  {
    const auto write = [&](unsigned char *to, int entries, const auto &weight_of) {
      for (int at = threadIdx.x; at < entries * parts * 64; at += Tile::threads)
      {
        const int entry = at / 64;
        write_pair<Shape>(to, at, at / 2 % 32, at % 2, [&](int slot, int column) {
          return rounded(weight_of(entry % entries, slot, column), entry / entries);
        });
      }
    };
    write(base, Tile::entries,
        [&](int entry, int slot, int column) { return weight(p, entry, slot, column); });
    write(held_base, Tile::held_entries,
        [&](int entry, int slot, int column) { return held_weight(p, entry, slot, column); });
    for (int at = threadIdx.x; at < Tile::small_entries * parts * 32; at += Tile::threads)
    {
      const int entry = at / 32, here = entry % Tile::small_entries;
      write_pair<SmallShape>(held_base, small_at / 4 + at, at % 32, 0, [&](int slot, int column) {
        return rounded(small_weight(p, here, slot, column), entry / Tile::small_entries);
      });
    }
    for (int at = threadIdx.x; at < parts * n * 12; at += Tile::threads)
    {
      const int word = at / 2 % 6; // 0 and 3 are not zero
      reinterpret_cast<Half *>(base + z_faces_at)[at] =
          word % 3 == 0 ? rounded(beside(p, 2, false, at / 12 % n, at % 2), at / (12 * n)) : Half{};
    }
    for (int at = threadIdx.x; at < Tile::diagonal_bytes / 4; at += Tile::threads)
      reinterpret_cast<std::uint32_t *>(base + diagonal_at)[at] = diagonal_word(p, at);
  }

private:
  __device__ static float end_weight(const MmaLayersParameters<Tile> &p, int i, int column)
  {
    if (i < 0)
      return 0.f;
    const bool left = column / 2 == 1 || column / 2 == 2;
    const int flipped = reflects_odd(p.sides[column / 6]) ? 0 : 1; // behind a closed side
    const float weight = at_end(p, left, i, column % 2);
    return column >= 4 && column % 2 == flipped ? -weight : weight;
  }
  /// Of a small multiplicand.
  __device__ __forceinline__ static bool is_on_diagonal()
  {
    const int lane = threadIdx.x % 32;
    return lane / 8 == lane % 4;
  }
  __device__ static std::uint32_t diagonal_word(const MmaLayersParameters<Tile> &p, int at)
  {
    const int k = at / (plane_bytes / 4), share = at / (32 * Tile::tile_pairs) % Tile::split;
    const int own = (2 * (at / 32 % Tile::tile_pairs) + at / 2 % 2) * 8 + at / 4 % 8;
    if (!Own::exists(share, own))
      return 0;
    const int mode = Own::mode(share, own);
    const float value =
        p.of_diagonal * (p.lambda[0][mode % n] + p.lambda[1][mode / n] + p.lambda[2][k]) / p.scale;
    const Half half = rounded(value, at % 2);
    return std::uint32_t(std::bit_cast<std::uint16_t>(half)) << (at / 4 % 2 * 16);
  }
  /// A line of a tile; -1: none.
  __device__ static int line_y(int tile, int at)
  {
    const int line = Lines::per_tile * tile + at;
    return at < Lines::per_tile && line < n ? line : -1;
  }
  /// Whether a slot is mode i of the warp's line `row`.
  __device__ static bool is_of_row(int own, int row)
  {
    return own < Own::slots && Own::row(own) == row && Own::mode_of_line(own) < n;
  }
  __device__ static float small_weight(
      const MmaLayersParameters<Tile> &p, int entry, int slot, int column)
  {
    if (entry >= small_y_faces)
    {
      entry -= small_y_faces;
      const int share = entry / Tile::tiles, own = entry % Tile::tiles * 8 + column;
      return Own::exists(share, own) &&
              Own::mode_of_line(own) == Lines::per_tile * (entry % Tile::line_tiles) + slot / 2
          ? beside(p, 1, false, Own::line(share, Own::row(own)), slot % 2)
          : 0.f;
    }
    if (entry >= ends)
      return end_weight(p, EndSlots<n>::mode(2 * (entry - ends) + slot % 2, slot / 2), column);
    const int own = entry % Tile::tiles * 8 + column;
    return is_of_row(own, entry / Tile::tiles * 2 + slot % 4 / 2)
        ? beside(p, 0, slot >= 4, Own::mode_of_line(own), slot % 2)
        : 0.f;
  }
  __device__ static float weight(
      const MmaLayersParameters<Tile> &p, int entry, int slot, int column)
  {
    if (entry < z_traces)
    {
      const int mode = p.y_modes[entry % Lines::weights * 16 + slot];
      return mode >= 0 && mode % n % Lines::per_tile == column / 2
          ? at_end(p, entry >= Lines::weights, mode / n, column % 2)
          : 0.f;
    }
    // Slots 0..3 and 12..15 are this group's lines in the first and in the second plane.
    if (slot % 4 != column / 2 || (slot >= 4 && slot < 12))
      return 0.f;
    const int k = Planes::plane(entry - z_traces, slot / 8);
    return k < n ? at_end(p, false, k, column % 2) : 0.f;
  }
  __device__ static float held_weight(
      const MmaLayersParameters<Tile> &p, int entry, int slot, int column)
  {
    if (entry < y_faces)
    {
      const int own = entry / Tile::pairs * 16 + slot;
      return is_of_row(own, entry % Tile::pairs * 2 + column % 4 / 2)
          ? at_end(p, column >= 4, Own::mode_of_line(own), column % 2)
          : 0.f;
    }
    entry -= y_faces;
    const int own = entry % Tile::tiles * 8 + column;
    const int line = Tile::joins_y ? slot / 2 : line_y(entry / Tile::tiles % y_tiles, slot % 8 / 2);
    const int j = Own::line(entry / (Tile::tiles * y_tiles), Own::row(own));
    return own < Own::slots && j < n && Own::mode_of_line(own) == line
        ? beside(p, 1, !Tile::joins_y && slot >= 8, j, slot % 2)
        : 0.f;
  }
};
} // namespace tensormg::laplace::mma_layers
