// Reads sparse matrices from Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html).
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "operators/sparse/sparse_matrix.h"

namespace tensormg::sparse
{
/// A file that cannot be used. what() is "FILE:LINE: ..." with what was found and what is allowed.
class MatrixMarketError : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/// The matrix of a file
///   %%MatrixMarket matrix coordinate FIELD SYMMETRY
///   % comments
///   ROWS COLUMNS ENTRIES
///   ROW COLUMN [VALUE]         counted from 1, one line per entry
/// with FIELD real, integer or pattern (all entries are 1) and SYMMETRY general, symmetric or
/// skew-symmetric (only the lower triangle is stored, without the diagonal if skew). Words may be in any
/// case; empty lines and comments may stand between entries. Entries that are given twice are added.
///
/// Everything else is refused with a MatrixMarketError: other objects, formats, fields and symmetries;
/// numbers that are none, that are not finite or do not fit; indices outside the matrix; entries above the
/// diagonal where there may be none; too few or too many entries; more than sparse::max_size rows or entries.
SparseMatrix<double> read_matrix_market(const std::filesystem::path &file);

/// The same of a text; `name` stands for the file in messages.
SparseMatrix<double> parse_matrix_market(std::string_view text, const std::string &name);
} // namespace tensormg::sparse
