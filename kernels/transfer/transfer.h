// CONTRACT of the transfer between a level and the next coarser one: in each direction a coarse cell has two children, or (after
// semicoarsening in others) it is a cell of the fine level.
//
// Formula, per halved direction with P_0 = CellBasis::prolongation, P_1[a][i] = (-1)^(a+i) P_0[a][i] (child 0
// is the lower half):
//   prolongate:  fine[2c + s, a]  = [fine +] factor * sum_i P_s[a][i] coarse[c, i]   (tensor product)
//   restrict:    coarse[c, i]     = factor * 1/2 sum_s sum_a P_s[a][i] fine[2c + s, a]   (1/2 for each halved direction)
// Prolongation is the embedding of the coarse space (value scaling); restriction is the L2 projection,
// its adjoint up to those 1/2. Where not all directions are halved, they are done one after the other; between two of them lies a
// vector in Compute<Number> (between()).
//
// A vector may be a pair whose sum counts, with twice the digits of a number: prolongate takes src + src_rest,
// adds it to dst + dst_rest, and leaves the sum rounded in dst, what rounding took away in dst_rest.
//
// Arrays: fine and coarse in Block's order, fine.cells = 2 * coarse.cells or coarse.cells in each of the dim directions, at least one
// halved, same n. Padding zero on entry and on exit. Ensures: every entry of the result is written.
// Work: prolongate with add reads fine and coarse, writes fine (of a pair both); restrict reads fine, writes coarse.
// Oracle: reference.cc. Test: tests/kernels/transfer/transfer_test.cc.
#pragma once

#include <array>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"
#include "kernels/core/half.h"

namespace tensormg::transfer
{
/// The directions in which a coarse cell has two children.
constexpr std::array<bool, 3> halved(const Block &fine, const Block &coarse)
{
  std::array<bool, 3> result{};
  for (int d = 0; d < fine.dim; ++d)
    result[d] = fine.cells[d] != coarse.cells[d];
  return result;
}

constexpr int n_halved(const Block &fine, const Block &coarse)
{
  const std::array<bool, 3> directions = halved(fine, coarse);
  return int(directions[0]) + int(directions[1]) + int(directions[2]);
}

/// The halved directions, z before y before x; the second one counts only where two are halved.
constexpr std::array<int, 2> halved_in_order(const Block &fine, const Block &coarse)
{
  const std::array<bool, 3> is_halved = halved(fine, coarse);
  const int first = is_halved[2] ? 2 : is_halved[1] ? 1 : 0;
  return {first, first == 2 && is_halved[1] ? 1 : 0};
}

/// The vector between two directions of a transfer: z, or else y, is coarse in it, the other halved direction fine. Empty
/// (n_cells() = 0) if the transfer needs none.
constexpr Block between(const Block &fine, const Block &coarse)
{
  std::array<std::int64_t, 3> cells{0, 0, 0};
  if (n_halved(fine, coarse) == 2 && fine.dim == 3)
  {
    cells = fine.cells;
    const int first = halved_in_order(fine, coarse)[0];
    cells[first] = coarse.cells[first];
  }
  return Block(fine.dim, fine.degree(), cells);
}

template <typename Number>
struct Prolongate
{
  Block fine, coarse;
  const CellBasis *basis = nullptr;
  double factor = 1.;
  bool add = true;
  const Number *src = nullptr;      ///< coarse
  Number *dst = nullptr;            ///< fine
  const Number *src_rest = nullptr; ///< coarse; nullptr counts as zero
  Number *dst_rest = nullptr;       ///< fine; nullptr: what rounding takes away is lost
  bool add_rest = false;            ///< with add: dst_rest counts on entry
};

template <typename Number>
struct Restrict
{
  Block fine, coarse;
  const CellBasis *basis = nullptr;
  double factor = 1.;
  const Number *src = nullptr; ///< fine
  Number *dst = nullptr;       ///< coarse
};

/// Plain loops in double.
template <typename Number>
void prolongate_reference(const Prolongate<Number> &);
template <typename Number>
void restrict_reference(const Restrict<Number> &);

/// SIMD over cells in x, one direction after the other, both children from one even and one odd sum. If not all directions are
/// halved, the vector between() is scratch of the calling thread.
template <typename Number>
void prolongate_cpu(const Prolongate<Number> &);
template <typename Number>
void restrict_cpu(const Restrict<Number> &);
} // namespace tensormg::transfer
