// Which shape of tiles, and which division along k, fp16_wgmma() and single_wgmma() take for a product.
//
// Time is estimated as in quantisation.h: sections of tiles x what a step along k costs + what a tile costs. The costs of a
// shape are measured on an H200 with products that fill it, those of rows and of sums of parts by a sweep on an H100,
// revision 37fbd28.
// Tests: tests/kernels/diagnostics/gemm/plan_test.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "kernels/core/half.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/aligned_rows.h"
#include "kernels/diagnostics/gemm/gemm.h"
#include "kernels/diagnostics/gemm/quantisation.h"
#include "kernels/diagnostics/gemm/tile_order.h"

namespace tensormg::gemm::wgmma
{
inline constexpr int tile_k = 64; ///< 128 bytes: a row of a tile in shared memory, of FP16 numbers

/// A block has `groups` warpgroups that multiply, each with 64 rows, below each other or side by side, and `tile_n` columns. A
/// cluster has `cluster` blocks below each other. Factors are FP16 numbers or sums of two, `splits`: FP32 numbers.
struct Shape
{
  int groups, tile_n, cluster, stages, per_multiprocessor;
  bool side_by_side;
  int terms;
  /// Microseconds of a step along k where tensor cores bound it, and of a tile beyond its steps.
  double step_time, tile_time;
  bool splits = false; ///< factors come in FP32, blocks make the two terms

  constexpr int block_rows() const { return side_by_side ? 64 : 64 * groups; }
  constexpr int rows() const { return block_rows() * cluster; } ///< of a cluster
  constexpr int step_k() const { return splits ? tile_k / 2 : tile_k; }
  /// Whether sums of parts are written only in columns that C has: to ask for that costs narrow tiles registers in their loop.
  constexpr bool has_edges() const { return tile_n > 128; }
  /// Of 64 columns of B, one term after the other.
  constexpr int blocks_b() const { return terms * ((tile_n + 63) / 64); }
};

inline constexpr std::array shapes{
    Shape{2, 256, 2, 4, 1, false, 1, 0.75, 4.2}, // large products
    Shape{2, 224, 2, 4, 1, false, 1, 0.67, 3.7}, // as many waves with fewer columns
    Shape{2, 256, 1, 4, 1, false, 1, 0.77, 3.3}, // a wave or few steps: clusters start later
    Shape{2, 128, 1, 6, 1, false, 1, 0.45, 1.7}, // few tiles
    Shape{2, 128, 2, 8, 1, true, 1, 0.22, 2.8},  // few tiles, rows that do not begin with lines
    Shape{2, 128, 1, 8, 1, true, 1, 0.21, 1.3},  // fewer
    Shape{1, 64, 1, 6, 2, false, 1, 0.28, 0.9},  // many tiles with few steps
    Shape{1, 64, 1, 12, 1, false, 1, 0.14, 1.5}, // one or a few tiles, divided along k
    Shape{3, 192, 2, 4, 1, false, 1, 0.84, 4.0}, // where larger tiles are a little more than a wave
    Shape{1, 192, 5, 6, 1, false, 1, 0.37, 1.5}, // up to 320 rows and few columns, divided along k
};

/// The same for factors in two terms.
inline constexpr std::array corrected_shapes{
    Shape{2, 128, 2, 3, 1, false, 2, 1.06, 2.5}, // large products
    Shape{2, 128, 1, 3, 1, false, 2, 1.09, 1.5}, // a wave or less, or few steps
    Shape{1, 128, 1, 4, 1, false, 2, 0.6, 1.3},  // few tiles
    Shape{1, 64, 1, 6, 1, false, 2, 0.37, 0.7},  // fewer, and those divided along k
};

/// The same for factors in FP32, for few tiles and long k; times of an H100, where tensor cores run as fast, at
/// revision 35b82db.
inline constexpr std::array split_shapes{
    Shape{2, 128, 1, 5, 1, false, 2, 0.86, 2.5, true}, // divided along k
    Shape{1, 64, 1, 12, 1, false, 2, 0.46, 1.5, true}, // one or a few tiles
};

/// Clusters of each shape that run at once.
template <std::size_t n_shapes>
using ResidentsOf = std::array<int, n_shapes>;
using Residents = ResidentsOf<shapes.size()>;

struct Plan
{
  int index = 0; ///< in the table of shapes
  Shape shape{};
  Division division{};
  double time = 0.; ///< estimated, in microseconds

