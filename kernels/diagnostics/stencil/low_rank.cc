#include "kernels/diagnostics/stencil/low_rank.h"

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
  constexpr int most = LowRank::width * LowRank::width;
  using Matrix = std::array<double, most>;

  /// M = U diag(values) V', with as many values as M has rows; column-major.
  struct Singular
  {
    std::array<double, LowRank::width> values{};
    Matrix left{}, right{};
    bool is_negligible(int i) const
    {
      constexpr double negligible = 1e-14;
      return !(values[place(i)] > negligible * values[0]);
    }
  };

  /// rows <= columns
  Singular singular_values(Matrix matrix, int rows, int columns)
  {
    Singular result;
    constexpr int work_size = 30 * LowRank::width;
    std::array<double, work_size> work{};
    int info = 0;
    dgesvd_("S", "S", &rows, &columns, matrix.data(), &rows, result.values.data(),
        result.left.data(), &rows, result.right.data(), &rows, work.data(), &work_size, &info);
    if (info != 0)
      throw std::runtime_error("LAPACK's dgesvd fails with " + std::to_string(info));
    return result;
  }
} // namespace

LowRank decompose(const Stencil &stencil)
{
  require_tile(stencil, 1);
  const int n = 2 * stencil.radius + 1;
  // Column-major with dy down the columns.
  Matrix weights{};
  for (int t = 0; t < stencil.n_taps; ++t)
  {
    const Tap &tap = stencil.taps[place(t)];
    weights[place((tap.offset[0] + stencil.radius) * n + tap.offset[1] + stencil.radius)] +=
        tap.weight;
  }
  const Singular found = singular_values(weights, n, n);
  LowRank result;
  for (int r = 0; r < n && !found.is_negligible(r); ++r)
  {
    for (int i = 0; i < n; ++i)
    {
      const auto term = place(r), at = place(i);
      result.column[term][at] = found.values[term] * found.left[place(r * n + i)];
      result.row[term][at] = found.right[place(i * n + r)];
    }
    ++result.rank;
  }
  return result;
}

LowRankPlanes require_low_rank_planes(const Stencil &stencil)
{
  if (stencil.dim != 3 || stencil.radius != 1)
    throw std::invalid_argument("a stencil in " + std::to_string(stencil.dim) + "D of radius " +
        std::to_string(stencil.radius) + "; a column times a plane is there in 3D for radius 1");
  Matrix weights{};
  for (int t = 0; t < stencil.n_taps; ++t)
  {
    const Tap &tap = stencil.taps[place(t)];
    weights[place(((tap.offset[2] + 1) * 3 + tap.offset[0] + 1) * 3 + tap.offset[1] + 1)] +=
        tap.weight;
  }
  const Singular found = singular_values(weights, 3, 9);
  int rank = 0;
  while (rank < 3 && !found.is_negligible(rank))
    ++rank;
  if (rank > 1)
    throw std::invalid_argument("the weights have rank " + std::to_string(rank) +
        " along y; beyond rank 1 the low-rank form is of no use");
  LowRankPlanes result;
  for (int i = 0; i < 3 && rank == 1; ++i)
  {
    result.column[place(i)] = found.values[0] * found.left[place(i)];
    for (int dx = 0; dx < 3; ++dx)
      result.plane[place(i)][place(dx)] = found.right[place((i * 3 + dx) * 3)];
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
