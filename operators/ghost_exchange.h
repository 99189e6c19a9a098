// Brings the face traces of neighbouring blocks to the ghost buffers of the Laplace operator.
#pragma once

#include <array>
#include <vector>

#include "kernels/laplace/laplace.h"
#include "operators/grid.h"

namespace tensormg
{
/// Owns send and receive buffers for the sides of one level that are Side::ghost. A neighbour needs of a
/// cell only value and normal derivative per line: 2 n^(d-1) numbers per face instead of n^d.
template <typename Number>
class GhostExchange
{
public:
  GhostExchange(const LevelGrid &level, const CellBasis &basis);

  /// Packs the traces of src, exchanges them and waits. Collective over the neighbours.
  void update(const Number *src);

  /// Pointers for laplace::Arguments::ghost; valid as long as this object.
  const std::array<const Compute<Number> *, 6> &ghosts() const { return pointers_; }

  std::int64_t bytes() const;

private:
  const LevelGrid &level_;
  const CellBasis &basis_;
  std::array<std::vector<Compute<Number>>, 6> send_, receive_;
  std::array<const Compute<Number> *, 6> pointers_{};
};

extern template class GhostExchange<double>;
extern template class GhostExchange<float>;
extern template class GhostExchange<Half>;
} // namespace tensormg