  /// Sums of parts, in FP32.
  constexpr std::int64_t partial_numbers() const
  {
    return static_cast<std::int64_t>(division.sections() - division.whole) * shape.rows() *
        shape.tile_n;
  }
};

/// Of microseconds.
inline constexpr double start_time = 1.5, add_time = 4., add_time_of_million = 2.;
/// A row of 128 bytes that the copy engine of a multiprocessor loads; twice as much if it lies in two lines of the cache.
/// Blocks that work on parts along k load rows that few others load at that time.
inline constexpr double row_time = 0.0016, row_time_of_parts = 0.0019;
/// Splitting before the product reads and writes each number of a factor. Bytes of a microsecond: an H100 has 2.8e6 from memory; with
/// these the plan takes the faster of both ways in all sizes of a sweep at revision 35b82db.
inline constexpr double splitting_start_time = 2., splitting_bytes = 3.2e6;

/// Whole waves of tiles stay whole; the tiles of the last one are divided along k, `parts` at most: if the last column of tiles is
/// enough for it and C fills it in part only, tiles of that column.
inline Division division_of(const Size &size, const Shape &shape, int resident, int parts)
{
  const Tiles tiles = tiles_of(size, shape.rows(), shape.tile_n);
  const int all = tiles.m * tiles.n, steps = static_cast<int>(divide_up(size.k, shape.step_k()));
  parts = std::min(parts, steps);
  if (parts <= 1)
    return {tiles, steps, all, 1};
  const int whole = all / resident * resident;
  return {tiles, steps, whole, parts, size.n % shape.tile_n != 0 && all - whole <= tiles.m};
}

/// Sums of parts that are written.
constexpr double written_sums(const Division &division, const Shape &shape, const Size &size)
{
  const auto columns = division.edge_last && shape.has_edges()
      ? static_cast<int>(size.n % shape.tile_n)
      : shape.tile_n;
  return static_cast<double>(division.parts) * division.divided() * shape.rows() * columns;
}

/// Of a step along k: products, or copies of rows of A and of this block's share of B.
constexpr double step_time(const Shape &shape, const Size &size, double row_time)
{
  const int line = shape.step_k();
  // Rows of copies of a matrix begin where lines do; factors in two terms are copies unless blocks make them.
  const auto lines = [&](std::int64_t columns) {
    const bool is_copy = !shape.splits && (shape.terms == 2 || !has_aligned_rows(columns));
    return !is_copy && columns % line != 0 ? 2 : 1;
  };
  // A number in FP32 takes as much as its two terms. Rows of B in FP32 are several lines, and one more where they begin anywhere.
  const double lines_b =
      shape.splits ? 1. + (lines(size.n) - 1) * 32. / shape.tile_n : lines(size.n);
  const double rows = shape.step_k() * shape.terms * shape.block_rows() / tile_k * lines(size.k) +
      static_cast<double>(shape.step_k() * shape.blocks_b()) / shape.cluster * lines_b;
  return std::max(shape.step_time, shape.per_multiprocessor * row_time * rows);
}

/// Of what makes two terms of factors before the product.
constexpr double splitting_time(const Shape &shape, const Size &size)
{
  constexpr double bytes = 8.; // of a number
  if (shape.terms == 1 || shape.splits)
    return 0.;
  return splitting_start_time +
      bytes * static_cast<double>(size.k) * static_cast<double>(size.m + size.n) / splitting_bytes;
}

/// Microseconds from the end of what ran before.
constexpr double time_of(
    const Division &division, const Shape &shape, const Size &size, int resident)
{
  const auto waves = [&](int sections, std::int64_t steps, double row_time) {
    return static_cast<double>(divide_up(sections, resident)) *
        (static_cast<double>(steps) * step_time(shape, size, row_time) + shape.tile_time);
  };
  const int parts = division.sections() - division.whole;
  double time =
      start_time + splitting_time(shape, size) + waves(division.whole, division.steps, row_time);
  if (parts > 0)
    time += waves(parts, divide_up(division.steps, division.parts), row_time_of_parts) + add_time +
        add_time_of_million * 1e-6 * written_sums(division, shape, size);
  return time;
}

/// By one of `table`; of the shapes `residents` clusters each run at once, of the first at least one.
inline Plan plan_of(const Size &size, std::span<const Shape> table, std::span<const int> residents)
{
  Plan best;
  for (std::size_t i = 0; i < table.size(); ++i)
  {
    if (residents[i] == 0) // parts of a device may have no room for a large cluster
      continue;
    const Shape &shape = table[i];
    const auto consider = [&](int parts) {
      const Division division = division_of(size, shape, residents[i], parts);
      const double time = time_of(division, shape, size, residents[i]);
      if (best.time == 0. || time < best.time)
        best = {static_cast<int>(i), shape, division, time};
      return division;
    };
    const Division whole = consider(1);
    const int rest = whole.sections() % residents[i];
    const int most = rest > 0 ? residents[i] / rest : 1;
    if (most > 1)
      consider(most);
    if (most > 3)
      consider(most / 2); // fewer sums to add
  }
  return best;
}

/// Whether the copy engine can read factors in FP32 where they are: rows start at multiples of 16 bytes.
constexpr bool can_be_split_by_blocks(const Size &size)
{
  return size.k % 4 == 0 && size.n % 4 == 0;
}

/// Of FP32 factors: split before the product, or by the blocks that multiply.
inline Plan corrected_plan_of(const Size &size,
    const ResidentsOf<corrected_shapes.size()> &residents,
    const ResidentsOf<split_shapes.size()> &residents_of_split)
{
  const Plan before = plan_of(size, corrected_shapes, residents);
  if (!can_be_split_by_blocks(size))
    return before;
  const Plan within = plan_of(size, split_shapes, residents_of_split);
  return within.time > 0. && within.time < before.time ? within : before; // 0: no shape has room
}

/// For the current device; of Half or float, whose factors have two terms. Throws DeviceError below compute capability 9.0.
template <typename Number>
Plan plan_of(const Size &size);

/// Numbers that the factors take in a workspace for products by a shape.
template <typename Number>
constexpr std::int64_t factor_numbers(const Size &size, const Shape &shape)
{
  if (shape.splits)
    return 0;
  // Two terms in FP16 take as much as FP32 numbers.
  return std::is_same_v<Number, Half>
      ? aligned_numbers(size)
      : size.m * aligned_columns(size.k) + size.k * aligned_columns(size.n);
}

/// fp16_wgmma() and single_wgmma() by a plan for this size, k > 0. `workspace` has factor_numbers<Number>(size, plan.shape),
/// `partial` the plan's partial_numbers().
template <typename Number>
void multiply(const Plan &plan, const Size &size, const Number *a, const Number *b, float *c,
    Number *workspace, float *partial, Stream stream);
} // namespace tensormg::gemm::wgmma
