// Stencils on a device against the reference.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "tests/support/stencil_cases.h"

namespace tensormg::test
{
/// kernel(stencil, grid, from, to) does `depth` steps, each off by `tolerance` at most.
template <typename Number, typename Kernel>
void check(Kernel kernel, const Stencil &stencil, const Grid &grid, int depth,
    double tolerance = 4. * static_cast<double>(std::numeric_limits<Number>::epsilon()))
{
  SCOPED_TRACE("taps " + std::to_string(stencil.n_taps) + ", grid " +
      std::to_string(grid.points[0]) + " x " + std::to_string(grid.points[1]) + " x " +
      std::to_string(grid.points[2]) + ", depth " + std::to_string(depth));
  const Number beyond = Number(7);
  std::vector<Number> from(static_cast<std::size_t>(grid.size()));
  fill(from.data(), grid);
  std::vector<Number> to(from.size() + 4, beyond);
  std::fill_n(to.begin(), from.size(), std::numeric_limits<Number>::quiet_NaN());
  DeviceArray<Number> device_from(grid.size()), device_to(grid.size() + 4);
  device_from.copy_from_host(from.data());
  device_to.copy_from_host(to.data());
  kernel(stencil, grid, device_from.data(), device_to.data());
  device_to.copy_to_host(to.data());
  const std::vector<double> exact = expected(stencil, grid, depth, from.data());
  for (std::size_t i = 0; i < from.size(); ++i)
    ASSERT_NEAR(static_cast<double>(to[i]), exact[i], depth * tolerance) << i;
  for (std::size_t i = from.size(); i < to.size(); ++i)
    ASSERT_EQ(to[i], beyond);
}
} // namespace tensormg::test
