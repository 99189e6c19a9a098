// The constant multiplicands of the tensor-core layer kernel: see mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers.cuh"
#include "kernels/laplace/mma_weights.cuh"

namespace tensormg::laplace::mma_layers
{
using namespace mma_weights;

/// Rows (slots) and columns of the weights:
///   ends     slot: mode of a line (EndSlots) of the cell before or after a warp's; column c: value or half derivative (c % 2) at its
///            right end (c < 2) or left one (c < 4), or of the warp's own cell, as they are behind a closed side: at its left
///            end (c < 6) or right one
///   x_trace  slot: own mode jl n + i of a block of 16; column c: of line c % 4 / 2 of a pair, at the right end
///            (c < 4) or the left one, value or half derivative (c % 2)
///   x_face   slot s: trace below (s < 4) or above line s % 4 / 2 of a pair, s % 2; column: own mode of a tile
///   y_trace  slot: mode j n + i of a block (LineBlocks); column c: of line i = c / 2 of a tile at one end, c % 2
///   y_face   slot s: trace below (s < 8) or above line s % 8 / 2 of a tile, s % 2; column: own mode of a tile
///   z_trace  slot s: mode k = s / 4 of line s % 4 of a group; column c: of line c / 2 at one end, c % 2
///   z_face   slot s: sum or difference of the traces below and above line s / 2 of a tile, s % 2 (FacesZ); column: own
///            mode of the tile, in plane k: not zero for its own line only
template <typename Tile>
class Weights
{
  using Lines = typename Tile::Lines;
  static constexpr int n = Tile::n, parts = Tile::parts;
  unsigned char *const base;
  static constexpr int small_at = Tile::entries * parts * 256;
  static constexpr int z_faces_at = small_at + Tile::small_entries * parts * 128;
  static constexpr int diagonal_at = Tile::constant_bytes - Tile::diagonal_bytes;
  static constexpr int plane_bytes = 128 * Tile::split * Tile::tile_pairs;

public:
  __device__ __forceinline__ explicit Weights(unsigned char *shared)
    : base(shared + Tile::constant_offset)
  {}

  // Numbers of entries.
  static constexpr int x_trace(int block, int pair) { return block * Tile::pairs + pair; }
  static constexpr int y_traces = Tile::x_blocks * Tile::pairs;
  static constexpr int y_trace(bool left, int block)
  {
    return y_traces + int(left) * Lines::weights + block % Lines::weights;
  }
  static constexpr int y_faces = y_traces + 2 * Lines::weights;
  static constexpr int y_face(int share, int lines, int tile)
  {
    return y_faces + (share * Tile::line_tiles + lines) * Tile::tiles + tile;
  }
  static constexpr int z_traces = y_faces + Tile::split * Tile::line_tiles * Tile::tiles;
  static constexpr int z_trace(bool left, int block)
  {
    return z_traces + int(left) * Tile::z_blocks + block;
  }
  static_assert(z_traces + 2 * Tile::z_blocks == Tile::entries);

  /// Which weights of a pair of lines in x are not all zero.
  static constexpr bool overlap(int first, int count, int pair)
  {
    return first < n * (2 * pair + 2) && first + count > n * 2 * pair;
  }

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
  /// x_face
  __device__ __forceinline__ SmallHeld hold_x_face(int pair, int tile) const
  {
    SmallHeld held;
#pragma unroll
    for (int part = 0; part < parts; ++part)
      held.part[part] = read_small_weights(
          base + small_at + (part * Tile::small_entries + pair * Tile::tiles + tile) * 128);
    return held;
  }

  /// ends
  __device__ __forceinline__ SmallHeld hold_ends(int block) const
  {
    SmallHeld held;
#pragma unroll
    for (int part = 0; part < parts; ++part)
      held.part[part] = read_small_weights(
          base + small_at + (part * Tile::small_entries + Tile::pairs * Tile::tiles + block) * 128);
    return held;
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
    constexpr int words = Tile::entries * parts * 64;
    for (int at = threadIdx.x; at < words; at += Tile::threads)
    {
      const int entry = at / 64;
      write_pair<Shape>(base, at, at / 2 % 32, at % 2, [&](int slot, int column) {
        return rounded(weight(p, entry % Tile::entries, slot, column), entry / Tile::entries);
      });
    }
    for (int at = threadIdx.x; at < Tile::small_entries * parts * 32; at += Tile::threads)
    {
      const int entry = at / 32, here = entry % Tile::small_entries;
      write_pair<SmallShape>(base, words + at, at % 32, 0, [&](int slot, int column) {
        if (here >= Tile::pairs * Tile::tiles)
          return rounded(
              end_weight(p,
                  EndSlots<n>::mode(2 * (here - Tile::pairs * Tile::tiles) + slot % 2, slot / 2),
                  column),
              entry / Tile::small_entries);
        const int mode = here % Tile::tiles * 8 + column;
        const int line = here / Tile::tiles * 2 + slot % 4 / 2;
        return mode < Tile::own_modes && mode / n == line
            ? rounded(beside(p, 0, slot >= 4, mode % n, slot % 2), entry / Tile::small_entries)
            : Half{};
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
    const int flipped = p.sides[column / 6] == Side::dirichlet ? 0 : 1; // behind a closed side
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
    const int mode = share * Tile::own_modes + own;
    if (own >= Tile::own_modes || mode >= Tile::modes)
      return 0;
    const float value = p.diagonal_sign *
        (p.lambda[0][mode % n] + p.lambda[1][mode / n] + p.lambda[2][k]) / p.scale;
    const Half half = rounded(value, at % 2);
    return std::uint32_t(std::bit_cast<std::uint16_t>(half)) << (at / 4 % 2 * 16);
  }
  /// A line of a tile; -1: none.
  __device__ static int line_y(int tile, int at)
  {
    const int line = Lines::per_tile * tile + at;
    return at < Lines::per_tile && line < n ? line : -1;
  }
  __device__ static float weight(
      const MmaLayersParameters<Tile> &p, int entry, int slot, int column)
  {
    if (entry < y_traces)
    {
      const int mode = entry / Tile::pairs * 16 + slot;
      const int line = entry % Tile::pairs * 2 + column % 4 / 2;
      return mode < Tile::own_modes && mode / n == line
          ? at_end(p, column >= 4, mode % n, column % 2)
          : 0.f;
    }
    if (entry < y_faces)
    {
      entry -= y_traces;
      const int mode = p.y_modes[entry % Lines::weights * 16 + slot];
      return mode >= 0 && mode % n % Lines::per_tile == column / 2
          ? at_end(p, entry >= Lines::weights, mode / n, column % 2)
          : 0.f;
    }
    if (entry < z_traces)
    {
      entry -= y_faces;
      const int mode = entry % Tile::tiles * 8 + column;
      const int line = line_y(entry / Tile::tiles % Tile::line_tiles, slot % 8 / 2);
      const int j = entry / (Tile::tiles * Tile::line_tiles) * Tile::lines + mode / n;
      return mode < Tile::own_modes && j < n && mode % n == line
          ? beside(p, 1, slot >= 8, j, slot % 2)
          : 0.f;
    }
    entry -= z_traces;
    const int k = (entry % Tile::z_blocks * 16 + slot) / 4;
    return slot % 4 == column / 2 && k < n ? at_end(p, entry >= Tile::z_blocks, k, column % 2)
                                           : 0.f;
  }
};
} // namespace tensormg::laplace::mma_layers
