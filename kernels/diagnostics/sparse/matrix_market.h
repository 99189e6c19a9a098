// Reads sparse matrices from Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html).
#pragma once

#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/diagnostics/sparse/sparse_matrix.h"

namespace tensormg::sparse
{
/// A file that cannot be used. what() is "FILE:LINE: ..." with what was found and what is allowed.
class MatrixMarketError : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/// What a matrix may take in memory, and what its owner will need for it on top of it.
struct Room
{
  double bytes = std::numeric_limits<double>::infinity(); ///< that there are
  // Bytes beside the matrix, for vectors and copies.
  double per_row = 0., per_column = 0., per_entry = 0.;
  /// Rows or columns for each entry of the file, beyond a million of them.
  double most_sizes_per_entry = std::numeric_limits<double>::infinity();
};

/// The matrix of a file
///   %%MatrixMarket matrix coordinate FIELD SYMMETRY
///   % comments
///   ROWS COLUMNS ENTRIES
///   ROW COLUMN [VALUE]         counted from 1, one line per entry
/// with FIELD real, double (the same), integer or pattern (all entries are 1) and SYMMETRY general, symmetric or
/// skew-symmetric (only the lower triangle is stored; if skew, its diagonal may only have zeros). Words may be in any
/// case; empty lines may stand between entries, comments there and behind what a line holds. Exponents may be as in Fortran, 1d0 and
/// 1D+3. A byte order mark is skipped. Entries that are given twice are added.
///
/// Everything else is refused with a MatrixMarketError: compressed files; other objects, formats, fields and symmetries;
/// numbers that are none, that are not finite or do not fit; indices outside the matrix; entries above the
/// diagonal where there may be none; too few or too many entries; more than sparse::max_size rows or entries.
/// Sizes are not believed: entries must fit into the rest of the file, and everything into `room`, before memory is taken.
SparseMatrix<double> read_matrix_market(const std::filesystem::path &file, const Room &room = {});

/// The same of a text; `name` stands for the file in messages.
SparseMatrix<double> parse_matrix_market(
    std::string_view text, const std::string &name, const Room &room = {});
} // namespace tensormg::sparse
