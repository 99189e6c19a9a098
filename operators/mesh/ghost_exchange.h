// Brings the face traces of neighbouring blocks to the ghost buffers of the Laplace operator.
#pragma once

#include <array>
#include <vector>

#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// Owns send and receive buffers for the sides of one level that are Side::ghost. A neighbour needs of a
/// cell only value and normal derivative per line: 2 n^(d-1) numbers per face instead of n^d.
///
/// An exchange is start() and finish(); what is computed in between must not touch the ghosts of remote
/// sides. Not reentrant: one exchange at a time.
template <typename Number>
class GhostExchange
{
public:
  GhostExchange(const LevelGrid &level, const CellBasis &basis);
  // Requests point into the buffers.
  GhostExchange(const GhostExchange &) = delete;
  GhostExchange &operator=(const GhostExchange &) = delete;

  /// Sides whose ghosts come from another rank; those from this rank are there after start().
  const std::array<bool, 6> &remote() const { return remote_; }

  /// Posts the receives, packs the traces of src and sends them. src may change afterwards. Collective
  /// over the neighbours, as finish().
  void start(const Number *src);
  /// Large messages move on only inside calls of MPI: to be called now and then between start() and finish().
  void progress();
  /// progress() of this object.
  laplace::Callback progress_callback();
  /// Waits until all ghosts are there and all traces are sent.
  void finish();

  /// Pointers for laplace::Arguments::ghost; valid as long as this object.
  const std::array<const Compute<Number> *, 6> &ghosts() const { return pointers_; }

  std::int64_t bytes() const;

private:
  const LevelGrid &level_;
  const CellBasis &basis_;
  std::array<bool, 6> remote_{};
  std::array<std::vector<Compute<Number>>, 6> send_, receive_;
  std::array<const Compute<Number> *, 6> pointers_{};
  std::array<MPI_Request, 8> requests_{};
  int n_requests_ = 0; ///< 0: nothing under way
};

extern template class GhostExchange<double>;
extern template class GhostExchange<float>;
extern template class GhostExchange<Half>;
extern template class GhostExchange<WideFloat>;
} // namespace tensormg
