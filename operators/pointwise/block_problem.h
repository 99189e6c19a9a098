// A problem on a mesh of blocks: the mesh, its names, and what holds on its boundaries.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operators/blocks/block_geometry.h"
#include "operators/blocks/block_mesh.h"
#include "operators/blocks/named_mesh.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/metric.h"
#include "tensormg/mesh.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// The cell of the mesh that a block is, or is a part of: part[d] of 2^k in each direction, where blocks have been halved k times.
struct BlockOrigin
{
  std::int64_t cell = 0;
  std::array<std::int64_t, 3> part{};
};

/// Values on sides of cells: the modes of a polynomial of the cell that has them there.
using ModesOnSide = std::function<std::vector<double>(
    std::int64_t block, const std::array<std::int64_t, 3> &cell, int side)>;

struct BlockProblem
{
  Problem problem; ///< its sides and its box are those of mapped meshes
  BlockMesh blocks;
  BlockGeometry geometry;
  std::map<int, std::string> boundary_names, material_names; ///< of those that have one
  std::map<int, BoundaryCondition> conditions;               ///< of all boundaries of the mesh
  int mapping_degree = 1;
  bool has_sides = false; ///< boundaries are the sides of a box
  FaceAverage averages = FaceAverage::arithmetic;
  std::vector<BlockOrigin> origins{};       ///< of the blocks
  std::optional<DiffusionTensor> k{};       ///< in place of the problem's
  std::map<int, ModesOnSide> on_boundary{}; ///< in place of the value of a condition

  /// "inlet", or without a name "3".
  std::string boundary_name(int number) const;
  std::string material_name(int number) const;
  /// The boundary with a condition that is meant by its name or its number. Throws std::invalid_argument for one that is not there, or for several.
  int boundary_number(const std::string &name) const;
  /// The parameter with the value on a boundary.
  std::string value_key(int number) const
  {
    return has_sides
        ? std::string("boundary.") + side_names[static_cast<std::size_t>(number)] + "_value"
        : "boundary.conditions";
  }
  std::string robin_key(int number) const
  {
    return has_sides ? std::string("boundary.") + side_names[static_cast<std::size_t>(number)] +
            "_robin_coefficient"
                     : "boundary.conditions";
  }
  bool is_singular() const;
  Side side(int boundary) const
  {
    return conditions.at(boundary).kind == BoundaryKind::dirichlet ? Side::dirichlet
                                                                   : Side::neumann;
  }
};

/// Throws std::invalid_argument, naming a place, if the mesh has several parts and constants on one of them change nothing.
void check_parts(const BlockProblem &problem);

/// Makes the mesh and looks the conditions up. Throws MeshError if it cannot be used, and std::invalid_argument for conditions: a name that
/// no boundary has, two for one boundary, a boundary without one.
BlockProblem make_block_problem(const Problem &problem, const MeshOptions &mesh);
/// The same for a mesh that has been made, with the degree and the conditions of the options.
BlockProblem make_block_problem(const Problem &problem, const MeshOptions &options, NamedMesh mesh);

/// Splits blocks until there are enough for so many ranks (is_too_coarse()), as far as there are refinements, which become fewer, and brings
/// them into the order of a curve. Of one rank nothing changes.
void divide(BlockProblem &problem, int n_ranks);

/// The coefficients of the problem at points. The problem must outlive what is returned.
PointwiseData pointwise_data(const BlockProblem &problem);

/// The levels of the problem, divided among the ranks of a communicator.
BlockLevels::Options level_options(
    const BlockProblem &problem, MPI_Comm communicator = MPI_COMM_SELF);
} // namespace tensormg
