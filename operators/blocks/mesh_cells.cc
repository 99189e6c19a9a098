#include "operators/blocks/mesh_cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "operators/data/tensor_rule.h"

namespace tensormg
{
namespace
{
  using SortedFace = std::array<std::int64_t, 4>;

  SortedFace sorted_face(int dim, SortedFace vertices)
  {
    if (dim == 2)
      vertices[2] = vertices[3] = -1;
    std::sort(vertices.begin(), vertices.end());
    return vertices;
  }
} // namespace

bool is_mirrored(int dim, std::span<const std::array<double, 3>> corners)
{
  for (std::size_t v = 0; v < corners.size(); ++v)
  {
    // Edges in the directions of the axes, not away from the corner.
    double edge[3][3] = {{}, {}, {0., 0., 1.}};
    for (int d = 0; d < dim; ++d)
      for (int i = 0; i < dim; ++i)
        edge[d][i] = corners[v | std::size_t{1} << d][i] - corners[v & ~(std::size_t{1} << d)][i];
    double det = 0.;
    for (int i = 0; i < 3; ++i)
      det += edge[0][i] *
          (edge[1][(i + 1) % 3] * edge[2][(i + 2) % 3] -
              edge[1][(i + 2) % 3] * edge[2][(i + 1) % 3]);
    if (!(det < 0.))
      return false;
  }
  return true;
}

void orient_cells(MeshCells &mesh)
{
  const std::size_t n = std::size_t{1} << mesh.dim;
  for (auto &cell : mesh.cells)
  {
    std::array<std::array<double, 3>, 8> corners{};
    for (std::size_t v = 0; v < n; ++v)
      corners[v] = mesh.vertices[static_cast<std::size_t>(cell[v])];
    if (!is_mirrored(mesh.dim, std::span(corners).first(n)))
      continue;
    std::swap(cell[1], cell[2]);
    std::swap(cell[5], cell[6]);
  }
}

void drop_plane(MeshCells &mesh)
{
  if (mesh.dim != 2 || mesh.cells.empty())
    return;
  const auto vertex_of = [&](std::int64_t v) -> std::array<double, 3> & {
    return mesh.vertices[static_cast<std::size_t>(v)];
  };
  const std::array<double, 3> first = vertex_of(mesh.cells[0][0]);
  double size = std::abs(first[2]);
  for (const auto &cell : mesh.cells)
    for (int v = 0; v < 4; ++v)
      for (int d = 0; d < 2; ++d)
        size = std::max(size, std::abs(vertex_of(cell[v])[d] - first[d]));
  for (const auto &cell : mesh.cells)
    for (int v = 0; v < 4; ++v)
      if (const auto &point = vertex_of(cell[v]); std::abs(point[2] - first[2]) > 1e-9 * size)
        throw MeshError("vertices of cells lie at " + point_text(first, 3) + " and at " +
            point_text(point, 3) + ": a mesh in 2D lies in a plane of one z");
  for (auto &vertex : mesh.vertices)
    vertex[2] = 0.;
}

void drop_interior_faces(MeshCells &mesh)
{
  std::map<SortedFace, int> cells_at;
  for (const auto &cell : mesh.cells)
    for (int side = 0; side < 2 * mesh.dim; ++side)
    {
      const auto [a, b] = tangential(side / 2);
      SortedFace face{};
      for (int v = 0; v < 1 << (mesh.dim - 1); ++v)
        face[v] = cell[(side % 2 << side / 2) + (v % 2 << a) + (v / 2 << b)];
      ++cells_at[sorted_face(mesh.dim, face)];
    }
  std::set<std::pair<SortedFace, int>> known;
  std::erase_if(mesh.boundary, [&](const auto &named) {
    const SortedFace face = sorted_face(mesh.dim, named.first);
    const auto entry = cells_at.find(face);
    return (entry != cells_at.end() && entry->second == 2) ||
        !known.emplace(face, named.second).second;
  });
}
} // namespace tensormg
