// The constant multiplicands of the tensor-core column kernel: see mma_column.cuh.
#pragma once

#include "kernels/laplace/column/column.cuh"
#include "kernels/laplace/mma_column/jumps.h"
#include "kernels/laplace/mma_column/tile.h"
#include "kernels/laplace/mma_weights.cuh"

namespace tensormg::laplace
{
template <typename Tile>
struct MmaColumnParameters : ColumnParameters<Tile>
{
  float scale; ///< sums are formed in units of this power of two, so that no weight leaves FP16
  JumpWeights<Tile::n> jumps; ///< of the residual
};
} // namespace tensormg::laplace

namespace tensormg::laplace::mma_column
{
using namespace mma_weights;

/// Rows and columns of the matrices. A multiplicand has 16 rows; slot s of 16 means
///   modes    mode s = j n + i of the plane, s < n^2
///   lines_z  mode k = s / 4 of line s % 4 of a group of 4 lines in z
///   faces    s < 8: trace below the line, s >= 8: above it; of line (s % 8) / 2, s % 2: value, half derivative
///   line_ends  as columns: of line s / 2, value and half derivative
template <typename Tile>
class Constants
{
  static constexpr int n = Tile::n, tiles = Tile::tiles;
  static constexpr int k_blocks = Tile::k_blocks, line_tiles = Tile::line_tiles;
  static constexpr int diagonals = Tile::entries * 256;
  static constexpr int factors = diagonals + Tile::diagonal_entries * 128;

public:
  unsigned char *const base;

  __device__ __forceinline__ explicit Constants(unsigned char *shared)
    : base(shared + Tile::constant_offset)
  {}

  // Numbers of entries.
  static constexpr int trace(int direction, bool left, int block = 0, int line_tile = 0)
  {
    return ((2 * direction + int(left)) * k_blocks + block) * line_tiles + line_tile;
  }
  static constexpr int trace_z(bool left, int block)
  {
    return 4 * k_blocks * line_tiles + int(left) * Tile::z_blocks + block;
  }
  static constexpr int face(int direction, int line_tile, int tile)
  {
    return Tile::trace_entries + (direction * line_tiles + line_tile) * tiles + tile;
  }
  static constexpr int face_z(int k, bool above)
  {
    return Tile::trace_entries + 2 * line_tiles * tiles + 2 * k + int(above);
  }
  // Which of them are not zero: line j in x has the modes j n .. j n + n - 1, a line in y some in all blocks.
  static constexpr bool overlap(int first, int count, int line_tile)
  {
    const int end = 4 * line_tile + 4 < n ? 4 * line_tile + 4 : n;
    return first < n * end && first + count > 4 * n * line_tile;
  }
  static constexpr bool has_trace(int direction, int block, int line_tile)
  {
    return direction == 1 || overlap(16 * block, 16, line_tile);
  }
  static constexpr bool has_face(int direction, int line_tile, int tile)
  {
    return direction == 1 || overlap(8 * tile, 8, line_tile);
  }

  /// An entry, to be held in registers while it is used.
  struct Held
  {
    B weights;

    /// sum += a times the entry
    __device__ __forceinline__ void add(D &sum, const A &a) const
    {
      mma::mma_sync(sum, a, weights);
    }
  };
  __device__ __forceinline__ Held hold(int entry) const
  {
    return {read_weights(base + entry * 256)};
  }
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
  template <Form form>
  __device__ void fill(const MmaColumnParameters<Tile> &p) const
  {
    for (int at = threadIdx.x; at < Tile::entries * 64; at += Tile::threads)
      write_pair<Shape>(base, at, at / 2 % 32, at % 2,
          [&](int slot, int column) { return mma::to_half(weight(p, at / 64, slot, column)); });
    for (int at = threadIdx.x; at < Tile::diagonal_entries * 32; at += Tile::threads)
    {
      const int entry = at / 32, term = entry / (n * tiles), k = entry / tiles % n;
      write_pair<SmallShape>(base, Tile::entries * 64 + at, at % 32, 0, [&](int slot, int column) {
        const int mode = entry % tiles * 8 + column;
        return slot == column && mode < n * n ? on_diagonal<form>(p, term, k, mode) : Half{};
      });
    }
    for (int at = threadIdx.x; at < n * 8 * tiles; at += Tile::threads)
    {
      const int mode = at % (8 * tiles);
      const float factor = form != Form::chebyshev || mode >= n * n
          ? 1.f
          : p.factor[at / (8 * tiles)][mode / n][mode % n];
      reinterpret_cast<float *>(base + factors)[at] = factor * p.scale;
    }
  }

  /// Which of the traces belong to the left end, which slots of the faces to traces below.
  static constexpr bool is_left(int entry)
  {
    const int in_z = entry - 4 * k_blocks * line_tiles;
    return in_z < 0 ? entry / (k_blocks * line_tiles) % 2 == 1 : in_z >= Tile::z_blocks;
  }
  static constexpr bool is_below(int entry, int slot)
  {
    const int in_z = entry - Tile::trace_entries - 2 * line_tiles * tiles;
    return in_z < 0 ? slot < 8 : in_z % 2 == 0;
  }
  __device__ static float weight(
      const MmaColumnParameters<Tile> &p, int entry, int slot, int column)
  {
    const int derivative_of_column = column % 2, derivative_of_slot = slot % 2;
    if (entry < 4 * k_blocks * line_tiles)
    {
      const int side = entry / (k_blocks * line_tiles);
      const int mode = entry / line_tiles % k_blocks * 16 + slot;
      const int j = mode / n, i = mode % n, line = entry % line_tiles * 4 + column / 2;
      if (j >= n || (side < 2 ? j : i) != line)
        return 0.f;
      return at_end(p, side % 2 == 1, side < 2 ? i : j, derivative_of_column);
    }
    if (entry < Tile::trace_entries)
    {
      entry -= 4 * k_blocks * line_tiles;
      const int k = (entry % Tile::z_blocks * 16 + slot) / 4;
      return slot % 4 == column / 2 && k < n
          ? at_end(p, entry >= Tile::z_blocks, k, derivative_of_column)
          : 0.f;
    }
    entry -= Tile::trace_entries;
    if (entry >= 2 * line_tiles * tiles)
    {
      // Both halves of the multiplicand are traces at one side: of lines 0..3 and 4..7 of a tile.
      entry -= 2 * line_tiles * tiles;
      return slot / 2 == column ? beside(p, 2, entry % 2 == 1, entry / 2, derivative_of_slot) : 0.f;
    }
    const int direction = entry / (line_tiles * tiles), mode = entry % tiles * 8 + column;
    const int j = mode / n, i = mode % n, line = entry / tiles % line_tiles * 4 + slot % 8 / 2;
    if (j >= n || (direction == 0 ? j : i) != line)
      return 0.f;
    return beside(p, direction, slot >= 8, direction == 0 ? i : j, derivative_of_slot);
  }

private:
  /// Diagonal terms, first and second parts:
  ///   0  1      of b
  ///   1, 2      of u: D, in the Chebyshev step D keep
  ///   3, 4      of old: -D drop
  template <Form form>
  __device__ static Half on_diagonal(const MmaColumnParameters<Tile> &p, int term, int k, int mode)
  {
    const float d = p.diagonal[k][mode / n][mode % n] / p.scale;
    if (term == 0)
      return mma::to_half(1.f / p.scale);
    if (term < 3)
      return rounded(form == Form::chebyshev ? d * p.keep : d, term == 2);
    return rounded(-d * p.drop, term == 4);
  }
};
} // namespace tensormg::laplace::mma_column
