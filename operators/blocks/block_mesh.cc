#include "operators/blocks/block_mesh.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "operators/data/tensor_rule.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;
  using FaceKey = std::array<std::int64_t, 4>; ///< sorted vertices

  class Builder
  {
  public:
    explicit Builder(const MeshCells &mesh)
      : mesh_(mesh)
      , corners_(1 << mesh.dim)
    {}

    BlockMesh build()
    {
      if (mesh_.cells.empty())
        throw MeshError("the mesh has no cells");
      check_vertices();
      result_.dim = mesh_.dim;
      for (std::size_t c = 0; c < mesh_.cells.size(); ++c)
        add_cell(c);
      name_boundaries();
      return std::move(result_);
    }

  private:
    const Point &vertex(std::size_t c, int corner) const
    {
      return mesh_.vertices[static_cast<std::size_t>(mesh_.cells[c][corner])];
    }
    std::string name_of(std::size_t c) const
    {
      Point middle{};
      for (int v = 0; v < corners_; ++v)
        for (int d = 0; d < 3; ++d)
          middle[d] += vertex(c, v)[d] / corners_;
      return "cell " + std::to_string(c) + " at " + point_text(middle, mesh_.dim);
    }

    /// The vertices of a side: number a + 2 b by their places in the tangential directions.
    std::array<std::int64_t, 4> vertices_of(std::size_t c, int side) const
    {
      const auto [a, b] = tangential(side / 2);
      std::array<std::int64_t, 4> result{-1, -1, -1, -1};
      for (int v = 0; v < (mesh_.dim == 3 ? 4 : 2); ++v)
      {
        const int corner = (side % 2 << side / 2) + (v % 2 << a) + (v / 2 << b);
        result[v] = mesh_.cells[c][corner];
      }
      return result;
    }
    static FaceKey key_of(std::array<std::int64_t, 4> vertices)
    {
      std::sort(vertices.begin(), vertices.end());
      return vertices;
    }

    void check_vertices() const
    {
      for (std::size_t c = 0; c < mesh_.cells.size(); ++c)
        for (int v = 0; v < corners_; ++v)
        {
          const std::int64_t number = mesh_.cells[c][v];
          if (number < 0 || number >= std::ssize(mesh_.vertices))
            throw MeshError("cell " + std::to_string(c) + " names vertex " +
                std::to_string(number) + "; there are " + std::to_string(mesh_.vertices.size()));
          for (int w = 0; w < v; ++w)
            if (mesh_.cells[c][w] == number)
              throw MeshError("cell " + std::to_string(c) + " names vertex " +
                  std::to_string(number) + " twice: it is no " +
                  (mesh_.dim == 3 ? "hexahedron" : "quadrilateral"));
        }
      for (const Point &p : mesh_.vertices)
        if (!std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2]))
          throw MeshError("a vertex has coordinates that are infinite or not a number");
      check_distinct();
    }

    /// Vertices of cells that lie at one place would part the mesh there.
    void check_distinct() const
    {
      std::map<Point, std::int64_t> known;
      std::vector<bool> used(mesh_.vertices.size(), false);
      for (const auto &cell : mesh_.cells)
        for (int v = 0; v < corners_; ++v)
          used[static_cast<std::size_t>(cell[v])] = true;
      for (std::size_t v = 0; v < used.size(); ++v)
        if (used[v])
          if (const auto [other, is_new] =
                  known.emplace(mesh_.vertices[v], static_cast<std::int64_t>(v));
              !is_new)
            throw MeshError("vertices " + std::to_string(other->second) + " and " +
                std::to_string(v) + " lie both at " + point_text(mesh_.vertices[v], mesh_.dim) +
                ": cells that meet there must share one");
    }

    /// det of the edges at each corner must be positive, and of a size that is no rounding.
    void check_shape(std::size_t c) const
    {
      constexpr double least = 1e-10;
      for (int v = 0; v < corners_; ++v)
      {
        double edge[3][3] = {}, sizes = 1.;
        for (int d = 0; d < mesh_.dim; ++d)
        {
          const Point &from = vertex(c, v & ~(1 << d)), &to = vertex(c, v | 1 << d);
          double square = 0.;
          for (int i = 0; i < mesh_.dim; ++i)
          {
            edge[d][i] = to[i] - from[i];
            square += edge[d][i] * edge[d][i];
          }
          sizes *= std::sqrt(square);
        }
        if (mesh_.dim == 2)
          edge[2][2] = 1.;
        double det = 0.;
        for (int i = 0; i < 3; ++i)
          det += edge[0][i] *
              (edge[1][(i + 1) % 3] * edge[2][(i + 2) % 3] -
                  edge[1][(i + 2) % 3] * edge[2][(i + 1) % 3]);
        if (!(det > least * sizes))
          throw MeshError(name_of(c) + (det < 0. ? " is inverted" : " is flat") +
              " at its corner " + point_text(vertex(c, v), mesh_.dim) + ": det J is " +
              number_text(det) + "; allowed: det J > 0 at all corners");
      }
    }

    void add_cell(std::size_t c)
    {
      check_shape(c);
      std::array<Point, 8> corners{};
      for (int v = 0; v < corners_; ++v)
        corners[v] = vertex(c, v);
      result_.corners.push_back(corners);
      result_.material.push_back(mesh_.material.empty() ? 0 : mesh_.material[c]);
      result_.sides.emplace_back();
      for (int side = 0; side < 2 * mesh_.dim; ++side)
        add_side(c, side);
    }

    void add_side(std::size_t c, int side)
    {
      const auto key = key_of(vertices_of(c, side));
      const auto [entry, is_new] = faces_.emplace(key, Owner{c, side, true});
      if (is_new)
        return;
      Owner &owner = entry->second;
      if (!owner.is_alone)
        throw MeshError(
            name_of(c) + " shares a face with two others, one of them " + name_of(owner.cell));
      owner.is_alone = false;
      connect(owner.cell, owner.side, c, side);
      connect(c, side, owner.cell, owner.side);
    }

    void connect(std::size_t c, int side, std::size_t other, int other_side)
    {
      const auto here = vertices_of(c, side), there = vertices_of(other, other_side);
      for (int number = 0; number < n_face_maps(mesh_.dim); ++number)
      {
        const FaceMap map = face_map(number);
        bool fits = true;
        for (int v = 0; v < (mesh_.dim == 3 ? 4 : 2); ++v)
        {
          const auto to = map(v % 2, v / 2, 2, mesh_.dim == 3 ? 2 : 1);
          fits = fits && here[v] == there[static_cast<std::size_t>(to[0] + 2 * to[1])];
        }
        if (fits)
        {
          result_.sides[c][side] = {static_cast<int>(other), other_side, map, 0};
          return;
        }
      }
      throw MeshError(name_of(c) + " and " + name_of(other) +
          " share the vertices of a face, but not its edges");
    }

    void name_boundaries()
    {
      for (const auto &[vertices, number] : mesh_.boundary)
      {
        auto key = vertices;
        if (mesh_.dim == 2)
          key[2] = key[3] = -1;
        const auto entry = faces_.find(key_of(key));
        const auto where = [&] {
          const std::int64_t first = vertices[0];
          return first >= 0 && first < std::ssize(mesh_.vertices)
              ? " at " + point_text(mesh_.vertices[static_cast<std::size_t>(first)], mesh_.dim)
              : std::string();
        };
        if (entry == faces_.end())
          throw MeshError(
              "a face of boundary " + std::to_string(number) + where() + " is a face of no cell");
        if (!entry->second.is_alone)
          throw MeshError(
              "a face of boundary " + std::to_string(number) + where() + " lies between two cells");
        if (entry->second.boundary)
          throw MeshError("a face" + where() + " is named twice, as boundary " +
              std::to_string(*entry->second.boundary) + " and " + std::to_string(number));
        entry->second.boundary = number;
        result_.sides[entry->second.cell][entry->second.side].boundary = number;
      }
    }

    struct Owner
    {
      std::size_t cell;
      int side;
      bool is_alone;
      std::optional<int> boundary{};
    };

    const MeshCells &mesh_;
    int corners_;
    BlockMesh result_;
    std::map<FaceKey, Owner> faces_;
  };
} // namespace

