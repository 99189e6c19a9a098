// The mesh of the benchmarks of curved cells: a cube whose inner points are moved by sines.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

#include "operators/pointwise/block_levels.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Both ends of a function linear in a cell of a direction.
using CurvedLines = std::function<std::array<double, 2>(int direction, std::int64_t cell)>;
/// About as many blocks as give so many unknowns.
inline std::int64_t blocks_per_direction(int degree, int refinements, std::int64_t dofs)
{
  const double cells = std::cbrt(static_cast<double>(dofs)) / (degree + 1);
  return std::max<std::int64_t>(1, std::llround(cells / (1 << refinements)));
}

/// Moves all inner points of the unit cube; cells stay far from folding.
inline std::array<double, 3> moved_point(const std::array<double, 3> &x)
{
  const double bump = 0.05 * std::sin(2. * std::numbers::pi * x[0]) *
      std::sin(2. * std::numbers::pi * x[1]) * std::sin(2. * std::numbers::pi * x[2]);
  return {x[0] + bump, x[1] + bump, x[2] - bump};
}

/// The mesh and what is computed on it.
class CurvedCube
{
public:
  /// Of 2^refinements cells per direction in each of blocks^3 blocks.
  CurvedCube(int degree, std::int64_t blocks, int refinements)
    : blocks_(blocks)
    , refinements_(refinements)
    , mesh_(make_block_mesh(box_cells(3, {blocks, blocks, blocks}, {0., 0., 0.}, {1., 1., 1.})))
    , levels_(mesh_, BlockGeometry(mesh_).moved([](std::vector<std::array<double, 3>> &points) {
      std::transform(points.begin(), points.end(), points.begin(), moved_point);
    }),
          PointwiseData(DiffusionTensor::constant({1., 1., 1., 0., 0., 0.})),
          options_of(degree, refinements))
  {}

  const BlockLevels &levels() const { return levels_; }
  const BlockLevels::Level &finest() const { return levels_.levels().back(); }
  std::int64_t cells() const { return blocks_ << refinements_; }

  /// Modes of the product of lines.
  Vector<double> modes_of(const CurvedLines &lines) const
  {
    const BlockLevels::Level &level = finest();
    const Block &block = level.grid.block;
    Vector<double> result(block);
    const std::int64_t per_block = level.shape.per_direction;
    for (std::int64_t b = 0; b < mesh_.n_blocks(); ++b)
      for (std::int64_t c = 0; c < per_block * per_block * per_block; ++c)
      {
        const std::array<std::int64_t, 3> inside{
            c % per_block, c / per_block % per_block, c / (per_block * per_block)};
        const std::array<std::int64_t, 3> of_block{
            b % blocks_, b / blocks_ % blocks_, b / (blocks_ * blocks_)};
        std::array<std::array<double, max_n>, 3> modes{};
        for (int d = 0; d < 3; ++d)
          modes[d] = modes_of_line(level.basis, lines(d, of_block[d] * per_block + inside[d]));
        for (int k = 0; k < block.n; ++k)
          for (int j = 0; j < block.n; ++j)
            for (int i = 0; i < block.n; ++i)
              result[block.index(b * per_block + inside[0], inside[1], inside[2], i, j, k)] =
                  modes[0][i] * modes[1][j] * modes[2][k];
      }
    return result;
  }

private:
  static BlockLevels::Options options_of(int degree, int refinements)
  {
    BlockLevels::Options options;
    options.degree = options.mapping_degree = degree;
    options.refinements = refinements;
    return options;
  }
  static std::array<double, max_n> modes_of_line(
      const CellBasis &basis, const std::array<double, 2> &ends)
  {
    std::array<double, max_n> modes{};
    for (int i = 0; i < basis.n; ++i)
      modes[i] = 0.5 * (ends[0] + ends[1]) * basis.legendre[i] +
          0.5 / std::numbers::sqrt3 * (ends[1] - ends[0]) * basis.legendre[basis.n + i];
    return modes;
  }

  std::int64_t blocks_;
  int refinements_;
  BlockMesh mesh_;
  BlockLevels levels_;
};
} // namespace tensormg
