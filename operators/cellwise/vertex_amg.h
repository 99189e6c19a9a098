// Algebraic multigrid on the unknowns of vertices, by a library: where there is no box, or interpolation along its lines does not serve.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "operators/cellwise/vertex_hierarchy.h"
#include "operators/cellwise/vertex_multigrid.h"

namespace tensormg
{
/// Smoothed aggregation of Trilinos ML through deal.II, on this rank alone.
class VertexAmg
{
public:
  /// Whether the library is there.
  static bool is_available();
  /// is_singular: constants are in the kernel.
  VertexAmg(const VertexMatrix &matrix, bool is_singular);
  /// Of a symmetric matrix with any numbering, which vectors have, too. Throws std::length_error: more than 2^31 - 1 rows.
  VertexAmg(const SparseRows &matrix, bool is_singular);
  ~VertexAmg();
  VertexAmg(VertexAmg &&) noexcept;
  VertexAmg &operator=(VertexAmg &&) noexcept;

  /// x = A^-1 b about, by conjugate gradients with V-cycles; vectors as those of VertexMultigrid, with those of further unknowns behind. To an
  /// accuracy, since no aggregation serves all coefficients: one or two steps where it does.
  void solve(std::vector<double> &x, const std::vector<double> &b);
  /// x = C b, so many V-cycles from zero: C is symmetric and the same each time.
  void cycles(std::vector<double> &x, const std::vector<double> &b, int count);

  /// The levels that the library has made.
  VertexHierarchy hierarchy() const;

  /// About what the matrix, its coarser ones and the vectors take.
  static double bytes_per_vertex() { return 8. * 90; }

private:
  void read(const std::vector<double> &b);
  void write(std::vector<double> &x, std::size_t size) const;

  std::vector<std::int64_t> places_; ///< of the unknowns in vectors
  struct Library;
  std::unique_ptr<Library> library_;
};
} // namespace tensormg
