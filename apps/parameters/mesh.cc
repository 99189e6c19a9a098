#include "apps/parameters/mesh.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/parameters/checks.h"
#include "apps/parameters/table.h"
#include "apps/parameters/text.h"
#include "apps/parameters/words.h"

namespace tensormg
{
std::string read_map(std::array<std::string, 3> &map, int dim, const std::string &text)
{
  map = {};
  const std::vector<std::string> parts = split(text, ';');
  if (parts.empty())
    return "";
  if (parts.size() != static_cast<std::size_t>(dim))
    return "has " + std::to_string(parts.size()) + " entries, but problem.dimension is " +
        std::to_string(dim);
  for (std::size_t d = 0; d < parts.size(); ++d)
  {
    if (parts[d].empty())
      return "has an empty entry";
    map[d] = parts[d];
  }
  return "";
}

std::string write_map(const std::array<std::string, 3> &map, int dim)
{
  return map[0].empty() ? "" : join({map.begin(), map.begin() + dim}, "; ");
}

namespace
{
  /// The place of the first comma outside of parentheses, or npos.
  std::size_t first_comma(const std::string &text)
  {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
    {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (text[i] == ',' && depth == 0)
        return i;
    }
    return std::string::npos;
  }

  std::string read_condition(BoundaryCondition &condition, const std::string &text)
  {
    const std::size_t blank = text.find(' ');
    const std::string word = text.substr(0, blank);
    const std::string rest = blank == std::string::npos ? "" : trim(text.substr(blank));
    const auto kind = from_word<BoundaryKind>(word);
    if (!kind)
      return "has the kind '" + cut(word) + "'";
    condition.kind = *kind;
    if (*kind == BoundaryKind::periodic && rest.empty())
      return "has a periodic boundary without its partner";
    if (*kind != BoundaryKind::robin)
    {
      if (!rest.empty())
        condition.value = rest;
      return "";
    }
    const std::size_t comma = first_comma(rest);
    if (comma == std::string::npos)
      return "has a robin boundary without 'r, q'";
    condition.robin_coefficient = trim(rest.substr(0, comma));
    condition.value = trim(rest.substr(comma + 1));
    return "";
  }
} // namespace

std::string read_conditions(
    std::vector<std::pair<std::string, BoundaryCondition>> &conditions, const std::string &text)
{
  conditions.clear();
  for (const std::string &part : split(text, ';'))
  {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos)
      return "has the entry '" + cut(part) + "' without a colon";
    const std::string name = trim(part.substr(0, colon));
    if (name.empty())
      return "has an entry without a name";
    for (const auto &[other, condition] : conditions)
      if (other == name)
        return "has '" + cut(name) + "' twice";
    std::string complaint = read_condition(
        conditions.emplace_back(name, BoundaryCondition()).second, trim(part.substr(colon + 1)));
    if (!complaint.empty())
      return complaint;
  }
  return "";
}

std::string condition_text(const BoundaryCondition &condition)
{
  return to_word(condition.kind) + ' ' +
      (condition.kind == BoundaryKind::robin ? condition.robin_coefficient + ", " : "") +
      condition.value;
}

std::string write_conditions(
    const std::vector<std::pair<std::string, BoundaryCondition>> &conditions)
{
  std::vector<std::string> parts;
  for (const auto &[name, condition] : conditions)
    parts.push_back(name + ": " + condition_text(condition));
  return join(parts, "; ");
}

namespace
{
  bool differs_from_default(const Parameters &p, const std::string &key)
  {
    const ParameterEntry &entry = *find_parameter(key);
    return entry.write(p) != entry.write(Parameters{});
  }

  /// Those of `keys` must be given with one type of mesh and have no meaning with another one.
  void check_keys(const Parameters &p)
  {
    const MeshOptions &mesh = p.mesh;
    const std::vector<std::pair<std::string, MeshType>> keys{{"mesh.map", MeshType::mapped},
        {"mesh.generator", MeshType::generate}, {"mesh.file", MeshType::file}};
    for (const auto &[key, type] : keys)
    {
      const bool is_given = !find_parameter(key)->write(p).empty();
      if (mesh.type == type && !is_given)
        fail_for(p, {"mesh.type", key},
            "a mesh of this type needs it; allowed: " + find_parameter(key)->allowed);
      if (mesh.type != type && is_given)
        fail_for(p, {"mesh.type", key},
            "it has no meaning with this type; allowed: mesh.type = " + to_word(type) + ", or no " +
                key);
    }
    if (!mesh.generator_arguments.empty() && mesh.type != MeshType::generate)
      fail_for(p, {"mesh.type", "mesh.generator_arguments"},
          "only a generator has arguments; allowed: mesh.type = generate, or none");
  }

