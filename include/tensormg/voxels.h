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

/// From now on `name` is the function with numbers[(cz * cells_y + cy) * cells_x + cx] in cell (cx, cy, cz) of the problem, whose cells, also
/// graded ones, must have been set; at a face between two, the number of the upper one. Errors as set_voxels(), which it is where cells
/// are equal.
inline void set_cell_values(Problem &problem, const std::string &name, std::vector<double> numbers)
{
  const std::array<std::int64_t, 3> count{
      problem.cells(0), problem.cells(1), problem.dim == 3 ? problem.cells(2) : 1};
  for (std::size_t d = 0; d < 3; ++d)
    if (!problem.has_right_corners(static_cast<int>(d)))
      throw ArgumentError("problem.corners[" + std::to_string(d) + "] has " +
          std::to_string(problem.corners[d].size()) +
          " numbers; allowed: coarse_cells * 2^k + 1, coarse_cells being " +
          std::to_string(problem.coarse_cells[d]));
  if (!problem.is_graded())
    return set_voxels(problem, name, count, std::move(numbers));
  if (static_cast<std::int64_t>(numbers.size()) != count[0] * count[1] * count[2])
    throw ArgumentError(name + " has " + std::to_string(numbers.size()) + " numbers; allowed: " +
        std::to_string(count[0] * count[1] * count[2]) + ", one for each cell");
  std::array<std::vector<double>, 3> lower_ends;
  for (int d = 0; d < problem.dim; ++d)
    for (std::int64_t c = 0; c < count[d]; ++c)
      lower_ends[d].push_back(problem.corner(d, c));
  const auto cell = [](const std::vector<double> &ends, double x) {
    return ends.empty() ? 0 : std::upper_bound(ends.begin() + 1, ends.end(), x) - ends.begin() - 1;
  };
  problem.voxels.erase(name);
  problem.functions[name] =
      [=, shared = std::make_shared<const std::vector<double>>(std::move(numbers))](
          std::size_t n, const double *x, const double *y, const double *z, double *values) {
        for (std::size_t q = 0; q < n; ++q)
          values[q] = (*shared)[static_cast<std::size_t>(
              (cell(lower_ends[2], z[q]) * count[1] + cell(lower_ends[1], y[q])) * count[0] +
              cell(lower_ends[0], x[q]))];
      };
}
} // namespace tensormg
