// Boundaries of a mesh of blocks that are joined: what leaves through one comes in through the other.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "operators/blocks/block_mesh.h"

namespace tensormg
{
/// Where the points of one boundary are on another one.
using RigidMotion = std::function<std::array<double, 3>(const std::array<double, 3> &)>;

/// The motion that brings each face of boundary `first` to one of `second`: a translation, or a rotation around a coordinate axis (in 2D around the
/// origin). Throws MeshError, with `names` of the two, if there is none.
RigidMotion motion_between(
    const BlockMesh &mesh, int first, int second, const std::array<std::string, 2> &names);

/// Makes the sides of blocks at boundary `first` and those at `second` neighbours. Throws MeshError if a face has no partner.
void join_boundaries(BlockMesh &mesh, int first, int second, const RigidMotion &motion,
    const std::array<std::string, 2> &names);
} // namespace tensormg
