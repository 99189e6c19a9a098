// Maps of the places of faces: each is a bijection with an inverse, and no two are the same.
#include "kernels/core/face_map.h"

#include <array>
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  constexpr bool has_inverse(FaceMap map, std::int64_t na, std::int64_t nb)
  {
    const std::int64_t to_a = map.exchange ? nb : na, to_b = map.exchange ? na : nb;
    for (std::int64_t b = 0; b < nb; ++b)
      for (std::int64_t a = 0; a < na; ++a)
      {
        const auto there = map(a, b, na, nb);
        if (there[0] < 0 || there[0] >= to_a || there[1] < 0 || there[1] >= to_b)
          return false;
        const auto back = map.inverse()(there[0], there[1], to_a, to_b);
        if (back[0] != a || back[1] != b)
          return false;
      }
    return true;
  }
  constexpr bool all_have_inverses()
  {
    for (int number = 0; number < 8; ++number)
      if (!has_inverse(face_map(number), 3, 5) || !has_inverse(face_map(number), 4, 4))
        return false;
    return true;
  }
  static_assert(all_have_inverses());
  static_assert(FaceMap()(1, 2, 3, 4) == std::array<std::int64_t, 2>{1, 2});

  TEST(FaceMap, AllDiffer)
  {
    std::set<std::array<std::int64_t, 4>> images;
    for (int number = 0; number < n_face_maps(3); ++number)
    {
      const auto first = face_map(number)(0, 0, 2, 2), next = face_map(number)(1, 0, 2, 2);
      images.insert({first[0], first[1], next[0], next[1]});
      EXPECT_EQ(face_map(number).inverse().inverse(), face_map(number));
    }
    EXPECT_EQ(images.size(), 8U);
  }

  TEST(FaceMap, OfALine)
  {
    EXPECT_EQ(face_map(0)(1, 0, 4, 1), (std::array<std::int64_t, 2>{1, 0}));
    EXPECT_EQ(face_map(1)(1, 0, 4, 1), (std::array<std::int64_t, 2>{2, 0}));
  }
} // namespace
} // namespace tensormg
