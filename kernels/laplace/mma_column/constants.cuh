// The constant multiplicands of the tensor-core column kernel: see steps.cuh.
#pragma once

#include "kernels/laplace/march/plane_rings.cuh"
#include "kernels/laplace/mma_column/jump_weights.h"
#include "kernels/laplace/mma_column/tile.h"
#include "kernels/laplace/mma_weights.cuh"

namespace tensormg::laplace
{
template <typename Tile>
struct MmaColumnParameters : ModeParameters<Tile>
{
  float scale; ///< sums are formed in units of this power of two, so that no weight leaves FP16
  JumpWeights<Tile::n> jumps; ///< of the residual
};
} // namespace tensormg::laplace

namespace tensormg::laplace::mma_column
{
using namespace mma_weights;

/// Rows and columns of the matrices. A multiplicand has 16 rows; slot s of 16 means
///   modes    mode s = j n + i of the plane
///   lines_z  mode k = s / 4 of line s % 4 of a group of 4 lines in z
///   faces    s < 8: trace below the line, s >= 8: above it; of line (s % 8) / 2, s % 2: value, half derivative
///   line_ends  as columns: of line s / 2, value and half derivative
template <typename Tile>
class Constants
{
  static constexpr int n = Tile::n, tiles = Tile::tiles;
  static constexpr int diagonals = Tile::entries * 256;
  static constexpr int factors = diagonals + Tile::diagonal_entries * 128;

public:
  unsigned char *const base;

  __device__ __forceinline__ explicit Constants(unsigned char *shared)
    : base(shared + Tile::constant_offset)
  {}

  // Numbers of entries; direction 0: x, 1: y.
  static constexpr int trace(int direction, bool left) { return 2 * direction + int(left); }
  static constexpr int trace_z(bool left) { return trace(2, left); }
  static constexpr int face(int direction, int tile)
  {
    return Tile::trace_entries + direction * tiles + tile;
  }
  static constexpr int face_z(int k, bool above)
  {
    return Tile::trace_entries + 2 * tiles + 2 * k + int(above);
  }

  /// An entry, to be held in registers while it is used.
  __device__ __forceinline__ B hold(int entry) const { return read_weights(base + entry * 256); }
  /// One diagonal matrix: term of plane k, for the modes of a tile.
  __device__ __forceinline__ SmallB hold_diagonal(int term, int k, int tile) const
  {
    const int entry = (term * n + k) * tiles + tile;
    return read_small_weights(base + diagonals + entry * 128);
  }
  /// What modes 8 tile + 2 (lane % 4) and the next one of plane k are multiplied by in the end.
  __device__ __forceinline__ float2 factor(int k, int tile) const
  {
    return *reinterpret_cast<const float2 *>(
        base + factors + 4 * ((k * tiles + tile) * 8 + 2 * (threadIdx.x % 4)));
  }

  /// All threads of the block.
  __device__ void fill(const MmaColumnParameters<Tile> &p) const
  {
    for (int at = threadIdx.x; at < Tile::entries * 64; at += Tile::threads)
      write_pair<Shape>(base, at, at / 2 % 32, at % 2,
          [&](int slot, int column) { return mma::to_half(weight(p, at / 64, slot, column)); });
    for (int at = threadIdx.x; at < Tile::diagonal_entries * 32; at += Tile::threads)
    {
      const int entry = at / 32, term = entry / (n * tiles), k = entry / tiles % n;
      write_pair<SmallShape>(base, Tile::entries * 64 + at, at % 32, 0, [&](int slot, int column) {
        return slot == column ? on_diagonal(p, term, k, entry % tiles * 8 + column) : Half{};
      });
    }
    for (int at = threadIdx.x; at < n * 8 * tiles; at += Tile::threads)
    {
      const int mode = at % (8 * tiles);
      reinterpret_cast<float *>(base + factors)[at] =
          p.factor[at / (8 * tiles)][mode / n][mode % n] * p.scale;
    }
  }

  /// Which of the traces belong to the left end, which slots of the faces to traces below.
  static constexpr bool is_left(int entry) { return entry % 2 == 1; }
  static constexpr bool is_below(int entry, int slot)
  {
    const int in_z = entry - face_z(0, false);
    return in_z < 0 ? slot < 8 : in_z % 2 == 0;
  }
  __device__ static float weight(
      const MmaColumnParameters<Tile> &p, int entry, int slot, int column)
  {
    const int derivative_of_column = column % 2, derivative_of_slot = slot % 2;
    if (entry < Tile::trace_entries)
    {
      // Of the line: its number among four, and the mode along it.
      const bool in_x = entry < trace(1, false);
      const int line = in_x ? slot / n : slot % n, mode = in_x ? slot % n : slot / n;
      return line == column / 2 ? at_end(p, is_left(entry), mode, derivative_of_column) : 0.f;
    }
    if (entry >= face_z(0, false))
    {
      // Both halves of the multiplicand are traces at one side: of lines 0..3 and 4..7 of a tile.
      entry -= face_z(0, false);
      return slot / 2 == column ? beside(p, 2, entry % 2 == 1, entry / 2, derivative_of_slot) : 0.f;
    }
    entry -= Tile::trace_entries;
    const int direction = entry / tiles, mode = entry % tiles * 8 + column;
    const int j = mode / n, i = mode % n;
    return (direction == 0 ? j : i) == slot % 8 / 2
        ? beside(p, direction, slot >= 8, direction == 0 ? i : j, derivative_of_slot)
        : 0.f;
  }

private:
  /// Diagonal terms, first and second parts:
  ///   0  1      of b
  ///   1, 2      of u: D keep
  ///   3, 4      of old: -D drop
  __device__ static Half on_diagonal(const MmaColumnParameters<Tile> &p, int term, int k, int mode)
  {
    const float d = p.diagonal[k][mode / n][mode % n] / p.scale;
    if (term == 0)
      return mma::to_half(1.f / p.scale);
    return term < 3 ? rounded(d * p.keep, term == 2) : rounded(-d * p.drop, term == 4);
  }
};
} // namespace tensormg::laplace::mma_column
