// Legacy VTK files as deal.II takes them.
#pragma once

#include <string>

namespace tensormg
{
/// The content of a legacy VTK file of an older version with the header that deal.II expects: what it reads has not changed from version 1 to 4. Throws
/// MeshError for what deal.II does not look at: version 5, which has another list of cells, and binary files; numbers of points and cells that are
/// missing or no numbers; cells that name points which are not there; scalars that CELL_DATA announces and that are not there.
std::string checked_vtk(const std::string &content);
} // namespace tensormg
