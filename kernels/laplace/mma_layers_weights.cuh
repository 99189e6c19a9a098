// The constant multiplicands of the tensor-core layer kernel: see mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers.cuh"
#include "kernels/laplace/mma_weights.cuh"

namespace tensormg::laplace::mma_layers
{
using namespace mma_weights;

/// Rows (slots) and columns of the weights:
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
  static constexpr int plane_bytes = 64 * Tile::split * Tile::tiles;

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

  /// z_face: the same two numbers for every line.
  __device__ __forceinline__ Held hold_z_face(int k) const
  {
    const int lane = threadIdx.x % 32, slot = lane % 4, column = lane / 4;
    Held held;
#pragma unroll
    for (int part = 0; part < parts; ++part)
    {
      const std::uint32_t both =
          reinterpret_cast<const std::uint32_t *>(base + z_faces_at)[part * n + k];
      held.part[part] = B{{slot == column ? both : 0, slot + 4 == column ? both : 0}};
    }
    return held;
  }

  /// D in plane k as a diagonal matrix, in two parts.
  __device__ __forceinline__ uint2 diagonal(int share, int k, int tile) const
  {
    uint2 both{0, 0};
    if (is_on_diagonal())
      both = *reinterpret_cast<const uint2 *>(base + diagonal_at + k * plane_bytes +
          (share * Tile::tiles + tile) * 64 + threadIdx.x % 32 / 4 * 8);
    return both;
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
        const int mode = here % Tile::tiles * 8 + column;
        const int line = here / Tile::tiles * 2 + slot % 4 / 2;
        return mode < Tile::own_modes && mode / n == line
            ? rounded(beside(p, 0, slot >= 4, mode % n, slot % 2), entry / Tile::small_entries)
            : Half{};
      });
    }
    for (int at = threadIdx.x; at < parts * n * 2; at += Tile::threads)
      reinterpret_cast<Half *>(base + z_faces_at)[at] =
          rounded(beside(p, 2, false, at / 2 % n, at % 2), at / (2 * n));
    for (int at = threadIdx.x; at < Tile::diagonal_bytes / 4; at += Tile::threads)
      reinterpret_cast<std::uint32_t *>(base + diagonal_at)[at] = diagonal_word(p, at);
  }

private:
  /// Of a small multiplicand.
  __device__ __forceinline__ static bool is_on_diagonal()
  {
    const int lane = threadIdx.x % 32;
    return lane / 8 == lane % 4;
  }
  __device__ static std::uint32_t diagonal_word(const MmaLayersParameters<Tile> &p, int at)
  {
    const int k = at / (plane_bytes / 4), share = at / (16 * Tile::tiles) % Tile::split;
    const int own = at / 16 % Tile::tiles * 8 + at / 2 % 8, mode = share * Tile::own_modes + own;
    if (own >= Tile::own_modes || mode >= Tile::modes)
      return 0;
    const float value = p.diagonal_sign *
        (p.lambda[0][mode % n] + p.lambda[1][mode / n] + p.lambda[2][k]) / p.scale;
    const Half half = rounded(value, at % 2);
    return std::uint32_t(std::bit_cast<std::uint16_t>(half)) << (at / 2 % 2 * 16);
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
