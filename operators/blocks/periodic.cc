#include "operators/blocks/periodic.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "operators/data/tensor_rule.h"

namespace tensormg
{
namespace
{
  using Point = std::array<double, 3>;

  /// A side of a block and its corners, by place.
  struct Face
  {
    std::int64_t block;
    int side;
    std::vector<Point> corners;

    Point middle() const
    {
      Point sum{};
      for (const Point &corner : corners)
        for (int d = 0; d < 3; ++d)
          sum[d] += corner[d] / static_cast<double>(corners.size());
      return sum;
    }
  };

  double length_between(const Point &a, const Point &b)
  {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  }

  std::vector<Face> faces_of(const BlockMesh &mesh, int boundary)
  {
    std::vector<Face> faces;
    for (std::int64_t b = 0; b < mesh.n_blocks(); ++b)
      for (int side = 0; side < 2 * mesh.dim; ++side)
      {
        const BlockSide &other = mesh.sides[static_cast<std::size_t>(b)][side];
        if (other.neighbour >= 0 || other.boundary != boundary)
          continue;
        Face &face = faces.emplace_back(Face{b, side, {}});
        const auto [ta, tb] = tangential(side / 2);
        for (int v = 0; v < 1 << (mesh.dim - 1); ++v)
          face.corners.push_back(mesh.corners[static_cast<std::size_t>(b)][(side % 2 << side / 2) +
              (v % 2 << ta) + (v / 2 << tb)]);
      }
    return faces;
  }

  /// Of all faces of a boundary.
  Point middle_of(const std::vector<Face> &faces)
  {
    Point sum{};
    for (const Face &face : faces)
      for (int d = 0; d < 3; ++d)
        sum[d] += face.middle()[d] / static_cast<double>(faces.size());
    return sum;
  }

  double size_of(const std::vector<Face> &faces)
  {
    double size = INFINITY;
    for (const Face &face : faces)
      size = std::min(size, length_between(face.corners.front(), face.corners.back()));
    return size;
  }

  /// The face whose corners are these, and how: from places of the first to those of the second.
  std::optional<FaceMap> map_between(
      const std::vector<Point> &here, const std::vector<Point> &there, int dim, double tolerance)
  {
    for (int number = 0; number < n_face_maps(dim); ++number)
    {
      const FaceMap map = face_map(number);
      bool fits = true;
      for (int v = 0; v < std::ssize(here); ++v)
      {
        const auto to = map(v % 2, v / 2, 2, dim == 3 ? 2 : 1);
        fits = fits &&
            length_between(here[static_cast<std::size_t>(v)],
                there[static_cast<std::size_t>(to[0] + 2 * to[1])]) < tolerance;
      }
      if (fits)
        return map;
    }
    return std::nullopt;
  }

  /// The faces of a boundary by where they are: in the order of a sum of their coordinates.
  class FacesByPlace
  {
  public:
    FacesByPlace(const std::vector<Face> &faces, int dim, double tolerance)
      : faces_(faces)
      , dim_(dim)
      , tolerance_(tolerance)
    {
      for (std::size_t f = 0; f < faces.size(); ++f)
        by_key_.emplace_back(key(faces[f].middle()), f);
      std::sort(by_key_.begin(), by_key_.end());
    }

    struct Partner
    {
      std::size_t face;
      FaceMap map;
    };
    /// Where the motion brings a face.
    std::optional<Partner> partner_of(const Face &face, const RigidMotion &motion) const
    {
      std::vector<Point> moved;
      for (const Point &corner : face.corners)
        moved.push_back(motion(corner));
      const double at = key(Face{0, 0, moved}.middle());
      for (auto entry = std::lower_bound(
               by_key_.begin(), by_key_.end(), std::pair(at - 2. * tolerance_, std::size_t{0}));
           entry != by_key_.end() && entry->first <= at + 2. * tolerance_; ++entry)
        if (const auto map = map_between(moved, faces_[entry->second].corners, dim_, tolerance_))
          return Partner{entry->second, *map};
      return std::nullopt;
    }

  private:
    /// Numbers without a pattern, so that few faces of a lattice have one sum.
    static double key(const Point &x) { return 0.5377 * x[0] + 0.7316 * x[1] + 0.4189 * x[2]; }

    const std::vector<Face> &faces_;
    int dim_;
    double tolerance_;
    std::vector<std::pair<double, std::size_t>> by_key_;
  };

  constexpr double tolerance_of_faces = 1e-6; ///< of the smallest face

  RigidMotion translation(const Point &from, const Point &to)
  {
    return [by = Point{to[0] - from[0], to[1] - from[1], to[2] - from[2]}](const Point &x) {
      return Point{x[0] + by[0], x[1] + by[1], x[2] + by[2]};
    };
  }

  /// Around the axis through the origin in direction d, from one point's angle to the other's.
  RigidMotion rotation(int d, const Point &from, const Point &to)
  {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    const double angle = std::atan2(to[b], to[a]) - std::atan2(from[b], from[a]);
    return [a, b, c = std::cos(angle), s = std::sin(angle)](const Point &x) {
      Point result = x;
      result[a] = c * x[a] - s * x[b];
      result[b] = s * x[a] + c * x[b];
      return result;
    };
  }
} // namespace

RigidMotion motion_between(
    const BlockMesh &mesh, int first, int second, const std::array<std::string, 2> &names)
{
  const std::vector<Face> from = faces_of(mesh, first), to = faces_of(mesh, second);
  const std::string both = "the boundaries " + names[0] + " and " + names[1];
  if (from.size() != to.size() || from.empty())
    throw MeshError(both + " have " + std::to_string(from.size()) + " and " +
        std::to_string(to.size()) + " faces: periodic ones have as many");
  const Point middle = middle_of(from), other = middle_of(to);
  std::vector<RigidMotion> candidates{translation(middle, other)};
  for (int d = mesh.dim == 2 ? 2 : 0; d < 3; ++d)
    candidates.push_back(rotation(d, middle, other));
  const FacesByPlace others(to, mesh.dim, tolerance_of_faces * size_of(from));
  for (const RigidMotion &motion : candidates)
    if (std::all_of(from.begin(), from.end(),
            [&](const Face &face) { return others.partner_of(face, motion).has_value(); }))
      return motion;
  throw MeshError(both +
      " are not the same, up to a translation or a rotation around a coordinate axis: they cannot be periodic");
}

void join_boundaries(BlockMesh &mesh, int first, int second, const RigidMotion &motion,
    const std::array<std::string, 2> &names)
{
  const std::vector<Face> from = faces_of(mesh, first), to = faces_of(mesh, second);
  const FacesByPlace others(to, mesh.dim, tolerance_of_faces * size_of(from));
  for (const Face &face : from)
  {
    const auto partner = others.partner_of(face, motion);
    if (!partner)
      throw MeshError("the face of the boundary " + names[0] + " at " +
          point_text(face.middle(), mesh.dim) + " has no partner on " + names[1]);
    const Face &other = to[partner->face];
    mesh.sides[static_cast<std::size_t>(face.block)][face.side] = {
        static_cast<int>(other.block), other.side, partner->map, 0};
    mesh.sides[static_cast<std::size_t>(other.block)][other.side] = {
        static_cast<int>(face.block), face.side, partner->map.inverse(), 0};
  }
}
} // namespace tensormg
