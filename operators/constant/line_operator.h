// The operator of one direction on all its cells, as a dense matrix, and its eigenvectors.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// L_d of kernels/laplace/laplace.h for `cells` cells with these ends, dimensionless (h = 1); row-major, symmetric, index
/// cell * n + mode.
std::vector<double> line_operator(
    const CellBasis &basis, std::int64_t cells, BoundaryKind lower, BoundaryKind upper);

/// Whether constants see nothing of such an end.
constexpr bool is_free(BoundaryKind end) { return end != BoundaryKind::dirichlet; }

/// The eigenvalues of a symmetric matrix, ascending; eigenvector e is row e of the row-major matrix on return. is_singular: the
/// first one is exactly zero. LAPACK's dsyevd; std::runtime_error if it fails.
std::vector<double> diagonalise(std::vector<double> &matrix, bool is_singular);

/// A line operator's eigenvectors, one per row, and eigenvalues.
struct LineSpectrum
{
  std::vector<double> vectors, values;
};

/// Those that have been asked for: levels share them, since diagonalising takes the time, O((cells n)^3).
class LineSpectra
{
public:
  /// Stays where it is as long as this object.
  const LineSpectrum &of(
      const CellBasis &basis, std::int64_t cells, BoundaryKind lower, BoundaryKind upper);

private:
  struct Entry
  {
    std::int64_t cells;
    int n;
    BoundaryKind lower, upper;
    LineSpectrum spectrum;
  };
  std::list<Entry> entries_;
};
} // namespace tensormg
