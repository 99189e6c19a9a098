// How the two tangential directions of a face lie in those of the neighbour's face.
#pragma once

#include <array>
#include <cstdint>

namespace tensormg
{
/// The places (a, b) of a face with n places in each direction, a the lower of its tangential directions, as places (a', b') of the same
/// face seen from the other cell: first exchanged, then counted from the other end. In 2D b is zero and only flip[0] counts. Eight
/// maps in 3D, two in 2D.
struct FaceMap
{
  bool exchange = false;
  std::array<bool, 2> flip{false, false};

  constexpr std::array<std::int64_t, 2> operator()(
      std::int64_t a, std::int64_t b, std::int64_t na, std::int64_t nb) const
  {
    std::array<std::int64_t, 2> to = exchange ? std::array{b, a} : std::array{a, b};
    const std::array<std::int64_t, 2> count = exchange ? std::array{nb, na} : std::array{na, nb};
    for (int d = 0; d < 2; ++d)
      if (flip[d])
        to[d] = count[d] - 1 - to[d];
    return to;
  }
  /// The way back.
  constexpr FaceMap inverse() const { return exchange ? FaceMap{true, {flip[1], flip[0]}} : *this; }
  constexpr bool operator==(const FaceMap &) const = default;
};

/// All of a dimension: number 4 exchange + 2 flip[1] + flip[0].
constexpr FaceMap face_map(int number)
{
  return {number >= 4, {number % 2 == 1, number / 2 % 2 == 1}};
}
constexpr int n_face_maps(int dim) { return dim == 3 ? 8 : 2; }

/// The tangential directions of a face normal to direction d, ascending; in 2D the second one is the third direction, which has one place.
constexpr std::array<int, 2> tangential(int d)
{
  return d == 0 ? std::array{1, 2} : d == 1 ? std::array{0, 2} : std::array{0, 1};
}
} // namespace tensormg
