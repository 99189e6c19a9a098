// Values of a solution along straight lines.
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "operators/data/solution_numbers.h"

namespace tensormg
{
/// Equidistant points of a straight line, with both ends.
struct LineProbe
{
  std::array<double, 3> from{}, to{};
  int n_points = 2;

  std::vector<std::array<double, 3>> points() const;
};

/// How many have no value: they lie outside of the mesh.
std::int64_t count_outside(const std::vector<PointValue> &values);

/// With which every file of write_line() begins.
inline constexpr const char *line_file_mark = "x,y,z,distance,";

/// Text with the columns x, y, z, distance (from the first point), the field, gradient_x, gradient_y, gradient_z; as few digits as give the numbers back; nan where a point lies outside of the mesh, as
/// ParaView writes it. The name of the field stands in quotes if it has a comma or quotes.
void write_line(const std::vector<PointValue> &values, const std::string &field, std::ostream &out);
} // namespace tensormg
