// Two neighbours of a row into a row-major grid, as products store theirs.
#pragma once

#include <cstdint>

#include "kernels/diagnostics/stencil/store_sums.cuh"
#include "kernels/mma/shapes.h"

namespace tensormg::stencil
{
/// At (x, y) and (x + 1, y) of plane[y nx + x], nothing outside of nx x ny; in one piece where store_sums() does that:
/// these are the sums of lane 0.
inline __device__ void store_pair(const double2 &pair, std::int64_t nx, std::int64_t ny,
    std::int64_t x, std::int64_t y, double *plane)
{
  const mma::FragmentC<mma::M8N8K4<double>> sums{{pair.x, pair.y}};
  store_sums(sums, 0, nx, ny, x, y, plane);
}
} // namespace tensormg::stencil
