// The levels of a mesh of blocks, with all that operators on them need.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/blocks/block_geometry.h"
#include "operators/mesh/grid.h"
#include "operators/pointwise/metric.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// The cells of a block as those of a box with sides of 1: for vectors and transfers.
LevelGrid stacked_grid(const Block &block);

/// Level l has 2^l cells per direction in each block. Numbers of a level are divided by a power of two, with which the largest entry of the
/// diagonal is at most that of equal cubes: half precision holds them.
class BlockLevels
{
public:
  struct Level
  {
    BlockLevel shape;
    LevelGrid grid; ///< of all cells, block by block in x: for vectors and transfers
    PointwiseMetric metric;
    Vector<double> diagonal;
    double scale; ///< A = scale times what the numbers give
  };
  struct Options
  {
    int degree = 3;
    int mapping_degree =
        3; ///< at most the degree; levels below the finest one on which cells fold take 1
    int refinements = 2;
    /// Whether constants are in the kernel; nothing: where no side is Side::dirichlet.
    std::optional<bool> is_singular{};
    std::function<Side(int boundary)> side = [](int) { return Side::dirichlet; };
  };

  /// Throws as PointwiseMetric, for the finest level and where degree 1 folds, too.
  BlockLevels(const BlockMesh &mesh, const BlockGeometry &geometry, const PointwiseData &data,
      const Options &options);
  // Operators point into it.
  BlockLevels(const BlockLevels &) = delete;
  BlockLevels &operator=(const BlockLevels &) = delete;

  const CellBasis &basis() const { return basis_; }
  const laplace::PointTables &tables() const { return tables_; }
  const std::vector<laplace::BlockLink> &links() const { return links_; }
  const std::vector<Level> &levels() const { return levels_; }
  /// No side holds the solution.
  bool is_singular() const { return is_singular_; }

private:
  void add_level(
      const BlockGeometry &geometry, const PointwiseData &data, BlockLevel shape, bool is_coarse);

  CellBasis basis_;
  laplace::PointTables tables_;
  std::vector<laplace::BlockLink> links_;
  std::vector<Level> levels_;
  bool is_singular_ = true;
};
} // namespace tensormg
