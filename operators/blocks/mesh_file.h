// Meshes from files.
#pragma once

#include <string>

#include "operators/blocks/named_mesh.h"

namespace tensormg
{
/// The mesh of a file, each cell a block: .msh of Gmsh (see read_gmsh_file()), .vtk, .inp of Abaqus or of AVS UCD, .ucd (see read_dealii_mesh()).
/// Throws MeshError, with the file and the place in the mesh: the file cannot be read, is empty, cut off or of another kind; its cells are of another
/// dimension or are no quadrilaterals or hexahedra; what make_block_mesh() and check_geometry() refuse.
NamedMesh read_mesh_file(int dim, const std::string &path);
} // namespace tensormg
