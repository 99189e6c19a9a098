#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "kernels/diagnostics/stencil/cpu_plan.h"
#include "kernels/diagnostics/stencil/cpu_row.h"
#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
namespace
{
  /// Slabs of one step that are kept between two steps.
  std::int64_t ring_slabs(const Stencil &stencil) { return 2 * stencil.radius + 1; }

  /// The extents of a tile's rings in x and the middle direction.
  std::array<std::int64_t, 2> ring_extents(
      const Stencil &stencil, const Grid &grid, const Plan &plan)
  {
    const std::array<std::int64_t, 3> n = directions_of(stencil, grid);
    const std::array<int, 3> radius = radius_of(stencil);
    std::array<std::int64_t, 2> extents{};
    for (std::size_t d = 0; d < 2; ++d)
      extents[d] =
          std::min(n[d], plan.tile[d] + 2 * static_cast<std::int64_t>(plan.depth - 1) * radius[d]);
    return extents;
  }

  /// A grid, or the part of it that a ring holds: points of the box, slabs modulo their number.
  template <typename Number>
  struct Field
  {
    Number *data = nullptr;
    std::array<std::int64_t, 2> origin{0, 0}; ///< of the box in x and the middle direction
    std::array<std::int64_t, 2> extent{1, 1};
    std::int64_t slabs = 0; ///< of a ring; 0: all

    Field<const Number> read_only() const { return {data, origin, extent, slabs}; }
    Number *at(std::int64_t x, std::int64_t middle, std::int64_t slab) const
    {
      const std::int64_t s = slabs == 0 ? slab : slab % slabs;
      return data + (s * extent[1] + middle - origin[1]) * extent[0] + x - origin[0];
    }
  };

  /// One step on one slab of a box.
  template <typename Number>
  class Step
  {
  public:
    Step(const Stencil &stencil, const Grid &grid)
      : stencil_(stencil)
      , n_(directions_of(stencil, grid))
    {}

    void compute_slab(const Field<const Number> &from, const Field<Number> &to, const Box &box,
        std::int64_t slab, bool past_caches) const
    {
      RowTaps<Number> taps;
      for (std::int64_t middle = box[1].begin; middle < box[1].end; ++middle)
      {
        taps.count = 0;
        for (int t = 0; t < stencil_.n_taps; ++t)
        {
          const Tap &tap = stencil_.taps[static_cast<std::size_t>(t)];
          const std::array<int, 3> offset = offset_of(stencil_, tap);
          const std::int64_t m = middle + offset[1], s = slab + offset[2];
          if (m >= 0 && m < n_[1] && s >= 0 && s < n_[2])
            taps.taps[static_cast<std::size_t>(taps.count++)] = {
                from.at(box[0].begin, m, s) + offset[0], offset[0],
                static_cast<Number>(tap.weight)};
        }
        Row<Number>(taps, stencil_.radius, n_[0], box[0].begin, box[0].size(),
            to.at(box[0].begin, middle, slab))
            .compute(past_caches);
      }
    }

  private:
    const Stencil &stencil_;
    std::array<std::int64_t, 3> n_;
  };

  /// All steps of one box, slab by slab: step k works `radius` slabs behind step k - 1.
  template <typename Number>
  void compute_box(const Stencil &stencil, const Grid &grid, const Plan &plan, const Number *from,
      Number *to, Number *scratch, const Box &box)
  {
    const std::array<std::int64_t, 3> n = directions_of(stencil, grid);
    const std::array<int, 3> radius = radius_of(stencil);
    const std::array<std::int64_t, 2> extents = ring_extents(stencil, grid, plan);
    const std::int64_t ring = ring_slabs(stencil) * extents[0] * extents[1];
    const Step<Number> step(stencil, grid);
    const Field<const Number> source{from, {0, 0}, {n[0], n[1]}, 0};
    std::array<Box, max_depth> parts;
    std::array<Field<Number>, max_depth> fields;
    for (int k = 0; k < plan.depth; ++k)
    {
      const auto i = static_cast<std::size_t>(k);
      parts[i] = needed_box(box, k + 1, plan.depth, radius, n);
      fields[i] = {
          scratch + k * ring, {parts[i][0].begin, parts[i][1].begin}, extents, ring_slabs(stencil)};
    }
    const auto last = static_cast<std::size_t>(plan.depth - 1);
    fields[last] = {to, {0, 0}, {n[0], n[1]}, 0};
    const std::int64_t end = box[2].end + static_cast<std::int64_t>(plan.depth - 1) * radius[2];
    for (std::int64_t front = parts[0][2].begin; front < end; ++front)
      for (std::size_t k = 0; k <= last; ++k)
      {
        const std::int64_t slab = front - static_cast<std::int64_t>(k) * radius[2];
        if (slab < parts[k][2].begin || slab >= parts[k][2].end)
          continue;
        const bool past_caches = plan.past_caches && k == last;
        if (k == 0)
          step.compute_slab(source, fields[k], parts[k], slab, past_caches);
        else
          step.compute_slab(fields[k - 1].read_only(), fields[k], parts[k], slab, past_caches);
      }
  }

