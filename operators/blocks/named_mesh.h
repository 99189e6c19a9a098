// A mesh of blocks with the shapes of its cells and the names of its parts.
#pragma once

#include <map>
#include <string>

#include "operators/blocks/block_geometry.h"
#include "operators/blocks/block_mesh.h"

namespace tensormg
{
/// What generators and files give.
struct NamedMesh
{
  BlockMesh blocks;
  BlockGeometry geometry;
  /// Names of the numbers of boundaries (BlockSide::boundary) and of materials (BlockMesh::material); numbers without a name are not there.
  std::map<int, std::string> boundary_names{};
  std::map<int, std::string> material_names{};
};
} // namespace tensormg
