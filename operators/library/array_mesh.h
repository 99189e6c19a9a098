// Meshes that a calling program has.
#pragma once

#include "operators/blocks/named_mesh.h"
#include "tensormg/mesh.h"

namespace tensormg
{
/// Each cell a block. Throws std::invalid_argument for arrays of wrong sizes or numbers, naming them, and MeshError as make_block_mesh() and
/// check_geometry().
NamedMesh make_array_mesh(int dim, const MeshArrays &arrays);
} // namespace tensormg
