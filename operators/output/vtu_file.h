// A VTU file of one piece, whatever the mesh is: cells with lattices of points of their own, fields at the points and in the cells.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <mpi.h>

#include "operators/output/vtu_shape.h"

namespace tensormg
{
/// How large the values of a field are.
struct FieldExtent
{
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();

  void add(double value);
  /// Whether single precision shows what double does: the largest value and those down to 2^-24 of it are in its range,
  /// and they do not vary so little, in comparison, that little would be left of how they vary.
  bool fits_single() const;
};

/// What stands in the first lines of every file of a solution.
inline constexpr const char *field_file_mark = "solution written by tensormg";

/// A text as the value of an attribute in XML.
std::string escaped(const std::string &text);

/// A field at points.
struct VtuField
{
  std::string name;
  int components = 1;
  std::array<FieldExtent, 3> extent{}; ///< of each component
  bool in_double = false;

  const char *number_type() const { return in_double ? "Float64" : "Float32"; }
  /// Type, name and components as attributes of an array.
  std::string attributes() const;
  /// By the extents of all ranks, which each then has. `always`: in double whatever these are. Collective.
  void choose_numbers(bool always, MPI_Comm communicator);
};

/// One number per cell.
struct VtuCellField
{
  std::string name;
  std::vector<double> values;
};

struct VtuPiece
{
  /// Calls use(coordinate) for x, y, z of the points of one cell after the other; those of a cell x fastest.
  using EachCoordinate = std::function<void(const std::function<void(double)> &use)>;
  /// Calls use(value, component) for these points, at each for all components.
  using EachValue =
      std::function<void(std::size_t field, const std::function<void(double, int)> &use)>;

  std::int64_t n_cells = 0;
  int points_per_cell = 1;
  VtuShape shape;
  bool converged = true;
  EachCoordinate points;
  std::vector<const VtuField *> fields; ///< the solution first
  EachValue values;
  std::vector<VtuCellField> cell_fields;
};

/// The file. Points are in double precision; where a value is not finite it is NaN.
void write_vtu_piece(std::ostream &out, const VtuPiece &piece);

/// The file that makes one data set of pieces with these fields, at points and in cells, which it names relative to its own folder.
void write_vtu_record(std::ostream &out, const std::vector<const VtuField *> &fields,
    const std::vector<std::string> &cell_fields, const std::vector<std::string> &pieces,
    bool converged);

/// The begin of a file with this kind of data set.
std::string vtu_head(const std::string &type);
/// Not of a point or a cell, but of the whole file: whether the solve has converged.
std::string vtu_field_data(bool converged);
/// The begin of the values at points, of which `shown` is shown first.
std::string vtu_data_begin(const std::string &element, const std::string &shown);
} // namespace tensormg
