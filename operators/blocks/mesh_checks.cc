#include "operators/blocks/mesh_checks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <deal.II/base/quadrature_lib.h>

#include "operators/data/tensor_rule.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  using Place = BlockGeometry::Point;

  double distance(const Place &p, const Place &q)
  {
    return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
  }

  std::string cell_text(const BlockMesh &mesh, std::int64_t block)
  {
    Place middle{};
    const int n = 1 << mesh.dim;
    for (int v = 0; v < n; ++v)
      for (int d = 0; d < 3; ++d)
        middle[d] += mesh.corners[block][v][d] / n;
    return "cell " + std::to_string(block) + " at " + point_text(middle, mesh.dim);
  }

  double shortest_edge(const BlockMesh &mesh, std::int64_t block)
  {
    const auto &corners = mesh.corners[block];
    double shortest = HUGE_VAL;
    for (int v = 0; v < 1 << mesh.dim; ++v)
      for (int d = 0; d < mesh.dim; ++d)
        if ((v >> d & 1) == 0)
          shortest = std::min(shortest, distance(corners[v], corners[v | 1 << d]));
    return shortest;
  }

  /// Points of a side at these coordinates in both tangential directions, the lower of which is the faster.
  std::vector<Place> side_points(const BlockGeometry &geometry, std::int64_t block, int side,
      const std::vector<double> &coordinates)
  {
    std::array<std::vector<double>, 3> all{coordinates, coordinates, coordinates};
    all[side / 2] = {double(side % 2)};
    return geometry.points(block, all);
  }

  void check_folds(const BlockMesh &mesh, const BlockGeometry &geometry)
  {
    const int dim = mesh.dim;
    const dealii::QGauss<1> rule(static_cast<unsigned>(geometry.degree()) + 1);
    std::vector<double> points;
    for (const auto &point : rule.get_points())
      points.push_back(point[0]);
    const auto nodes = lobatto_nodes(geometry.degree());
    const auto values = lagrange_values(nodes, points),
               derivatives = lagrange_derivatives(nodes, points);
    for (std::int64_t b = 0; b < mesh.n_blocks(); ++b)
    {
      std::array<std::vector<Place>, 3> j; // dx / dxi_a
      for (int a = 0; a < dim; ++a)
      {
        std::array<const std::vector<double> *, 3> matrices{&values, &values, &values};
        matrices[a] = &derivatives;
        j[a] = geometry.points(b, matrices);
      }
      if (dim == 2)
        j[2].assign(j[0].size(), {0., 0., 1.});
      for (std::size_t q = 0; q < j[0].size(); ++q)
      {
        double det = 0.;
        for (int i = 0; i < 3; ++i)
          det += j[0][q][i] *
              (j[1][q][(i + 1) % 3] * j[2][q][(i + 2) % 3] -
                  j[1][q][(i + 2) % 3] * j[2][q][(i + 1) % 3]);
        if (!(det > 0.))
          throw MeshError(cell_text(mesh, b) + " is folded at " +
              point_text(geometry.points(b, {&values, &values, &values})[q], dim) + ": det J is " +
              number_text(det) + "; allowed: det J > 0 at all Gauss points of a cell");
      }
    }
  }

  void check_shared_faces(const BlockMesh &mesh, const BlockGeometry &geometry)
  {
    const auto nodes = lobatto_nodes(geometry.degree());
    const std::int64_t n = std::ssize(nodes), nb = mesh.dim == 3 ? n : 1;
    for (std::int64_t block = 0; block < mesh.n_blocks(); ++block)
      for (int side = 0; side < 2 * mesh.dim; ++side)
      {
        const BlockSide &other = mesh.sides[block][side];
        if (other.neighbour < block) // also where there is none
          continue;
        const auto here = side_points(geometry, block, side, nodes),
                   there = side_points(geometry, other.neighbour, other.side, nodes);
        const double tolerance = 1e-6 * shortest_edge(mesh, block);
        for (std::int64_t b = 0; b < nb; ++b)
          for (std::int64_t a = 0; a < n; ++a)
          {
            const auto to = other.map(a, b, n, nb);
            const Place &p = here[a + n * b], &q = there[to[0] + n * to[1]];
            if (!(distance(p, q) <= tolerance))
              throw MeshError(cell_text(mesh, block) + " and " + cell_text(mesh, other.neighbour) +
                  " share a face that is not one surface: " + point_text(p, mesh.dim) + " and " +
                  point_text(q, mesh.dim) + " ought to be one point");
          }
      }
  }

  /// Finds vertices by where they are.
  class Vertices
  {
  public:
    explicit Vertices(const BlockMesh &mesh)
      : dim_(mesh.dim)
    {
      Place lower{HUGE_VAL, HUGE_VAL, HUGE_VAL}, upper{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
      for (const auto &corners : mesh.corners)
        for (int v = 0; v < 1 << dim_; ++v)
          for (int d = 0; d < 3; ++d)
          {
            lower[d] = std::min(lower[d], corners[v][d]);
            upper[d] = std::max(upper[d], corners[v][d]);
          }
      lower_ = lower;
      // No smaller than any tolerance that find() is asked for.
      spacing_ = 1e-5 * distance(lower, upper);
      for (const auto &corners : mesh.corners)
        for (int v = 0; v < 1 << dim_; ++v)
          boxes_[box_of(corners[v])].insert(corners[v]);
    }

    /// A vertex nearer than the tolerance but not at that place itself, unless itself counts.
    const Place *find(const Place &p, double tolerance, bool itself) const
    {
      const Box middle = box_of(p);
      for (int number = 0; number < 27; ++number)
      {
        const auto found = boxes_.find({middle[0] + number % 3 - 1, middle[1] + number / 3 % 3 - 1,
            middle[2] + number / 9 - 1});
        if (found == boxes_.end())
          continue;
        for (const Place &vertex : found->second)
          if (distance(vertex, p) < tolerance && (itself || vertex != p))
            return &vertex;
      }
      return nullptr;
    }

  private:
    using Box = std::array<std::int64_t, 3>;
    Box box_of(const Place &p) const
    {
      Box box{};
      for (int d = 0; d < 3; ++d)
        box[d] = static_cast<std::int64_t>(std::floor((p[d] - lower_[d]) / spacing_));
      return box;
    }

    int dim_;
    Place lower_{};
    double spacing_ = 1.;
    std::map<Box, std::set<Place>> boxes_;
  };

  void check_hanging(const BlockMesh &mesh, const BlockGeometry &geometry)
  {
    const Vertices vertices(mesh);
    for (std::int64_t block = 0; block < mesh.n_blocks(); ++block)
      for (int side = 0; side < 2 * mesh.dim; ++side)
      {
        const BlockSide &here = mesh.sides[block][side];
        if (here.neighbour >= 0 || here.boundary != 0)
          continue;
        const double tolerance = 1e-5 * shortest_edge(mesh, block);
        const auto points = side_points(geometry, block, side, {0., 0.5, 1.});
        for (std::size_t q = 0; q < points.size(); ++q)
        {
          const bool is_corner = q % 3 != 1 && q / 3 != 1;
          const auto [a, b] = tangential(side / 2);
          // As the cell has it, since that is compared with the vertices to the last digit.
          const Place p = is_corner
              ? mesh.corners[block][(side % 2 << side / 2) + (q % 3 / 2 << a) + (q / 3 / 2 << b)]
              : points[q];
          const Place *other = vertices.find(p, tolerance, !is_corner);
          if (other && is_corner)
            throw MeshError("vertices at " + point_text(p, mesh.dim) + " and " +
                point_text(*other, mesh.dim) + ", which is as good as the same place: cells that " +
                "meet there must share one");
          if (other)
            throw MeshError(cell_text(mesh, block) + " has a vertex of other cells within its " +
                "face, at " + point_text(*other, mesh.dim) +
                ": hanging nodes are not possible, cells that meet must share whole faces");
        }
      }
  }
} // namespace

void check_geometry(const BlockMesh &mesh, const BlockGeometry &geometry)
{
  check_folds(mesh, geometry);
  check_shared_faces(mesh, geometry);
  check_hanging(mesh, geometry);
}
} // namespace tensormg
