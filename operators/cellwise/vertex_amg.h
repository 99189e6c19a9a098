// Algebraic multigrid on the unknowns of vertices, by a library: where interpolation along the lines of the box does not serve.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "operators/cellwise/vertex_hierarchy.h"
#include "operators/cellwise/vertex_multigrid.h"

namespace tensormg
{
/// Conjugate gradients with smoothed aggregation of Trilinos ML through deal.II, on this rank alone. To an accuracy, since no aggregation
/// serves all coefficients: one or two steps where it does.
class VertexAmg
{
public:
  /// Whether the library is there.
  static bool is_available();
  /// is_singular: constants are in the kernel.
  VertexAmg(const VertexMatrix &matrix, bool is_singular);
  ~VertexAmg();
  VertexAmg(VertexAmg &&) noexcept;
  VertexAmg &operator=(VertexAmg &&) noexcept;

  /// x = A^-1 b about; vectors as those of VertexMultigrid, with those of further unknowns behind.
  void solve(std::vector<double> &x, const std::vector<double> &b);

  /// The levels that the library has made.
  VertexHierarchy hierarchy() const;

  /// About what the matrix, its coarser ones and the vectors take.
  static double bytes_per_vertex() { return 8. * 90; }

private:
  struct Library;
  std::unique_ptr<Library> library_;
};
} // namespace tensormg
