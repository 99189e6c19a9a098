// Two steps of a 3D stencil of radius 1 as one with fused weights, of radius 2, on tiles that march along z, and what these
// leave wrong: a sum that leaves the grid between the steps and comes back finds zeros there. That reaches the points next
// to a side, which a second kernel does step by step.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/diagnostics/stencil/planes_launch.cuh"

namespace tensormg::stencil
{
namespace
{
  /// In double precision, rounded once.
  template <typename Number>
  PlaneWeights<Number, 5> fuse_twice(const Stencil &stencil)
  {
    const OneStep<double> step(stencil);
    PlaneWeights<double, 5> fused{};
    for (int first = 0; first < 27; ++first)
      for (int second = 0; second < 27; ++second)
      {
        const auto weight = [&](int i) { return step.weights.at[i / 9][i / 3 % 3][i % 3]; };
        fused.at[first / 9 + second / 9][first / 3 % 3 + second / 3 % 3][first % 3 + second % 3] +=
            weight(first) * weight(second);
      }
    PlaneWeights<Number, 5> result{};
    for (int i = 0; i < 125; ++i)
      result.at[i / 25][i / 5 % 5][i % 5] = static_cast<Number>(fused.at[i / 25][i / 5 % 5][i % 5]);
    return result;
  }

  constexpr int threads = 128;

  template <typename Number>
  struct Taps
  {
    int count;
    int dx[27], dy[27], dz[27];
    Number weight[27];
  };

  /// Points next to a side: two sides of z, of y without these, of x without both.
  struct Sides
  {
    std::int64_t n[3];
    std::int64_t begin[7]; ///< first point of each side, and of none

    explicit Sides(const Grid &grid)
    {
      std::int64_t inner[3];
      begin[0] = 0;
      for (int d = 0; d < 3; ++d)
        n[d] = inner[d] = grid.points[static_cast<std::size_t>(d)];
      for (int side = 0; side < 6; ++side)
      {
        const int d = 2 - side / 2;
        const bool exists = inner[d] > 0;
        inner[d] = exists ? inner[d] - 1 : 0;
        std::int64_t points = exists ? 1 : 0;
        for (int other = 0; other < 3; ++other)
          points *= other == d ? 1 : inner[other];
        begin[side + 1] = begin[side] + points;
      }
    }
  };

  struct Point
  {
    std::int64_t x, y, z;
  };

  /// Sides of z have all of x and y, those of y all of x and the inner planes, those of x what is inside.
  __device__ Point point_of(const Sides &sides, std::int64_t index)
  {
    int side = 0;
    while (index >= sides.begin[side + 1])
      ++side;
    const std::int64_t i = index - sides.begin[side];
    const auto *n = sides.n;
    const auto place = [&](int d) { return side % 2 == 0 ? 0 : n[d] - 1; };
    if (side < 2)
      return {i % n[0], i / n[0], place(2)};
    if (side < 4)
      return {i % n[0], place(1), 1 + i / n[0]};
    const std::int64_t inner = n[1] > 2 ? n[1] - 2 : 1;
    return {place(0), 1 + i % inner, 1 + i / inner};
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads)
      border_kernel(const __grid_constant__ Taps<Number> taps, const __grid_constant__ Sides sides,
          const Number *__restrict__ from, Number *__restrict__ to)
  {
    const std::int64_t index = std::int64_t(blockIdx.x) * threads + threadIdx.x;
    if (index >= sides.begin[6])
      return;
    const Point p = point_of(sides, index);
    const auto is_inside = [&](const Point &q) {
      return q.x >= 0 && q.x < sides.n[0] && q.y >= 0 && q.y < sides.n[1] && q.z >= 0 &&
          q.z < sides.n[2];
    };
    const auto at = [&](const Point &q) { return (q.z * sides.n[1] + q.y) * sides.n[0] + q.x; };
    const auto beside = [&](const Point &q, int t) {
      return Point{q.x + taps.dx[t], q.y + taps.dy[t], q.z + taps.dz[t]};
    };
    Number sum = 0;
    for (int t = 0; t < taps.count; ++t)
    {
      const Point between = beside(p, t);
      if (!is_inside(between))
        continue;
      Number first = 0;
      for (int s = 0; s < taps.count; ++s)
        if (const Point source = beside(between, s); is_inside(source))
          first += taps.weight[s] * __ldg(from + at(source));
      sum += taps.weight[t] * first;
    }
    to[at(p)] = sum;
  }

  template <typename Number>
  void launch_border(
      const Stencil &stencil, const Grid &grid, const Number *from, Number *to, Stream stream)
  {
    Taps<Number> taps{};
    for (int t = 0; t < stencil.n_taps; ++t)
    {
      const Tap &tap = stencil.taps[static_cast<std::size_t>(t)];
      taps.dx[t] = tap.offset[0];
      taps.dy[t] = tap.offset[1];
      taps.dz[t] = tap.offset[2];
      taps.weight[t] = static_cast<Number>(tap.weight);
    }
    taps.count = stencil.n_taps;
    const Sides sides(grid);
    launch("launching the border of a stencil in 3D", border_kernel<Number>,
        dim3(static_cast<unsigned>((sides.begin[6] + threads - 1) / threads)), dim3(threads), 0,
        stream, taps, sides, from, to);
  }

  template <typename Unit, typename Number>
  void launch_steps(const Stencil &stencil, const Grid &grid, int steps, Unit unit,
      const Number *from, Number *to, Stream stream)
  {
    if (steps == 1)
      return cuda_planes(stencil, grid, unit, from, to, stream);
    if (steps != largest_planes_steps || stencil.n_taps > 27)
      throw std::invalid_argument(std::to_string(steps) +
          " steps with fused weights; in 3D there are 1 and 2, of up to 27 taps");
    const auto weights = fuse_twice<Number>(stencil);
    if (grid.size() == 0)
      return;
    if (OneStep<Number>(stencil).box)
      launch_planes<2, true>(weights, grid, unit, from, to, stream);
    else
      launch_planes<2, false>(weights, grid, unit, from, to, stream);
    launch_border(stencil, grid, from, to, stream);
  }
} // namespace

void cuda_planes_steps(const Stencil &stencil, const Grid &grid, int steps, TileUnit unit,
    const double *from, double *to, Stream stream)
{
  launch_steps(stencil, grid, steps, unit, from, to, stream);
}

void cuda_planes_steps(const Stencil &stencil, const Grid &grid, int steps, SingleTileUnit unit,
    const float *from, float *to, Stream stream)
{
  launch_steps(stencil, grid, steps, unit, from, to, stream);
}
} // namespace tensormg::stencil
