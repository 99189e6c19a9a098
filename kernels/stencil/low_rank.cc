#include "kernels/stencil/low_rank.h"

#include <algorithm>
#include <stdexcept>
#include <string>

extern "C" void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
    const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt, double *work,
    const int *lwork, int *info);

namespace tensormg::stencil
{
namespace
{
  constexpr std::size_t place(int index) { return static_cast<std::size_t>(index); }

  void require_tile(const Stencil &stencil, int steps)
  {
    if (stencil.dim != 2 || steps < 1 || stencil.radius * steps > largest_tile_radius)
      throw std::invalid_argument(std::to_string(steps) + (steps == 1 ? " step" : " steps") +
          " of a stencil in " + std::to_string(stencil.dim) + "D of radius " +
          std::to_string(stencil.radius) +
          "; weights are taken apart and fused in 2D up to radius " +
          std::to_string(largest_tile_radius));
  }
} // namespace

LowRank decompose(const Stencil &stencil)
{
  require_tile(stencil, 1);
  const int n = 2 * stencil.radius + 1;
  constexpr int most = LowRank::width * LowRank::width;
  // Column-major with dy down the columns.
  std::array<double, most> weights{}, u{}, vt{};
  std::array<double, LowRank::width> singular{};
  for (int t = 0; t < stencil.n_taps; ++t)
  {
    const Tap &tap = stencil.taps[place(t)];
    weights[place((tap.offset[0] + stencil.radius) * n + tap.offset[1] + stencil.radius)] +=
        tap.weight;
  }
  constexpr int work_size = 20 * LowRank::width;
  std::array<double, work_size> work{};
  int info = 0;
  dgesvd_("A", "A", &n, &n, weights.data(), &n, singular.data(), u.data(), &n, vt.data(), &n,
      work.data(), &work_size, &info);
  if (info != 0)
    throw std::runtime_error("LAPACK's dgesvd fails with " + std::to_string(info));
  constexpr double negligible = 1e-14;
  LowRank result;
  for (int r = 0; r < n && singular[place(r)] > negligible * singular[0]; ++r)
  {
    for (int i = 0; i < n; ++i)
    {
      const auto term = place(r), at = place(i);
      result.column[term][at] = singular[term] * u[place(r * n + i)];
      result.row[term][at] = vt[place(i * n + r)];
    }
    ++result.rank;
  }
  return result;
}

LowRank require_low_rank(const Stencil &stencil)
{
  const LowRank weights = decompose(stencil);
  if (weights.rank > largest_rank(stencil.radius))
    throw std::invalid_argument("the weights have rank " + std::to_string(weights.rank) +
        "; beyond rank " + std::to_string(largest_rank(stencil.radius)) +
        " the low-rank form takes more products than the weights as they are");
  return weights;
}

Stencil fuse_steps(const Stencil &stencil, int steps)
{
  require_tile(stencil, steps);
  constexpr int most = LowRank::width;
  using Square = std::array<std::array<double, most>, most>;
  Square fused{};
  fused[largest_tile_radius][largest_tile_radius] = 1.;
  for (int step = 0; step < steps; ++step)
  {
    Square next{};
    const int reach = step * stencil.radius;
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x)
        for (int t = 0; t < stencil.n_taps; ++t)
        {
          const Tap &tap = stencil.taps[place(t)];
          const auto row = place(y + largest_tile_radius);
          const auto column = place(x + largest_tile_radius);
          next[place(y + tap.offset[1] + largest_tile_radius)]
              [place(x + tap.offset[0] + largest_tile_radius)] += tap.weight * fused[row][column];
        }
    fused = next;
  }
  Stencil result;
  result.dim = 2;
  result.radius = stencil.radius * steps;
  for (int y = -result.radius; y <= result.radius; ++y)
    for (int x = -result.radius; x <= result.radius; ++x)
    {
      const double weight = fused[place(y + largest_tile_radius)][place(x + largest_tile_radius)];
      if (weight != 0.)
        result.taps[place(result.n_taps++)] = {{x, y, 0}, weight};
    }
  return result;
}
} // namespace tensormg::stencil
