// The SIPG matrix assembled by deal.II from face and cell integrals: shares no formula with the
// project.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <deal.II/lac/full_matrix.h>

#include "kernels/basis/cell_basis.h"
#include "tensormg/problem.h"

namespace tensormg::test
{
/// Coefficients in the cell with this centre; K_d in direction d.
struct CellFunctions
{
  std::function<double(int d, const std::array<double, 3> &center)> k;
  std::function<double(const std::array<double, 3> &center)> reaction;
  /// r on the face of that cell on a Robin side; empty: there are none.
  std::function<double(int side, const std::array<double, 3> &center)> robin = {};
};

/// B = (H^2 / a) M^-1 A on the finest mesh of `problem`, H the smallest edge of a cell, in the
/// modal basis `basis` (value scaling). A is the symmetric interior penalty matrix with penalty
/// sigma / h on interior and 2 sigma / h on Dirichlet faces, sigma = p(p+1), h the cell size normal
/// to the face. M is assembled as well. Of graded cells M is that of a mean one, and of the two h at a face that with its K counts. Row and column numbers: see sipg_index().
dealii::FullMatrix<double> assemble_sipg(const Problem &problem, const CellBasis &basis);
/// The same for (K grad u, grad v) + (reaction u, v) + <r u, v> on Robin sides, fluxes of faces the means of both sides and the penalty that of K_d / h; a is
/// problem.coefficient.
dealii::FullMatrix<double> assemble_sipg(
    const Problem &problem, const CellBasis &basis, const CellFunctions &cells);

/// Number of mode (i, j, k) of cell (cx, cy, cz): cells lexicographic, then modes lexicographic.
inline std::int64_t sipg_index(
    const Problem &problem, const std::array<std::int64_t, 3> &cell, const std::array<int, 3> &mode)
{
  const int n = problem.degree + 1, nz = problem.dim == 3 ? n : 1;
  const std::int64_t c = (cell[2] * problem.cells(1) + cell[1]) * problem.cells(0) + cell[0];
  return ((c * nz + mode[2]) * n + mode[1]) * n + mode[0];
}
} // namespace tensormg::test
