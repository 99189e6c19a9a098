// Which blocks of a mesh are on which rank, and where they meet.
#pragma once

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/blocks/block_geometry.h"
#include "operators/blocks/block_mesh.h"

namespace tensormg
{
/// The first block of each rank, and behind the last one their number: equal parts, as far as that goes.
std::vector<std::int64_t> divide_blocks(std::int64_t n_blocks, int n_ranks);

/// Whether parts of so many blocks are too unequal: fewer than 4 for a rank, or the largest share is more than 1.1 times the mean.
bool is_too_coarse(std::int64_t n_blocks, int n_ranks);

/// The numbers of the blocks in the order of a Morton curve through the middles of their corners: neighbours in it are near each other.
std::vector<std::int64_t> order_along_curve(const BlockMesh &mesh);
/// Block i of the result is block order[i].
BlockMesh reordered(const BlockMesh &mesh, const std::vector<std::int64_t> &order);

/// Every block as 2^dim halves of it, one after the other, bit d of their number being the end in direction d. The polynomials stay the same, and sides
/// keep their boundaries and what they are joined with. The new corners are those of the multilinear block, which only
/// tell where it is.
BlockMesh split_blocks(const BlockMesh &mesh);

/// The sides of a rank's blocks that are joined with blocks of others.
struct SharedSides
{
  struct OwnSide
  {
    std::int64_t block; ///< of the own ones
    int side;
  };
  struct Neighbour
  {
    int rank;
    std::vector<OwnSide> own; ///< in an order that both ranks know; as many are behind them
  };
  MPI_Comm communicator = MPI_COMM_SELF;
  std::vector<Neighbour> neighbours; ///< by rank
  std::int64_t n_sides = 0;          ///< of all neighbours
};

/// The links of the blocks of one rank, which count from its first one; what is elsewhere is remote.
struct OwnLinks
{
  std::vector<laplace::BlockLink> links;
  SharedSides shared;
};
/// `links`: of all blocks. `firsts`: divide_blocks() for the communicator, which must outlive the result.
OwnLinks own_links(int dim, const std::vector<laplace::BlockLink> &links,
    const std::vector<std::int64_t> &firsts, MPI_Comm communicator);
} // namespace tensormg
