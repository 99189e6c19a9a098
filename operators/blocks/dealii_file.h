// Meshes from files that deal.II reads.
#pragma once

#include <string>

#include "operators/blocks/named_mesh.h"

namespace tensormg
{
enum class MeshFormat
{
  vtk,    ///< legacy VTK, ASCII
  abaqus, ///< .inp with keywords
  ucd     ///< .inp or .ucd of AVS
};

/// The mesh in the content of a file by dealii::GridIn, with its numbers of materials and boundaries, of straight cells. In 2D the mesh lies in a plane of one z. Cells that
/// are left-handed are read in another order. Throws MeshError if deal.II does not read it, or the mesh cannot be used.
NamedMesh read_dealii_mesh(int dim, MeshFormat format, const std::string &content);
} // namespace tensormg