  void check_conditions(const Parameters &p)
  {
    const bool by_name = p.mesh.type == MeshType::generate || p.mesh.type == MeshType::file;
    if (!by_name && differs_from_default(p, "boundary.conditions"))
      fail_for(p, {"boundary.conditions", "mesh.type"},
          "the sides of a box have conditions of their own; allowed: boundary.left, ..., or mesh.type = generate or file");
    if (!by_name)
      return;
    for (const char *side : side_names)
      for (const char *ending : {"", "_value", "_robin_coefficient"})
        if (const std::string key = std::string("boundary.") + side + ending;
            differs_from_default(p, key))
          fail_for(p, {key, "mesh.type"},
              "this mesh has no such side; allowed: boundary.conditions, as in inlet: dirichlet 1; *: neumann 0");
  }

  void fail_on_blocks(const Parameters &p, const std::string &key, const std::string &why,
      const std::string &allowed)
  {
    fail_for(p, {key, "mesh.type"}, why + "; allowed: " + allowed + ", or mesh.type = box");
  }

  /// What is there for boxes alone.
  void check_choices(const Parameters &p)
  {
    const MultigridOptions &multigrid = p.solver.multigrid;
    if (p.solver.solver == OuterSolver::direct)
      fail_on_blocks(p, "solver.solver", "curved cells have no direct solver", "fgmres or cg");
    if (multigrid.smoother == Smoother::patch)
      fail_on_blocks(
          p, "multigrid.smoother", "curved cells have no patches", "chebyshev or jacobi");
    if (multigrid.coarsening == Coarsening::vertices_and_lines ||
        multigrid.coarsening == Coarsening::fast_diagonalisation)
      fail_on_blocks(p, "multigrid.coarsening",
          "below curved cells there are coarser ones, or their vertices",
          "auto, cells or vertices");
    if (takes_tensor_cores(multigrid.precision))
      fail_on_blocks(p, "multigrid.precision", "curved cells have no kernels for tensor cores",
          "auto, double, single or half");
    if (p.solver.basis_precision == BasisPrecision::single_precision)
      fail_on_blocks(
          p, "solver.basis_precision", "curved cells have a basis in double", "auto or double");
    if (differs_from_default(p, "multigrid.replicated_dofs"))
      fail_on_blocks(p, "multigrid.replicated_dofs",
          "levels of curved cells with at most 20000 unknowns for each rank are computed by every rank",
          "the default");
    if (p.solver.full_multigrid)
      fail_on_blocks(p, "solver.full_multigrid", "curved cells have no full multigrid", "false");
    if (p.backend != "auto" && p.backend != "cpu" && p.backend != "cuda")
      fail_on_blocks(
          p, "operator.backend", "curved cells have no such kernels", "auto, cpu or cuda");
    if (differs_from_default(p, "problem.grading"))
      fail_on_blocks(p, "problem.grading", "the cells of a block are equal on the reference block",
          "no grading (mesh.map can grade)");
    if (!p.materials.empty())
      fail_on_blocks(p, "problem.materials", "it has the numbers of labels of fields",
          "nothing, and a coefficient with the number of the material, as if(material == 1, 50, 0.05)");
    if (p.mesh.averages == FaceAverage::harmonic &&
        p.solver.multigrid.cycle_operator == CycleOperator::cell_mean)
      fail_for(p, {"multigrid.operator", "mesh.averages"},
          "means of cells know arithmetic averages; allowed: auto or true_metric, or averages = arithmetic");
    if (p.output.write_npy)
      fail_on_blocks(p, "output.write_npy", "an array has the cells of a box", "false");
    if (p.output.vtu_coarsening > 0)
      fail_on_blocks(p, "output.vtu_coarsening", "curved cells are written as they are", "0");
    for (const char *key : {"output.vtu_lower", "output.vtu_upper"})
      if (differs_from_default(p, key))
        fail_on_blocks(p, key, "it speaks of a box", "nothing");
  }
} // namespace

void check_mesh(const Parameters &p)
{
  check_keys(p);
  check_conditions(p);
  if (!p.problem.mixed_coefficient[0].empty() && !has_blocks(p))
    fail_for(p, {"problem.coefficient", "mesh.type"},
        "a full tensor needs cells with points; allowed: one entry or one per direction, or another mesh.type, as mapped with "
        "mesh.map = x; y; z");
  if (p.mesh.averages != FaceAverage::arithmetic && !has_blocks(p))
    fail_for(p, {"mesh.averages", "mesh.type"},
        "boxes have arithmetic averages; allowed: arithmetic, or another mesh.type, as mapped with mesh.map = x; y; z");
  if (has_blocks(p))
    return check_choices(p);
  if (p.solver.multigrid.cycle_operator != CycleOperator::automatic)
    fail_for(p, {"multigrid.operator", "mesh.type"},
        "cells of boxes have one metric each; allowed: auto, or another mesh.type");
  if (p.solver.multigrid.relaxation != Relaxation::automatic)
    fail_for(p, {"multigrid.relaxation", "mesh.type"},
        "boxes have multigrid.coarsening in its place; allowed: auto, or another mesh.type");
}
} // namespace tensormg
