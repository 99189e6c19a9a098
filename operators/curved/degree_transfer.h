// Prolongation and restriction between two degrees on the same cells, in host or in device memory.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// A LevelTransfer (operators/multigrid/family.h). P is the tensor product of P_ai = int phi_a psi_i, phi the modes of the fine basis, psi those of
/// the coarse one, n_fine x n_coarse. Polynomials of lower degree are among the fine ones and modes orthonormal, so that P embeds and
/// the L2 projection is P'. Modes of different parity have no product.
/// In device memory work is queued in the stream of the context.
template <typename Number, typename Context = HostContext>
class DegreeTransfer
{
public:
  using VectorType = typename Context::template Vector<Number>;

  /// Blocks with the same cells, fine.n > coarse.n, and the bases of their degrees. Throws std::invalid_argument for others.
  DegreeTransfer(const Block &fine, const Block &coarse, const CellBasis &fine_basis,
      const CellBasis &coarse_basis, const Context &context = {});

  /// coarse = factor * P' fine
  void restrict_to(VectorType &coarse, const VectorType &fine, double factor);
  /// fine = factor * P coarse, or fine += ...
  void prolongate(VectorType &fine, const VectorType &coarse, double factor, bool add);
  /// The same for pairs whose sums count: x + d = factor * P (coarse + *rest), or that is added to x, or to x + d. x is the rounded sum, d
  /// what rounding took away. rest = nullptr is zero.
  void prolongate_pair(VectorType &x, VectorType &d, const VectorType &coarse,
      const VectorType *rest, double factor, bool add, bool add_rest);

private:
  using C = Compute<Number>;

  Block fine_, coarse_;
  Context context_;
  std::array<C, max_n * max_n> up_{}, down_{}; ///< P [a][i] and P' [i][a]
};
} // namespace tensormg
