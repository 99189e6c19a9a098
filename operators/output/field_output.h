// Solution files for ParaView and VisIt.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// What the solution is called in files, and in which units it is.
struct FieldName
{
  std::string name = "u"; ///< not empty
  std::string unit;       ///< empty: none

  /// "temperature [K]", or without a unit the name
  std::string text() const { return unit.empty() ? name : name + " [" + unit + "]"; }
};

struct FieldOutputOptions
{
  FieldName field;
  /// False: a field is in double precision only where single would not show its values.
  bool in_double = false;
  bool gradient =
      false;         ///< "grad NAME", always with three components, of which the last is zero in 2D
  bool flux = false; ///< "flux NAME", -K grad u, in the same way
  /// Stands in the files as the field data `converged`: whoever shows them can tell.
  bool converged = true;
  /// True: one Lagrange cell of the solution's degree per cell (exact; ParaView 5.5 or newer).
  /// False: degree^dim linear cells per cell (any reader; linear between the nodes).
  bool high_order = true;
  /// On all ranks together; more are refused.
  std::int64_t max_cells = std::int64_t(1) << 21;
  /// The cells that have points inside this box are written.
  std::array<double, 3> lower{-unbounded, -unbounded, -unbounded};
  std::array<double, 3> upper{unbounded, unbounded, unbounded};
  static constexpr double unbounded = std::numeric_limits<double>::infinity();
};

/// How many cells of the finest level these are, on all ranks together. Rounding does not count: a cell whose side lies
/// on that of the box, up to 1e-9 of its size, is outside.
std::int64_t n_output_cells(const Grid &grid, const FieldOutputOptions &options);

/// Why the finest level, or the part of it, should not be written, with the numbers and the remedy; nothing if it may.
/// The same answer on all ranks, no communication: the caller asks first, warns and goes on.
std::optional<std::string> refuse_output(const Grid &grid, const FieldOutputOptions &options);

/// The grid with no other cells in y and z on its finest level than those of which the part of the box consists: with the
/// values there write_field_output() writes the same. All cells where it takes the mean of the solution, of singular problems with
/// an exact solution. For a level of one rank.
Grid needed_for_output(const Grid &grid, const FieldOutputOptions &options);

/// The files of a solution on this grid: base + ".vtu", or with several ranks the record base + ".pvtu", which is to be
/// opened, and a piece base + ".RANK.vtu" of each.
std::vector<std::string> field_files(const Grid &grid, const std::string &base);

struct FieldOutput
{
  std::string path;                   ///< to be opened
  std::vector<std::string> in_double; ///< fields that single precision would not show
};

/// Writes the finest level's solution u, or the part of it in the box of the options, to field_files().
///
/// Fields at the (degree + 1)^dim equidistant points of every cell: u, by the name of the options, rank, with an exact
/// solution exact and error = u - exact (means subtracted for singular problems), and as the options ask the gradient of
/// u in the cell and the flux -K grad u. Points are in double precision; a field is in single
/// unless its values leave that range or vary too little in comparison to their size. Where a function is not finite, its value is NaN.
/// Every file is written under a temporary name and renamed when it is complete. Afterwards what an
/// earlier run with another number of ranks has left under `base` is removed.
///
/// Collective over grid.communicator. If a rank cannot write, all ranks throw: that one
/// std::system_error with the path and the system's reason, the others std::runtime_error with the same words.
/// std::invalid_argument if refuse_output() has a reason.
FieldOutput write_field_output(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
    const std::string &base, const FieldOutputOptions &options = {});
} // namespace tensormg
