// Arrays of one number per voxel as data of a problem.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensormg/problem.h"
#include "tensormg/solver.h"

namespace tensormg
{
/// From now on `name` is the function with numbers[(vz * count[1] + vy) * count[0] + vx] in voxel (vx, vy, vz), the box being
/// divided in count[d] equal ones per direction (count[2] = 1 in 2D); at a face between two, the number of the upper one. The box must have been
/// set. Sets problem.functions[name] and problem.voxels[name]. Throws ArgumentError if the size does not match.
inline void set_voxels(Problem &problem, const std::string &name,
    const std::array<std::int64_t, 3> &count, std::vector<double> numbers)
{
  for (const std::int64_t n : count)
    if (n < 1)
      throw ArgumentError(
          name + " has " + std::to_string(n) + " voxels in a direction; allowed: 1 or more");
  if (static_cast<std::int64_t>(numbers.size()) != count[0] * count[1] * count[2])
    throw ArgumentError(name + " has " + std::to_string(numbers.size()) + " numbers; allowed: " +
        std::to_string(count[0] * count[1] * count[2]) + ", one for each voxel");
  const auto shared = std::make_shared<const std::vector<double>>(std::move(numbers));
  const auto place = [lower = problem.lower, upper = problem.upper, count](
                         std::size_t d, double x) {
    const auto n = static_cast<double>(count[d]);
    const double at = (x - lower[d]) / (upper[d] - lower[d]) * n;
    return static_cast<std::int64_t>(std::min(std::max(at, 0.), n - 1.));
  };
  const bool is_3d = problem.dim == 3;
  problem.voxels[name] = count;
  problem.functions[name] = [=](std::size_t n, const double *x, const double *y, const double *z,
                                double *values) {
    for (std::size_t q = 0; q < n; ++q)
    {
      const std::int64_t plane = is_3d ? place(2, z[q]) : 0;
      values[q] = (*shared)[static_cast<std::size_t>(
          (plane * count[1] + place(1, y[q])) * count[0] + place(0, x[q]))];
    }
  };
}
} // namespace tensormg
