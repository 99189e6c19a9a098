// What meshes from files may have wrong that their lists of cells do not show.
#pragma once

#include "operators/blocks/block_geometry.h"
#include "operators/blocks/block_mesh.h"

namespace tensormg
{
/// Throws MeshError, with the cell and the place:
///   * det J <= 0 at a Gauss point of a cell (degree + 1 of them in each direction);
///   * the face that two cells share is not one surface, since they are of different degrees or name different nodes;
///   * at a face of boundary 0, the number of faces without a name, another vertex lies in the middle of the face or of one of its edges: a hanging
///     node, whose cell has only a part of that face; or next to a corner, at less than 1e-5 of the shortest edge: two vertices that ought to be one.
void check_geometry(const BlockMesh &mesh, const BlockGeometry &geometry);
} // namespace tensormg
