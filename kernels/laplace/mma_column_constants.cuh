// The constant multiplicands of the tensor-core column kernel: see mma_column.cuh.
#pragma once

#include "kernels/laplace/cuda_column.cuh"
#include "kernels/laplace/mma_column_tile.h"
#include "kernels/mma/instructions.cuh"

namespace tensormg::laplace
{
template <typename Tile>
struct MmaColumnParameters : ColumnParameters<Tile>
{
  float scale; ///< sums are formed in units of this power of two, so that no weight leaves FP16
};
} // namespace tensormg::laplace

namespace tensormg::laplace::mma_column
{
using Shape = mma::M16N8K16<Half>;
using A = mma::FragmentA<Shape>;
using B = mma::FragmentB<Shape>;
using D = mma::FragmentC<Shape>;
/// For diagonal matrices: the same accumulators, half as many modes.
using DiagonalShape = mma::M16N8K8<Half>;
using DiagonalB = mma::FragmentB<DiagonalShape>;

/// Rows and columns of the matrices. A multiplicand has 16 rows; slot s of 16 means
///   modes    mode s = j n + i of the plane, s < n^2
///   lines_z  mode k = s / 4 of line s % 4 of a group of 4 lines in z
///   faces    s < 8: trace below the line, s >= 8: above it; of line (s % 8) / 2, s % 2: value, half derivative
///   line_ends  as columns: of line s / 2, value and half derivative
template <typename Tile>
class Constants
{
  static constexpr int n = Tile::n, tiles = Tile::tiles;
  unsigned char *const base;
  static constexpr int second_part = Tile::entries * 256;
  static constexpr int diagonals = second_part * (Tile::corrected ? 2 : 1);
  static constexpr int factors = diagonals + Tile::diagonal_entries * 128;

public:
  __device__ __forceinline__ explicit Constants(unsigned char *shared)
    : base(shared + Tile::constant_offset)
  {}

  // Numbers of entries.
  static constexpr int trace(int direction, bool left) { return 2 * direction + int(left); }
  static constexpr int face(int direction, int tile)
  {
    return Tile::trace_entries + direction * tiles + tile;
  }
  static constexpr int face_z(int k, bool above)
  {
    return Tile::trace_entries + 2 * tiles + 2 * k + int(above);
  }

  /// An entry, to be held in registers while it is used.
  struct Held
  {
    B part[Tile::corrected ? 2 : 1];

    /// sum += a times the entry
    __device__ __forceinline__ void add(D &sum, const A &a) const
    {
#pragma unroll
      for (const B &b : part)
        mma::mma_sync(sum, a, b);
    }
  };
  __device__ __forceinline__ Held hold(int entry) const
  {
    Held held;
    held.part[0] = load(entry * 256);
    if constexpr (Tile::corrected)
      held.part[1] = load(second_part + entry * 256);
    return held;
  }
  /// One diagonal matrix: term of plane k, for the modes of a tile.
  __device__ __forceinline__ DiagonalB hold_diagonal(int term, int k, int tile) const
  {
    const int entry = (term * n + k) * tiles + tile;
    return DiagonalB{{*reinterpret_cast<const std::uint32_t *>(
        base + diagonals + entry * 128 + 4 * (threadIdx.x % 32))}};
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
    constexpr int dense = Tile::entries * (Tile::corrected ? 2 : 1);
    for (int at = threadIdx.x; at < dense * 64; at += Tile::threads)
    {
      const int entry = at / 64, lane = at / 2 % 32, piece = at % 2;
      write_pair<Shape>(at, lane, piece, [&](int slot, int column) {
        return rounded(weight(p, entry % Tile::entries, slot, column), entry >= Tile::entries);
      });
    }
    for (int at = threadIdx.x; at < Tile::diagonal_entries * 32; at += Tile::threads)
    {
      const int entry = at / 32, term = entry / (n * tiles), k = entry / tiles % n;
      write_pair<DiagonalShape>(dense * 64 + at, at % 32, 0, [&](int slot, int column) {
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

private:
  /// Word `at` from the beginning: elements 2 piece and 2 piece + 1 of a lane.
  template <typename S, typename Value>
  __device__ void write_pair(int at, int lane, int piece, Value value) const
  {
    std::uint32_t both = 0;
    for (int e = 0; e < 2; ++e)
    {
      const mma::Entry here = mma::entry_of<S, mma::Operand::b>(lane, 2 * piece + e);
      both |= std::uint32_t(std::bit_cast<std::uint16_t>(value(here.row, here.column))) << (16 * e);
    }
    reinterpret_cast<std::uint32_t *>(base)[at] = both;
  }
  __device__ __forceinline__ B load(int offset) const
  {
    const uint2 both = *reinterpret_cast<const uint2 *>(base + offset + 8 * (threadIdx.x % 32));
    return B{{both.x, both.y}};
  }

  /// The first 11 bits, or what they leave.
  __device__ static Half rounded(float value, bool rest)
  {
    const Half first = mma::to_half(value);
    return rest ? mma::to_half(value - __half2float(std::bit_cast<__half>(first))) : first;
  }

  /// Weight of mode m of a line in its traces at the left or the right end (CellBasis).
  __device__ static float at_end(
      const MmaColumnParameters<Tile> &p, bool left, int m, int derivative)
  {
    const float weight = derivative ? p.h[m] : p.v[m];
    return left && m % 2 != derivative ? -weight : weight;
  }
  /// What a trace beside the line adds to mode m.
  __device__ static float beside(
      const MmaColumnParameters<Tile> &p, int direction, bool above, int m, int derivative)
  {
    const float weight = (derivative ? p.vd[direction][m] : p.gd[direction][m]) / p.scale;
    return (above ? derivative == 1 : m % 2 == 1) ? -weight : weight;
  }

  __device__ static float weight(
      const MmaColumnParameters<Tile> &p, int entry, int slot, int column)
  {
    if (entry < Tile::trace_entries)
    {
      const int direction = entry / 2, line = column / 2, derivative = column % 2;
      const bool left = entry % 2 == 1;
      if (direction == 2)
        return slot % 4 == line && slot / 4 < n ? at_end(p, left, slot / 4, derivative) : 0.f;
      const int j = slot / n, i = slot % n;
      if (j >= n || (direction == 0 ? j : i) != line)
        return 0.f;
      return at_end(p, left, direction == 0 ? i : j, derivative);
    }
    entry -= Tile::trace_entries;
    const int derivative = slot % 2;
    if (entry >= 2 * tiles)
    {
      // Both halves of the multiplicand are traces at one side: of lines 0..3 and 4..7 of a tile.
      const int k = (entry - 2 * tiles) / 2;
      return slot / 2 == column ? beside(p, 2, (entry - 2 * tiles) % 2 == 1, k, derivative) : 0.f;
    }
    const int direction = entry / tiles, mode = entry % tiles * 8 + column;
    const int j = mode / n, i = mode % n, line = slot % 8 / 2;
    if (j >= n || (direction == 0 ? j : i) != line)
      return 0.f;
    return beside(p, direction, slot >= 8, direction == 0 ? i : j, derivative);
  }

  /// Diagonal terms, first and second parts:
  ///   0  1      of b
  ///   1, 2      of u: D, or in the fused forms -D (residual), D keep (chebyshev)
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
