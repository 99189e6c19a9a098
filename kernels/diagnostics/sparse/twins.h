// Twins of the published set of 21 matrices: random matrices with the same fingerprints. The matrices
// themselves are not here; where a matrix can be had, read it instead.
#pragma once

#include <span>
#include <string>

#include "kernels/diagnostics/sparse/sparse_matrix.h"

namespace tensormg::sparse
{
struct Twin
{
  const char *name;     ///< of the matrix in the SuiteSparse collection
  Fingerprint original; ///< published features of the matrix
  bool complete; ///< false: only rows, entries and longest row are known, the rest is a relative's
  SparseMatrix<double> (*make)(const Fingerprint &original);
};

/// The set in the order of its publication, by number of entries.
std::span<const Twin> twins();

/// A random matrix with (nearly) these features: exactly as many rows, columns and entries, and the longest
/// row as long. Lengths of the other rows: an exponential decay if the longest row is far from the mean, two
/// values if it is near, otherwise normal; rows of like length come in groups, which are scattered. Columns
/// come in runs within a band around the diagonal, and many of them are those of the row before.
SparseMatrix<double> make_twin(const Fingerprint &original);

/// The lengths of the rows, which add up to original.entries.
Array<std::int32_t> twin_row_lengths(const Fingerprint &original);
} // namespace tensormg::sparse
