// Levels with exact directions, for the tests of their inverse in host and in device memory.
#pragma once

#include <array>
#include <cstdint>

#include "tests/support/boxes.h"

namespace tensormg::test
{
struct ExactLines
{
  int dim;
  std::array<std::int64_t, 3> cells;
  std::array<bool, 3> exact;
  const char *boundary;

  LevelGrid level(int degree) const
  {
    LevelGrid result = make_grid(box(dim, degree, cells, 0, boundary), MPI_COMM_SELF).finest();
    result.exact = exact;
    return result;
  }
};
} // namespace tensormg::test
