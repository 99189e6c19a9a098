// A coarse mesh of quadrilaterals or hexahedra, each of which is refined to a block of cells.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/face_map.h"

namespace tensormg
{
/// What is wrong with a mesh, and where.
class MeshError : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/// Cells as lists of vertices; vertex v of a cell is its corner with bit d of v in direction d, side 2 d + s of a cell its end s in direction d
/// (deal.II's numbering).
struct MeshCells
{
  int dim = 3;
  std::vector<std::array<double, 3>> vertices;
  std::vector<std::array<std::int64_t, 8>> cells; ///< in 2D four of them
  std::vector<int> material;                      ///< by cell; empty: 0
  /// Vertices of a face at the boundary, in any order (in 2D two of them), and the number of the boundary. Faces that nobody names have 0.
  std::vector<std::pair<std::array<std::int64_t, 4>, int>> boundary;
};

/// What lies behind a side of a block.
struct BlockSide
{
  int neighbour = -1; ///< a block, or -1: the boundary
  int side = 0;       ///< of the neighbour
  FaceMap map;        ///< from places of this side to those of the neighbour's
  int boundary = 0;   ///< the number of the boundary
};

/// A conforming mesh of blocks.
struct BlockMesh
{
  int dim = 3;
  std::vector<std::array<std::array<double, 3>, 8>> corners; ///< by block
  std::vector<int> material;
  std::vector<std::array<BlockSide, 6>> sides;

  std::int64_t n_blocks() const { return static_cast<std::int64_t>(corners.size()); }
};

/// Equal cells of a box; the boundary of side s has number s.
MeshCells box_cells(int dim, const std::array<std::int64_t, 3> &cells,
    const std::array<double, 3> &lower, const std::array<double, 3> &upper);

/// Finds the neighbours. Throws MeshError: a cell names a vertex that is not there or one vertex twice; vertices that lie at one place; more than two cells
/// have one face; a face at the boundary that is named is none, or is named twice; a cell that is inverted or flat at a corner, whose vertices then are in another order
/// than said.
BlockMesh make_block_mesh(const MeshCells &mesh);
} // namespace tensormg
