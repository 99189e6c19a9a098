// Whether a file of Gmsh is whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tensormg
{
/// How many elements the content of a .msh file says that it has; nothing in binary files of version 4, where a program has counted. Throws MeshError if it
/// does not begin as such a file, lacks nodes or elements, or has a section without an end. Gmsh takes a file that does not begin as a mesh for a program,
/// and reads what there is of a file that is cut off.
std::optional<std::size_t> check_gmsh_sections(const std::string &content);
} // namespace tensormg
