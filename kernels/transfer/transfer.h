// CONTRACT of the transfer between a level and the next coarser one (2^dim children per cell).
//
// Formula, per direction with P_0 = CellBasis::prolongation, P_1[a][i] = (-1)^(a+i) P_0[a][i] (child 0
// is the lower half):
//   prolongate:  fine[2c + s, a]  = [fine +] factor * sum_i P_s[a][i] coarse[c, i]   (tensor product)
//   restrict:    coarse[c, i]     = factor * 2^-dim sum_s sum_a P_s[a][i] fine[2c + s, a]
// Prolongation is the embedding of the coarse space (value scaling); restriction is the L2 projection,
// its adjoint up to 2^-dim.
//
// A vector may be a pair whose sum counts, with twice the digits of a number: prolongate takes src + src_rest,
// adds it to dst + dst_rest, and leaves the sum rounded in dst, what rounding took away in dst_rest.
//
// Arrays: fine and coarse in Block's order, fine.cells = 2 * coarse.cells in each of the dim directions,
// same n. Padding zero on entry and on exit. Ensures: every entry of the result is written.
// Work: prolongate with add reads fine and coarse, writes fine (of a pair both); restrict reads fine, writes coarse.
// Oracle: reference.cc. Test: tests/kernels/transfer_test.cc.
#pragma once

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"
#include "kernels/core/half.h"

namespace tensormg::transfer
{
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

/// SIMD over cells in x, one direction after the other, both children from one even and one odd sum.
template <typename Number>
void prolongate_cpu(const Prolongate<Number> &);
template <typename Number>
void restrict_cpu(const Restrict<Number> &);
} // namespace tensormg::transfer
