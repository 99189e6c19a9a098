// Data of a problem that stand in files: problem.fields.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/parameters/parameters.h"

namespace tensormg
{
/// "name = path, ..."; what is wrong with the text, empty: nothing. A comma of a path is written "\,". No name may be that of
/// a constant, a coordinate or a function.
std::string read_fields(std::map<std::string, FieldSource> &fields,
    const std::map<std::string, double> &constants, const std::string &text);
std::string write_fields(const std::map<std::string, FieldSource> &fields);

/// Opens the files: each name becomes one of problem.functions. A path NAME.json is the description that
/// output.write_npy writes, with NAME.npy beside it; a path NAME.npy an array (n_z, n_y, n_x), in 2D (n_y, n_x), that is constant
/// in each of so many voxels of the problem's box, which then stand in problem.voxels; one of integers becomes the function that has the number
/// of parameters.materials for each of these labels. Throws ParameterError, which names the file.
void load_fields(Parameters &parameters);

/// What the user should know of these files before a solve, as texts of warnings.
std::vector<std::string> warnings_of_fields(const Parameters &parameters);

/// The field whose name stands in the expression beside something else, which it must not; empty if there is none.
std::string misplaced_field(const Parameters &parameters, const std::string &expression);
} // namespace tensormg
