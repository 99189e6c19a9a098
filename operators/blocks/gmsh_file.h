// Meshes from files of Gmsh.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "operators/blocks/named_mesh.h"

namespace tensormg
{
/// The mesh of a .msh file: versions 1, 2.2, 4.0 and 4.1, ASCII and binary. Cells are quadrilaterals (hexahedra in 3D) of any order that Gmsh has; the
/// geometry has the highest of the file. Physical groups of cells are the materials, those of their faces the boundaries: numbers are tags, names are
/// those of the groups. Cells and faces in no group have 0. Groups that name faces between two cells are not looked at. In 2D the mesh lies in a plane of
/// one z. Cells that are left-handed are read in another order. Throws MeshError if the mesh cannot be used, with the element and the place, or Gmsh takes
/// fewer elements than n_elements from it.
NamedMesh read_gmsh_file(
    int dim, const std::string &path, const std::optional<std::size_t> &n_elements = {});
} // namespace tensormg
