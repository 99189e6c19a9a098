// The constant multiplicands of the residual on tensor cores: see jumps.cuh.
#pragma once

#include "kernels/laplace/mma_column/constants.cuh"

namespace tensormg::laplace::mma_column
{
/// Entries of mma_column::Constants for traces and faces, with signs such that sums are jumps, upper cell - lower cell;
/// then L of a plane's modes in two parts by k and tile, and what is added to traces beside a ghost.
template <typename Tile>
class JumpConstants
{
  static constexpr int n = Tile::n, tiles = Tile::tiles;
  using Traced = Constants<Tile>;
  const Traced constants;

public:
  __device__ __forceinline__ explicit JumpConstants(unsigned char *shared)
    : constants(shared)
  {}

  // Numbers of entries.
  static constexpr int own(int k, int tile, int part)
  {
    return Tile::entries + (k * tiles + tile) * 2 + part;
  }
  static constexpr int beside_ghost(bool in_z, bool upper)
  {
    return Tile::entries + 2 * n * tiles + 2 * int(in_z) + int(upper);
  }

  __device__ __forceinline__ B hold(int entry) const { return constants.hold(entry); }

  /// All threads of the block.
  __device__ void fill(const MmaColumnParameters<Tile> &p) const
  {
    for (int at = threadIdx.x; at < Tile::jump_entries * 64; at += Tile::threads)
    {
      const int entry = at / 64;
      write_pair<Shape>(constants.base, at, at / 2 % 32, at % 2,
          [&](int slot, int column) { return rounded(weight(p, entry, slot, column), 0); });
    }
  }

private:
  __device__ static float weight(
      const MmaColumnParameters<Tile> &p, int entry, int slot, int column)
  {
    if (entry < Tile::entries)
    {
      const bool negative =
          entry < Tile::trace_entries ? !Traced::is_left(entry) : Traced::is_below(entry, slot);
      const float weight = Traced::weight(p, entry, slot, column);
      return negative ? -weight : weight;
    }
    const int j = slot / n, i = slot % n;
    if (entry >= beside_ghost(false, false))
    {
      // Lines 0..3 of a plane in y, or of a group in z.
      const bool in_z = entry >= beside_ghost(true, false);
      const int line = in_z ? slot % 4 : i, mode = in_z ? slot / 4 : j;
      return line == column / 2
          ? p.jumps.correction[(entry - beside_ghost(in_z, false)) % 2][column % 2][mode]
          : 0.f;
    }
    const int number = (entry - Tile::entries) / 2, k = number / tiles;
    const int mode = number % tiles * 8 + column, to_j = mode / n, to_i = mode % n;
    const float sum = (j == to_j ? p.jumps.own[0][to_i][i] : 0.f) +
        (i == to_i ? p.jumps.own[1][to_j][j] : 0.f) +
        (j == to_j && i == to_i ? p.jumps.own[2][k][k] : 0.f);
    return entry % 2 == Tile::entries % 2
        ? sum
        : sum - __half2float(std::bit_cast<__half>(mma::to_half(sum)));
  }
};
} // namespace tensormg::laplace::mma_column
