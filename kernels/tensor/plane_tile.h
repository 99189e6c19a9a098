// Tensors whose planes fit into one 8 x 8 tile that a warp holds in registers, each lane two neighbours of a
// row: the layout of accumulators,
//
//   lane 4 g + t, element v   entry X[g][2 t + v]  =  row y = g, column x = 2 t + v  of the tile.
//
// N <= 4: the tile holds side x side tensors, their matrices stand on the diagonal of an 8 x 8 matrix.
// In 3D a warp has the N planes of its tensors at once, in 2D as many tiles as make it worthwhile.
//
// The product that keeps this layout is left(A, X) = A X^T: X as operand B needs no other lane (kernels/mma/
// chaining.h), and as it transposes, it works along x first, then along y, and ends in the layout again.
#pragma once

#include "kernels/mma/chaining.h"

namespace tensormg::tensor
{
template <int dim_, int n_>
struct PlaneTile
{
  static_assert(n_ >= 2 && n_ <= 8);
  static constexpr int dim = dim_;
  static constexpr int n = n_;
  static constexpr int side = 8 / n; ///< tensors per direction in a tile
  static constexpr int used = side * n;
  static constexpr int per_tile = side * side;
  /// In 2D as many tiles as a lane has registers for their positions.
  static constexpr int planes = dim == 3 ? n : 4;
  /// Tensors of a warp at a time.
  static constexpr int tensors = dim == 3 ? per_tile : planes * per_tile;

  static constexpr int threads = 128; ///< warps are independent of each other
  static constexpr int warps = threads / 32;
};

/// Blocks that registers must leave room for. The smaller the numbers, the more warps must have loads under
/// way; the two-term split and the positions of both neighbours (odd N) take registers.
template <typename Number, int terms, typename Tile>
inline constexpr int plane_blocks = sizeof(Number) == 8 ? 4
    : terms == 2                                        ? 5
    : sizeof(Number) == 4 || Tile::n % 2 == 1           ? 6
                                                        : 8;

/// Steps of S that multiply an 8 x 8 matrix.
template <typename S>
inline constexpr int plane_steps = S::k == 4 ? 2 : 1;

/// Which of a lane's two neighbours X[g][2 t], X[g][2 t + 1] is its element e of operand B in a step.
template <typename S>
constexpr int element_of_pair(int step, int e)
{
  return S::k == 4 ? step : e;
}

/// Proof: with the columns of A in the order source_column, the sum over k runs over the columns of X.
template <typename S>
consteval bool pairs_are_operand_b()
{
  for (int step = 0; step < plane_steps<S>; ++step)
    for (int lane = 0; lane < mma::warp_size; ++lane)
      for (int e = 0; e < mma::OperandOf<S, mma::Operand::b>::n_elements; ++e)
      {
        const mma::Entry entry = mma::entry_of<S, mma::Operand::b>(lane, e);
        if (entry.column != lane / 4 ||
            mma::source_column<S>(step, entry.row) != 2 * (lane % 4) + element_of_pair<S>(step, e))
          return false;
      }
  return S::k <= 8;
}
static_assert(pairs_are_operand_b<mma::M8N8K4<double>>() &&
    pairs_are_operand_b<mma::M16N8K4<double>>() && pairs_are_operand_b<mma::M16N8K8<double>>() &&
    pairs_are_operand_b<mma::M16N8K8<Tf32>>() && pairs_are_operand_b<mma::M16N8K8<Half>>());

/// Entry (i, k) of the 8 x 8 matrix with `side` copies of an n x n matrix on its diagonal.
template <typename Tile, typename Matrix>
constexpr double on_diagonal(int i, int k, Matrix matrix)
{
  constexpr int n = Tile::n;
  return i < Tile::used && k < Tile::used && i / n == k / n ? matrix(i % n, k % n) : 0.;
}
} // namespace tensormg::tensor
