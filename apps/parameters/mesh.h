// The mesh of a problem in parameter files: reading, writing, and what cannot be combined with curved cells.
#pragma once

#include <string>

#include "apps/parameters/parameters.h"

namespace tensormg
{
/// One expression per direction, separated by semicolons; or nothing.
std::string read_map(std::array<std::string, 3> &map, int dim, const std::string &text);
std::string write_map(const std::array<std::string, 3> &map, int dim);

/// "inlet: dirichlet 1 + y; wall: neumann 0; outlet: robin 5, 300; *: dirichlet 0": names, kinds and expressions.
std::string read_conditions(
    std::vector<std::pair<std::string, BoundaryCondition>> &conditions, const std::string &text);
/// Of one of them, without its name.
std::string condition_text(const BoundaryCondition &condition);
std::string write_conditions(
    const std::vector<std::pair<std::string, BoundaryCondition>> &conditions);

/// Whether the cells are those of a mesh of blocks, and not of a box.
inline bool has_blocks(const Parameters &p) { return p.mesh.type != MeshType::box; }

/// solver.restart where nobody has set it: hard meshes take more iterations than boxes, and a basis is little beside the metric.
inline constexpr int restart_on_blocks = 30;

/// Throws ParameterError for parameters that a mesh of this type does not have or cannot be solved with.
void check_mesh(const Parameters &p);
} // namespace tensormg