  std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
} // namespace

Plan make_plan(const Stencil &stencil, const Grid &grid, int depth, std::size_t number_bytes,
    std::int64_t cache_bytes, int shares)
{
  constexpr std::int64_t shortest_row = 256; // in 3D: long enough for registers and prefetching
  const std::array<std::int64_t, 3> n = directions_of(stencil, grid);
  const std::array<int, 3> radius = radius_of(stencil);
  if (depth < 1 || depth > max_depth)
    throw std::invalid_argument(
        "a depth of " + std::to_string(depth) + "; allowed are 1 to " + std::to_string(max_depth));
  Plan plan;
  plan.depth = depth;
  // Rings and the slabs of the source, all of the same extents.
  const std::int64_t points = std::max<std::int64_t>(
      1, cache_bytes / static_cast<std::int64_t>(number_bytes) / (ring_slabs(stencil) * depth));
  const auto inner = [&](std::int64_t extent, std::size_t d) {
    return extent - 2 * static_cast<std::int64_t>(depth - 1) * radius[d];
  };
  const std::int64_t x = stencil.dim == 3 && depth > 1 ? std::min(n[0], shortest_row) : n[0];
  plan.tile[0] = std::clamp<std::int64_t>(
      std::min(x, inner(points, 0)), std::min<std::int64_t>(n[0], 64), n[0]);
  plan.tile[1] = std::clamp<std::int64_t>(inner(points / plan.tile[0], 1),
      std::min<std::int64_t>(n[1], stencil.dim == 3 ? 8 : 1), n[1]);
  const std::int64_t columns = divide_up(n[0], plan.tile[0]) * divide_up(n[1], plan.tile[1]);
  // Several boxes per share, but none so short that its borders count.
  const std::int64_t pieces = std::clamp<std::int64_t>(divide_up(4 * shares, columns), 1,
      std::max<std::int64_t>(1, n[2] / std::max<std::int64_t>(32, 16 * depth * radius[2])));
  plan.tile[2] = divide_up(n[2], pieces);
  return plan;
}

std::int64_t scratch_size(const Stencil &stencil, const Grid &grid, const Plan &plan)
{
  const std::array<std::int64_t, 2> extents = ring_extents(stencil, grid, plan);
  return (plan.depth - 1) * ring_slabs(stencil) * extents[0] * extents[1];
}

double executed_updates(const Stencil &stencil, const Grid &grid, const Plan &plan)
{
  const Boxes boxes(stencil, grid, plan);
  const std::array<std::int64_t, 3> n = directions_of(stencil, grid);
  const std::array<int, 3> radius = radius_of(stencil);
  double updates = 0.;
  for (std::int64_t b = 0; b < boxes.count(); ++b)
    for (int step = 1; step <= plan.depth; ++step)
    {
      const Box part = needed_box(boxes.box(b), step, plan.depth, radius, n);
      updates += static_cast<double>(part[0].size()) * static_cast<double>(part[1].size()) *
          static_cast<double>(part[2].size());
    }
  return updates;
}

template <typename Number>
void cpu(const Stencil &stencil, const Grid &grid, const Plan &plan, const Number *from, Number *to,
    Number *scratch, Share share)
{
  if (grid.size() == 0)
    return;
  const Boxes boxes(stencil, grid, plan);
  const std::int64_t end = boxes.count() * (share.index + 1) / share.count;
  for (std::int64_t b = boxes.count() * share.index / share.count; b < end; ++b)
    compute_box(stencil, grid, plan, from, to, scratch, boxes.box(b));
}

template void cpu(
    const Stencil &, const Grid &, const Plan &, const double *, double *, double *, Share);
template void cpu(
    const Stencil &, const Grid &, const Plan &, const float *, float *, float *, Share);
} // namespace tensormg::stencil
