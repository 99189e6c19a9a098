// B u for vectors stored in FP32, and what it must be: the FP64 result for the same src, rounded once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/reference/reference.h"
#include "tests/support/random_vector.h"

namespace tensormg::test
{
/// Entries of `found`, padding excluded, that are not the entry of `exact` rounded to FP32 once: relative error above
/// 2^-24, but for the rounding errors of FP64 in sums of the size of the largest entry. NaN counts.
template <typename Number>
std::int64_t not_rounded_once(const Vector<Number> &found, const Vector<double> &exact)
{
  double largest = 0.;
  for_each_dof(
      exact.block(), [&](std::int64_t at) { largest = std::max(largest, std::abs(exact[at])); });
  std::int64_t count = 0;
  for_each_dof(exact.block(), [&](std::int64_t at) {
    const double error = std::abs(to_double(found[at]) - exact[at]);
    count += !(error <= 0x1p-24 * std::abs(exact[at]) + 1e-13 * largest);
  });
  return count;
}

struct WideCase
{
  int dim;
  std::array<std::int64_t, 3> cells;
  std::array<Side, 6> sides;
};

/// Random src with entries of FP32, traces of other data at ghosts, NaN in the padding of those.
struct WideLaplace
{
  CellBasis basis;
  Block block;
  Vector<WideFloat> src;
  Vector<double> exact; ///< B src
  std::array<std::vector<double>, 6> ghosts;
  laplace::Arguments<WideFloat> arguments; ///< all but dst, in host memory

  WideLaplace(const WideCase &c, int degree)
    : basis(make_cell_basis(degree))
    , block(c.dim, degree, c.cells)
    , src(random_vector<WideFloat>(block, 1))
    , exact(block)
  {
    Vector<double> u(block);
    for (std::int64_t at = 0; at < block.size(); ++at)
      u[at] = src[at].value;
    laplace::Arguments<double> a;
    a.block = arguments.block = block;
    a.basis = arguments.basis = &basis;
    a.factor = arguments.factor = {1., 0.4, 0.7};
    a.sides = arguments.sides = c.sides;
    for (int s = 2; s < 2 * c.dim; ++s)
      if (c.sides[s] == Side::ghost)
      {
        const auto neighbour = random_vector<double>(block, 10 + s);
        ghosts[s].resize(laplace::ghost_size(block, s));
        laplace::select_pack<double>(degree)(block, basis, s, neighbour.data(), ghosts[s].data());
        for (std::size_t at = 0; at < ghosts[s].size(); ++at)
          if (static_cast<std::int64_t>(at) % block.pitch >= c.cells[0])
            ghosts[s][at] = std::numeric_limits<double>::quiet_NaN();
        a.ghost[s] = arguments.ghost[s] = ghosts[s].data();
      }
    a.src = u.data();
    arguments.src = src.data();
    a.dst = exact.data();
    laplace::apply_reference(a, laplace::Form::apply);
  }
  // The arguments point into it.
  WideLaplace(const WideLaplace &) = delete;
  WideLaplace &operator=(const WideLaplace &) = delete;
};
} // namespace tensormg::test