MeshCells box_cells(int dim, const std::array<std::int64_t, 3> &cells,
    const std::array<double, 3> &lower, const std::array<double, 3> &upper)
{
  MeshCells mesh;
  mesh.dim = dim;
  const std::int64_t nz = dim == 3 ? cells[2] : 0;
  const auto vertex = [&](const std::array<std::int64_t, 3> &at) {
    return at[0] + (cells[0] + 1) * (at[1] + (cells[1] + 1) * at[2]);
  };
  for (std::int64_t z = 0; z <= nz; ++z)
    for (std::int64_t y = 0; y <= cells[1]; ++y)
      for (std::int64_t x = 0; x <= cells[0]; ++x)
      {
        const std::array<std::int64_t, 3> at{x, y, z};
        auto &point = mesh.vertices.emplace_back();
        for (int d = 0; d < dim; ++d)
          point[d] = lower[d] +
              (upper[d] - lower[d]) * static_cast<double>(at[d]) / static_cast<double>(cells[d]);
      }
  for (std::int64_t z = 0; z < std::max(nz, std::int64_t{1}); ++z)
    for (std::int64_t y = 0; y < cells[1]; ++y)
      for (std::int64_t x = 0; x < cells[0]; ++x)
      {
        const std::array<std::int64_t, 3> at{x, y, z};
        const auto corner = [&](int v) {
          return vertex({x + (v & 1), y + (v >> 1 & 1), z + (v >> 2 & 1)});
        };
        auto &cell = mesh.cells.emplace_back();
        for (int v = 0; v < 1 << dim; ++v)
          cell[v] = corner(v);
        for (int side = 0; side < 2 * dim; ++side)
        {
          const int d = side / 2;
          if (at[d] != (side % 2 == 0 ? 0 : cells[d] - 1))
            continue;
          const auto [a, b] = tangential(d);
          std::array<std::int64_t, 4> face{};
          for (int v = 0; v < 1 << (dim - 1); ++v)
            face[v] = corner((side % 2 << d) + (v % 2 << a) + (v / 2 << b));
          mesh.boundary.emplace_back(face, side);
        }
      }
  return mesh;
}

BlockMesh make_block_mesh(const MeshCells &mesh) { return Builder(mesh).build(); }
} // namespace tensormg
