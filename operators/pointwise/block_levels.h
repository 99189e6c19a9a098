// The levels of a mesh of blocks, with all that operators on them need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/blocks/block_geometry.h"
#include "operators/division/block_division.h"
#include "operators/division/side_exchange.h"
#include "operators/mesh/grid.h"
#include "operators/pointwise/block_vertices.h"
#include "operators/pointwise/metric.h"
#include "operators/vectors/vector.h"
#include "tensormg/options.h"

namespace tensormg
{
/// The cells of a block as those of a box with sides of 1, on one rank: for vectors and transfers.
LevelGrid stacked_grid(const Block &block);

/// Degrees of the levels with one cell per block, ascending; the last one is that of all finer levels. A degree p is followed by p / 2 as long as the
/// system is too large for a dense solver (DenseLevel::suits) and p > 1.
std::vector<int> degrees_of_blocks(int dim, int degree, std::int64_t n_blocks);

/// Whether the blocks of a level, `whole` being all of them and not the coarsest level, are divided among ranks: it has more than
/// replicated_dofs unknowns for each.
bool are_divided(
    const Block &whole, std::int64_t n_blocks, int n_ranks, std::int64_t replicated_dofs);
inline constexpr std::int64_t replicated_dofs_of_blocks = 20000;

/// The same where all levels have the cells of the finest one: down to 1.
std::vector<int> degrees_on_vertices(int degree);

/// What is below the finest level.
struct BlockCoarsening
{
  bool vertices = false; ///< lower degrees and vertices of the same cells; otherwise coarser cells
  std::string reason;    ///< with the number that decided
};

/// First the levels of degrees_of_blocks(), then those of 2, 4, .. cells per direction in each block. Where the coarsest one is still too large for
/// a dense solver, continuous linear functions on the blocks are below it. Where K jumps between the cells of a block no mean of it on coarser
/// cells says how they are connected: with BlockCoarsening::vertices all levels have the cells of the finest one, with the degrees of degrees_on_vertices(), and
/// continuous linear functions on them are below. Numbers of a level are divided by a power of two, with which the
/// largest entry of the diagonal is at most that of equal cubes: half precision holds them.
class BlockLevels
{
public:
  static constexpr double most_jump_in_blocks = 10.;

  struct Level
  {
    BlockLevel shape;
    LevelGrid grid; ///< of all cells, block by block in x: for vectors and transfers
    CellBasis basis;
    laplace::PointTables tables;
    PointwiseMetric metric;
    Vector<double> diagonal;
    double scale;                                 ///< A = scale times what the numbers give
    const std::vector<laplace::BlockLink> *links; ///< of its blocks
    const SharedSides *shared; ///< nullptr: all blocks are on this rank, as on each
    bool is_held_by_half; ///< laplace::holds_in_half() of the metric at points, here on this rank

    /// All cells are affine with one K each: there are no numbers at points (PointwiseMetric::means()).
    bool has_one_metric_per_cell() const { return metric.means() != nullptr; }

    /// Numbers at the sides of other ranks' blocks, n points per direction of a side of a cell.
    template <typename C>
    SideExchange<C> make_exchange(int n, int count) const
    {
      static const SharedSides none;
      return {shared != nullptr ? *shared : none, grid.block.dim, shape.per_direction, n, count};
    }
  };
  struct Options
  {
    int degree = 3;
    /// At most that of a level; levels below the finest one on which cells fold take 1.
    int mapping_degree = 3;
    int refinements = 2;
    /// automatic: vertices where K of neighbours in a block differs by more than most_jump_in_blocks.
    Coarsening coarsening = Coarsening::cells;
    bool has_room_for_vertices = true; ///< otherwise automatic takes cells
    /// Whether constants are in the kernel; nothing: where no side is Side::dirichlet.
    std::optional<bool> is_singular{};
    std::function<Side(int boundary)> side = [](int) { return Side::dirichlet; };
    /// Each rank has a part of the blocks (divide_blocks()) where are_divided(); on other levels every rank has all and computes the same.
    MPI_Comm communicator = MPI_COMM_SELF;
    std::int64_t replicated_dofs = replicated_dofs_of_blocks;
  };

  /// Collective. Throws as PointwiseMetric, for the finest level and where degree 1 folds, too; std::invalid_argument for a coarsening that is neither automatic
  /// nor cells nor vertices.
  BlockLevels(const BlockMesh &mesh, const BlockGeometry &geometry, const PointwiseData &data,
      const Options &options);
  // Operators point into it.
  BlockLevels(const BlockLevels &) = delete;
  BlockLevels &operator=(const BlockLevels &) = delete;

  /// Of the finest level.
  const CellBasis &basis() const { return levels_.back().basis; }
  const laplace::PointTables &tables() const { return levels_.back().tables; }
  /// Of all blocks of the mesh.
  const std::vector<laplace::BlockLink> &links() const { return links_; }
  bool is_distributed() const { return levels_.back().shared != nullptr; }
  /// Whether a level with all these blocks is divided among ranks, unless it is one that must not be.
  bool may_divide(const Block &whole) const
  {
    return are_divided(whole, std::ssize(links_) / (2 * whole.dim), n_ranks_, replicated_dofs_);
  }
  /// Over which sums of the cells of the finest level go.
  MPI_Comm communicator() const { return levels_.back().grid.communicator; }
  MPI_Comm all_ranks() const { return communicator_; }
  const std::vector<Level> &levels() const { return levels_; }
  const BlockCoarsening &coarsening() const { return coarsening_; }
  FaceAverage averages() const { return averages_; }
  /// No side holds the solution.
  bool is_singular() const { return is_singular_; }
  /// Those of the space below level 0; nullptr where a dense solver takes level 0.
  const BlockVertices *vertices() const { return vertices_ ? &*vertices_ : nullptr; }
  /// What is on the cells of the coarsest level: "degrees 3, 1 and 1234 vertices, sparse direct solver".
  std::string coarse_text() const;
  /// Throws std::invalid_argument where reaction and Robin coefficients, which alone could hold the solution, are zero everywhere. Collective.
  void check_held() const;

private:
  void divide(const BlockMesh &mesh);
  /// What is asked of a level.
  struct Wish
  {
    int degree;
    BlockLevel shape;
    bool is_coarse;      ///< not the finest one
    bool may_be_divided; ///< among ranks
  };
  Level make_level_that_may_fold(
      const BlockGeometry &geometry, const PointwiseData &data, Wish wish) const;
  Level make_level(const BlockGeometry &geometry, const PointwiseData &data, Wish wish) const;
  void choose_coarsening(const Level &finest, const Options &options);
  void add_coarse_levels(
      const BlockGeometry &geometry, const PointwiseData &data, const Options &options);

  std::vector<laplace::BlockLink> links_;
  MPI_Comm communicator_;
  int n_ranks_ = 1;
  std::int64_t replicated_dofs_;
  std::optional<OwnLinks> own_;        ///< of several ranks
  std::int64_t first_ = 0, count_ = 0; ///< of the own ones, likewise
  bool are_affine_;                    ///< all cells
  BlockCoarsening coarsening_;
  std::vector<Level> levels_;
  std::optional<BlockVertices> vertices_;
  bool is_singular_ = true;
  FaceAverage averages_;
};
} // namespace tensormg
