// Sparse matrices made by a rule, at any size: the structures that products with sparse matrices meet.
//
// Entries are random numbers away from zero unless the matrix is a discretisation of its own; everything is
// a function of the arguments. Sizes are given as the number of entries that is wanted; the nearest one of
// the family is made.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/diagnostics/sparse/sparse_matrix.h"

namespace tensormg::sparse
{
struct Generator
{
  const char *name;
  const char *about;
  SparseMatrix<double> (*function)(std::int64_t entries, const ForParts &for_parts);
  SparseMatrix<double> make(std::int64_t entries, const ForParts &for_parts = serially) const
  {
    return function(entries, for_parts);
  }
};

/// THE table: poisson5, ..., dg.
std::span<const Generator> generators();

/// A grid with `points` points per direction; each row couples a point with itself and those of its
/// neighbours that exist: at most 5 or 9 in 2D (dim = 2), 7 or 27 in 3D. A box stencil includes corners.
SparseMatrix<double> grid_matrix(
    int dim, bool box, std::int64_t points, const ForParts &for_parts = serially);

/// points^3 nodes of trilinear elements with three displacements each: dense 3 x 3 blocks for the 27
/// neighbours, at most 81 entries per row.
SparseMatrix<double> elasticity_matrix(std::int64_t points, const ForParts &for_parts = serially);

/// length^4 sites of a periodic lattice (length >= 3) with four spins of three colours: the hopping term of
/// the Wilson operator, 39 entries in every row.
SparseMatrix<double> lattice_matrix(std::int64_t length, const ForParts &for_parts = serially);

/// 2^levels rows and columns, `entries` draws of a recursive matrix with the quadrants 0.57, 0.19, 0.19,
/// 0.05; what is drawn twice is one entry. (D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT, SDM 2004.)
SparseMatrix<double> power_law_matrix(
    int levels, std::int64_t entries, const ForParts &for_parts = serially);

/// A circuit: a diagonal, a few couplings nearby, and some nets that reach half and a quarter of all nodes:
/// dense rows and columns.
SparseMatrix<double> circuit_matrix(std::int64_t rows, const ForParts &for_parts = serially);

/// The project's operator on cells^3 unit cells, degree 3, Dirichlet sides: in the basis of
/// kernels/basis/cell_basis.h, cell by cell, modes (k, j, i) within a cell.
SparseMatrix<double> dg_matrix(
    int degree, std::int64_t cells, const ForParts &for_parts = serially);
} // namespace tensormg::sparse
