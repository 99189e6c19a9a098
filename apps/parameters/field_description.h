// NAME.json beside an array NAME.npy: what its numbers are.
#pragma once

#include <string>

#include "operators/data/nodal_field.h"
#include "operators/mesh/grid.h"
#include "operators/output/field_output.h"

namespace tensormg
{
struct FieldDescription
{
  NodalLayout layout;
  FieldName field;
  bool converged = true; ///< whether the solve had
};

/// Of the solution on the finest level, as write_nodal_file() writes it.
FieldDescription describe_field(const Grid &grid, const FieldName &field, bool converged);

/// The text of its JSON file, with a description of the layout in words and the version of the program.
std::string description_text(const FieldDescription &description);

/// Whether that is such a file.
bool is_description(const std::string &path);

/// Reads such a file; what it does not know in it plays no part. Throws DataFileError with the path, the entry, what is
/// wrong with it, and what is allowed.
FieldDescription read_description(const std::string &path);

/// The array that belongs to the description: the same path with the ending .npy.
std::string array_of(const std::string &path);
} // namespace tensormg
