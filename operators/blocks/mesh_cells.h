// Lists of cells from files put right: their plane, their orientation, the faces that they name.
#pragma once

#include <array>
#include <span>

#include "operators/blocks/block_mesh.h"

namespace tensormg
{
/// Whether the cell with these corners is left-handed at each of them. Such a cell becomes right-handed where its first two directions are exchanged.
bool is_mirrored(int dim, std::span<const std::array<double, 3>> corners);

/// Exchanges the first two directions of cells that are mirrored.
void orient_cells(MeshCells &mesh);

/// Sets z of a mesh in 2D to 0. Throws MeshError if vertices of cells have another z than others.
void drop_plane(MeshCells &mesh);

/// Leaves out the faces between two cells, which programs of meshes name where materials meet, and those that are named twice with the same number.
void drop_interior_faces(MeshCells &mesh);
} // namespace tensormg
