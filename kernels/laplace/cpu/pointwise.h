// The operator of kernels/laplace/pointwise/pointwise.h in vector code: lanes are neighbouring cells of a row.
//
// Two passes over the cells. The first brings u to the points and writes the traces (V, F) of all sides. The second brings u to the points once
// more, where G meets the gradient; takes the traces of both sides of each face; and goes back to modes. Modes to points is
// three contractions with the symmetric tables of the basis, a derivative one with an antisymmetric table: both take half of the products.
// Both sides of a direction share the sums and differences of each line. What tests derivatives along a side is differentiated there. What is more
// than the caches hold is written past them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/core/simd.h"
#include "kernels/laplace/cpu/tables.h"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "kernels/laplace/pointwise/tables.h"

namespace tensormg::laplace
{
/// The lanes of two vectors one after the other.
template <typename V>
TENSORMG_INLINE inline auto joined(V lower, V upper)
{
  constexpr int W = sizeof(V) / sizeof(lower[0]);
  return [&]<int... i>(std::integer_sequence<int, i...>)
  {
    return __builtin_shufflevector(lower, upper, i...);
  }
  (std::make_integer_sequence<int, 2 * W>());
}
/// The lower lanes from one place, the upper ones from another: one conversion for both.
template <int W>
TENSORMG_INLINE inline simd::Vec<float, W> joined(const Half *lower, const Half *upper)
{
#if defined(__AVX512F__)
  if constexpr (W == 16)
  {
    const __m256i both = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(lower))),
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(upper)), 1);
    return (simd::Vec<float, 16>)_mm512_maskz_cvtph_ps(simd::all_lanes, both);
  }
  else
#endif
    return joined(simd::load<W / 2>(lower), simd::load<W / 2>(upper));
}
/// The lower lanes and the upper ones.
template <typename V>
TENSORMG_INLINE inline auto halves(V v)
{
  constexpr int W = sizeof(V) / sizeof(v[0]) / 2;
  return [&]<int... i>(std::integer_sequence<int, i...>)
  {
    return std::array{
        __builtin_shufflevector(v, v, i...), __builtin_shufflevector(v, v, (W + i)...)};
  }
  (std::make_integer_sequence<int, W>());
}

/// One-dimensional tables between modes and the n Gauss points.
template <int n, typename C>
struct PointwiseTables
{
  static constexpr int half = n / 2, upper = (n + 1) / 2;

  std::array<std::array<C, n>, upper> value{}; ///< of the modes at the first half of the points
  /// (D[q][p] -+ D[q][n-1-p]) / 2 of the derivatives D of the polynomials through the points, and of its transpose; column `half` of `even` is that of
  /// the middle point.
  struct Derivative
  {
    std::array<std::array<C, upper>, upper> odd{}, even{};
  };
  Derivative derivative, transposed;
  /// (E[p] + E[n-1-p]) / 2 and (E[n-1-p] - E[p]) / 2 of numbers E of a line at its upper end: what is even and what is odd about its middle.
  struct End
  {
    std::array<C, upper> even{}, odd{};

    End() = default;
    explicit End(const std::array<double, max_n> &e)
    {
      for (int p = 0; p < upper; ++p)
      {
        even[p] = static_cast<C>(p == half ? e[p] : 0.5 * (e[p] + e[n - 1 - p]));
        odd[p] = static_cast<C>(0.5 * (e[n - 1 - p] - e[p]));
      }
    }
  };
  End end;   ///< of these polynomials
  End slope; ///< of their outward derivatives

  PointwiseTables(const CellBasis &basis, const PointTables &tables)
  {
    const PointMatrices matrices(basis, tables);
    const auto d = [&](int q, int p) {
      return matrices.derivative[static_cast<std::size_t>(q) * n + p];
    };
    for (int q = 0; q < upper; ++q)
    {
      for (int i = 0; i < n; ++i)
        value[q][i] = static_cast<C>(tables.value[q * n + i]);
      for (int p = 0; p < upper; ++p)
      {
        const bool is_middle = p == half;
        derivative.odd[q][p] = static_cast<C>(0.5 * (d(q, p) - d(q, n - 1 - p)));
        derivative.even[q][p] =
            static_cast<C>(is_middle ? d(q, p) : 0.5 * (d(q, p) + d(q, n - 1 - p)));
        transposed.odd[q][p] = static_cast<C>(0.5 * (d(p, q) - d(n - 1 - p, q)));
        transposed.even[q][p] =
            static_cast<C>(is_middle ? d(p, q) : 0.5 * (d(p, q) + d(n - 1 - p, q)));
      }
    }
    end = End(matrices.end);
    slope = End(matrices.slope);
  }
};

/// W cells at a time.
template <int dim, int n, typename Number, typename Stored, int W>
class PointwiseCells
{
  using C = Compute<Number>;
  using V = simd::Vec<C, W>;
  using Tables = PointwiseTables<n, C>;
  static constexpr int nz = dim == 3 ? n : 1, cell_points = n * n * nz, face_points = n * nz,
                       half = Tables::half;
  using CellPoints = std::array<V, cell_points>;
  using FacePoints = std::array<V, face_points>;
  static constexpr std::array<int, 3> strides{1, n, n *n};
  static constexpr int of_traces = 2 * dim * face_points * 2;
  static constexpr std::int64_t cached_bytes = 8 << 20;
  static constexpr bool has_powers = std::is_same_v<Stored, Half>;

public:
  /// Of the cells from cx on, cx % W = 0.
  PointwiseCells(const PointwiseArguments<Number> &arguments, const Tables &tables,
      std::int64_t row, std::int64_t cx)
    : a_(arguments)
    , tables_(tables)
    , row_(row)
    , cell_{cx, row % arguments.block.cells[1], row / arguments.block.cells[1]}
    , volume_(numbers().volume + volume_index(a_.block, row, 0, 0, cx))
    , face_(numbers().face + face_index(a_.block, row, 0, 0, 0, cx))
    , is_large_(trace_size(a_.block) * std::int64_t{sizeof(C)} > cached_bytes)
    , dst_is_streamed_(is_large_ && W * sizeof(Number) == simd::line_bytes && a_.dst != a_.old &&
          reinterpret_cast<std::uintptr_t>(a_.dst) % simd::line_bytes == 0 &&
          a_.block.pitch % W == 0)
  {}

  void write_traces()
  {
    load();
    for_directions([&](auto d) { write_traces_of(d); });
  }

  void write_results()
  {
    load();
    find_fluxes();
    result_.fill(V{});
    for_directions([&](auto d) {
      for_lines(d, [&](int first, int stride) {
        differentiate<true>(tables_.transposed, &flux_[d][first], &result_[first], stride);
      });
    });
    finish_volume();
    for_directions([&](auto d) { add_sides(d); });
    for (int d = 0; d < dim; ++d)
      for_lines(d, [&](int first, int stride) { to_modes(&result_[first], stride); });
    store();
  }

private:
  template <typename Use>
  TENSORMG_INLINE static void for_directions(const Use &use)
  {
    use(std::integral_constant<int, 0>());
    use(std::integral_constant<int, 1>());
    if constexpr (dim == 3)
      use(std::integral_constant<int, 2>());
  }
  template <typename Use>
  TENSORMG_INLINE static void for_lines(int d, const Use &use)
  {
    const int stride = strides[d];
    for (int at = 0; at < cell_points; at += stride * n)
      for (int s = 0; s < stride; ++s)
        use(at + s, stride);
  }

  template <typename Use>
  TENSORMG_INLINE void for_modes(const Use &use) const
  {
    const std::int64_t first = a_.block.index(cell_[0], cell_[1], cell_[2], 0, 0, 0),
                       pitch = a_.block.pitch, plane = a_.block.plane();
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
          use((k * n + j) * n + i, first + k * plane + (j * n + i) * pitch);
  }
  void load()
  {
    for_modes([&](int mode, std::int64_t at) { points_[mode] = simd::load<W>(a_.src + at); });
    for (int d = 0; d < dim; ++d)
      for_lines(d, [&](int first, int stride) { to_points(&points_[first], stride); });
  }
  void store()
  {
    for_modes([&](int mode, std::int64_t at) {
      V value = result_[mode];
      if (a_.b != nullptr)
        value = simd::load<W>(a_.b + at) - value;
      if (a_.inverse_diagonal != nullptr)
      {
        const V x = simd::load<W>(a_.src + at);
        const V before = a_.old != nullptr ? V(simd::load<W>(a_.old + at)) : V{};
        value = x + a_.theta * (x - before) +
            a_.alpha * simd::load<W>(a_.inverse_diagonal + at) * value;
      }
      if (dst_is_streamed_)
        simd::store_streaming<W>(a_.dst + at, value);
      else
        simd::store<W>(a_.dst + at, value);
    });
  }

  /// Of a line, in place.
  TENSORMG_INLINE void to_points(V *u, int stride) const
  {
    std::array<V, n> line;
    for (int i = 0; i < n; ++i)
      line[i] = u[i * stride];
    for (int q = 0; q < Tables::upper; ++q)
    {
      V even = tables_.value[q][0] * line[0], odd{};
      for (int i = 1; i < n; ++i)
        (i % 2 == 0 ? even : odd) += tables_.value[q][i] * line[i];
      u[(n - 1 - q) * stride] = even - odd;
      u[q * stride] = even + odd; // in the middle odd modes vanish
    }
  }
  TENSORMG_INLINE void to_modes(V *u, int stride) const
  {
    std::array<V, Tables::upper> sum, difference;
    for (int q = 0; q < half; ++q)
    {
      sum[q] = u[q * stride] + u[(n - 1 - q) * stride];
      difference[q] = u[q * stride] - u[(n - 1 - q) * stride];
    }
    if constexpr (n % 2 == 1)
    {
      sum[half] = u[half * stride];
      difference[half] = V{};
    }
    for (int i = 0; i < n; ++i)
    {
      V result{};
      for (int q = 0; q < Tables::upper; ++q)
        result += tables_.value[q][i] * (i % 2 == 0 ? sum[q] : difference[q]);
      u[i * stride] = result;
    }
  }
  template <bool add>
  TENSORMG_INLINE static void differentiate(
      const typename Tables::Derivative &d, const V *from, V *to, int stride)
  {
    std::array<V, Tables::upper> sum, difference;
    for (int p = 0; p < half; ++p)
    {
      sum[p] = from[p * stride] + from[(n - 1 - p) * stride];
      difference[p] = from[p * stride] - from[(n - 1 - p) * stride];
    }
    if constexpr (n % 2 == 1)
    {
      sum[half] = from[half * stride];
      difference[half] = V{};
    }
    for (int q = 0; q < Tables::upper; ++q)
    {
      V symmetric{}, antisymmetric{};
      for (int p = 0; p < Tables::upper; ++p)
      {
        if (p < half)
          symmetric += d.odd[q][p] * difference[p];
        antisymmetric += d.even[q][p] * sum[p];
      }
      V &lower = to[q * stride], &upper = to[(n - 1 - q) * stride];
      if (n % 2 == 1 && q == half)
        lower = add ? lower + symmetric : symmetric;
      else
      {
        lower = add ? lower + (symmetric + antisymmetric) : symmetric + antisymmetric;
        upper = add ? upper + (symmetric - antisymmetric) : symmetric - antisymmetric;
      }
    }
  }

  /// Of the cells of one group or two, each of which has `of_cell` numbers for every cell.
  template <int of_cell, typename T>
  TENSORMG_INLINE static V load_groups(const T *from)
  {
    if constexpr (W <= group_cells)
      return simd::load<W>(from);
    else if constexpr (std::is_same_v<T, Half>)
      return joined<W>(from, from + of_cell * group_cells);
    else
      return joined(simd::load<W / 2>(from), simd::load<W / 2>(from + of_cell * group_cells));
  }
  TENSORMG_INLINE void store_groups(C *to, V v) const
  {
    if constexpr (W <= group_cells)
    {
      if (is_large_ && W * sizeof(C) == simd::line_bytes)
        simd::store_streaming<W>(to, v);
      else
        simd::store<W>(to, v);
    }
    else
    {
      const auto parts = halves(v);
      simd::store<W / 2>(to, parts[0]);
      simd::store<W / 2>(to + of_traces * group_cells, parts[1]);
    }
  }
  const PointNumbers<Stored> &numbers() const
  {
    if constexpr (has_powers)
      return a_.in_half;
    else
      return a_.numbers;
  }
  /// By which numbers of this kind are multiplied.
  V power(int number) const
  {
    if constexpr (has_powers)
      return load_groups<powers_of_cell(dim)>(
          a_.in_half.powers + power_index(a_.block, row_, number, cell_[0]));
    else
      return V{} + C(1);
  }
  V volume(int q, int a, int b) const
  {
    const int number = q * volume_numbers(dim) + volume_place(dim, a, b);
    return load_groups<cell_points * volume_numbers(dim)>(volume_ + number * group_cells);
  }
  V face(int side, int q, int number) const
  {
    return load_groups<2 * dim * face_points * face_numbers(dim)>(
        face_ + ((side * face_points + q) * face_numbers(dim) + number) * group_cells);
  }

  /// What the reaction adds, and the power of G.
  void finish_volume()
  {
    const V factor = power(power_of_metric);
    const Stored *const reaction = numbers().reaction;
    if (reaction == nullptr)
    {
      if constexpr (has_powers)
        for (V &value : result_)
          value *= factor;
      return;
    }
    const V of_reaction = power(power_of_reaction);
    const Stored *const first = reaction + reaction_index(a_.block, row_, 0, cell_[0]);
    for (int q = 0; q < cell_points; ++q)
    {
      V number = load_groups<cell_points>(first + q * group_cells);
      if constexpr (has_powers)
        number *= of_reaction;
      result_[q] = factor * result_[q] + number * points_[q];
    }
  }

  /// G times the gradient at the points.
  void find_fluxes()
  {
    for (int d = 0; d < dim; ++d)
      for_lines(d, [&](int first, int stride) {
        differentiate<false>(tables_.derivative, &points_[first], &flux_[d][first], stride);
      });
    for (int q = 0; q < cell_points; ++q)
    {
      std::array<V, dim> gradient;
      for (int d = 0; d < dim; ++d)
        gradient[d] = flux_[d][q];
      for (int a = 0; a < dim; ++a)
      {
        V sum{};
        for (int b = 0; b < dim; ++b)
          sum += volume(q, std::min(a, b), std::max(a, b)) * gradient[b];
        flux_[a][q] = sum;
      }
    }
  }

  /// Point 0 of the line in direction d through point q of its sides.
  static constexpr int line_of(int d, int q)
  {
    const auto [a, b] = tangential(d);
    return q % n * strides[a] + (dim == 3 ? q / n * strides[b] : 0);
  }
  /// use(first, stride, direction) for the lines of points of a side, in both directions.
  template <typename Use>
  TENSORMG_INLINE static void for_face_lines(const Use &use)
  {
    for (int b = 0; b < nz; ++b)
      use(b * n, 1, std::integral_constant<int, 0>());
    if constexpr (dim == 3)
      for (int a = 0; a < n; ++a)
        use(a, n, std::integral_constant<int, 1>());
  }

  /// The value of a line with numbers like those of an end, at the lower end and the upper one.
  TENSORMG_INLINE static std::array<V, 2> at_ends(const typename Tables::End &end,
      const std::array<V, Tables::upper> &sum, const std::array<V, Tables::upper> &difference)
  {
    V even{}, odd{};
    for (int p = 0; p < Tables::upper; ++p)
    {
      even += end.even[p] * sum[p];
      if (p < half)
        odd += end.odd[p] * difference[p];
    }
    return {even - odd, even + odd};
  }
  template <int d>
  void write_traces_of(std::integral_constant<int, d>) const
  {
    constexpr int stride = strides[d];
    std::array<FacePoints, 2> value, normal; // lower side, upper side
    for (int q = 0; q < face_points; ++q)
    {
      const V *line = &points_[line_of(d, q)];
      std::array<V, Tables::upper> sum, difference;
      for (int p = 0; p < half; ++p)
      {
        sum[p] = line[(n - 1 - p) * stride] + line[p * stride];
        difference[p] = line[(n - 1 - p) * stride] - line[p * stride];
      }
      if constexpr (n % 2 == 1)
        sum[half] = line[half * stride];
      const auto v = at_ends(tables_.end, sum, difference),
                 s = at_ends(tables_.slope, sum, difference);
      for (int end = 0; end < 2; ++end)
      {
        value[end][q] = v[end];
        normal[end][q] = s[end];
      }
    }
    for (int end = 0; end < 2; ++end)
      write_trace(2 * d + end, value[end], normal[end]);
  }
  void write_trace(int side, const FacePoints &value, const FacePoints &normal) const
  {
    std::array<FacePoints, 2> along;
    for_face_lines([&](int first, int stride, auto direction) {
      differentiate<false>(tables_.derivative, &value[first], &along[direction][first], stride);
    });
    C *to = a_.traces + trace_index(a_.block, row_, side, 0, 0, cell_[0]);
    const V factor = power(power_of_metric);
    for (int q = 0; q < face_points; ++q)
    {
      V flux = face(side, q, 1) * along[0][q];
      if constexpr (dim == 3)
        flux += face(side, q, 2) * along[1][q];
      const V outward = face(side, q, 0) * normal[q];
      V sum = side % 2 == 1 ? outward + flux : outward - flux;
      if constexpr (has_powers)
        sum *= factor;
      store_groups(to + 2 * q * group_cells, value[q]);
      store_groups(to + (2 * q + 1) * group_cells, sum);
    }
  }

  /// V, or F, of the points of a side.
  const C *trace(std::int64_t row, int side, int number, std::int64_t cx) const
  {
    return a_.traces + trace_index(a_.block, row, side, 0, number, cx);
  }
  static V at_point(const C *trace, int q)
  {
    return load_groups<of_traces>(trace + 2 * q * group_cells);
  }
  /// Lane i of the result is lane i + by of v, in a ring.
  template <int by>
  TENSORMG_INLINE static V rotated(V v)
  {
    return [&]<int... i>(std::integer_sequence<int, i...>) { return V{v[(i + by + W) % W]...}; }
    (std::make_integer_sequence<int, W>());
  }

  /// The traces behind a side.
  template <int side>
  void load_behind(FacePoints &v, FacePoints &f) const
  {
    constexpr int d = side / 2, step = side % 2 == 1 ? 1 : -1;
    const std::int64_t cells = a_.per_direction, cx = cell_[0];
    if constexpr (d == 0)
    {
      constexpr int last = step > 0 ? W - 1 : 0; // whose neighbour is in the vector behind
      const std::int64_t next = step > 0 ? cx + W : cx - 1;
      const bool has_next = next >= 0 && next < a_.block.cells[0];
      const C *const here = trace(row_, side ^ 1, 0, cx),
                     *const there = trace(row_, side ^ 1, 0, has_next ? next : cx);
      for (int q = 0; q < face_points; ++q)
      {
        v[q] = rotated<step>(at_point(here, q));
        f[q] = rotated<step>(at_point(here + group_cells, q));
        v[q][last] = there[2 * q * group_cells];
        f[q][last] = there[(2 * q + 1) * group_cells];
      }
    }
    else if (cell_[d] + step >= 0 && cell_[d] + step < cells)
    {
      const C *const there = trace(row_ + step * (d == 1 ? 1 : a_.block.cells[1]), side ^ 1, 0, cx);
      for (int q = 0; q < face_points; ++q)
      {
        v[q] = at_point(there, q);
        f[q] = at_point(there + group_cells, q);
      }
      return;
    }
    for (int lane = 0; lane < W; ++lane)
    {
      const std::int64_t x = cx + lane;
      if (x >= a_.block.cells[0]) // padding stays zero
        for (int q = 0; q < face_points; ++q)
          v[q][lane] = f[q][lane] = C(0);
      else if (d > 0 || x % cells == (step > 0 ? cells - 1 : 0))
        load_lane(side, lane, v, f);
    }
  }
  /// At the border of a block.
  void load_lane(int side, int lane, FacePoints &v, FacePoints &f) const
  {
    const std::array<std::int64_t, 3> cell{cell_[0] + lane, cell_[1], cell_[2]};
    const auto behind = [&](int qa, int qb) {
      return point_behind(a_.block, a_.per_direction, a_.links, cell, side, qa, qb);
    };
    const PointBehind first = behind(0, 0);
    if (first.kind == Side::ghost)
    {
      // Points of a side are those of one side of one cell, in another order.
      const auto place = [](const PointBehind &p) {
        return p.is_local() ? p.a + n * p.b : p.remote;
      };
      const std::int64_t step_a = place(behind(1, 0)) - place(first),
                         step_b = dim == 3 ? place(behind(0, 1)) - place(first) : 0;
      const C *const there = first.is_local()
          ? trace(first.cell[2] * a_.block.cells[1] + first.cell[1], first.side, 0, first.cell[0])
          : a_.remote_traces;
      const std::int64_t number_stride = first.is_local() ? group_cells : 1;
      for (int q = 0; q < face_points; ++q)
      {
        const C *const point =
            there + 2 * (place(first) + q % n * step_a + q / n * step_b) * number_stride;
        v[q][lane] = point[0];
        f[q][lane] = point[number_stride];
      }
      return;
    }
    const C sign = first.kind == Side::dirichlet ? C(-1) : C(1);
    const C *const own = trace(row_, side, 0, cell[0]);
    const V factor = C(2) * power(power_of_penalty(side));
    for (int q = 0; q < face_points; ++q)
    {
      const C value = own[2 * q * group_cells];
      v[q][lane] = sign * value;
      f[q][lane] = sign * own[(2 * q + 1) * group_cells];
      if (first.kind == Side::neumann)
        f[q][lane] += value * (factor * face(side, q, dim))[lane];
    }
  }

  /// What tests the value and the outward derivative at the points of a side.
  template <int side>
  void find_tests(FacePoints &of_value, FacePoints &of_slope) const
  {
    FacePoints v, f;
    load_behind<side>(v, f);
    const C *const own = trace(row_, side, 0, cell_[0]);
    const V of_beta = C(-0.5) * power(power_of_metric), of_jump = power(power_of_penalty(side));
    std::array<FacePoints, 2> along;
    for (int q = 0; q < face_points; ++q)
    {
      const V jump = at_point(own, q) - v[q], beta = of_beta * jump,
              outward = side % 2 == 1 ? beta : -beta;
      V penalty = face(side, q, dim);
      if constexpr (has_powers)
        penalty *= of_jump;
      of_value[q] = penalty * jump - C(0.5) * (at_point(own + group_cells, q) - f[q]);
      of_slope[q] = beta * face(side, q, 0);
      for (int g = 1; g < dim; ++g)
        along[g - 1][q] = outward * face(side, q, g);
    }
    for_face_lines([&](int first, int stride, auto direction) {
      differentiate<true>(tables_.transposed, &along[direction][first], &of_value[first], stride);
    });
  }
  template <int d>
  void add_sides(std::integral_constant<int, d>)
  {
    constexpr int stride = strides[d];
    std::array<FacePoints, 2> value, slope;
    find_tests<2 * d>(value[0], slope[0]);
    find_tests<2 * d + 1>(value[1], slope[1]);
    for (int q = 0; q < face_points; ++q)
    {
      V *const line = &result_[line_of(d, q)];
      const V even = value[1][q] + value[0][q], odd = value[1][q] - value[0][q],
              slope_even = slope[1][q] + slope[0][q], slope_odd = slope[1][q] - slope[0][q];
      for (int p = 0; p < Tables::upper; ++p)
      {
        const V symmetric = tables_.end.even[p] * even + tables_.slope.even[p] * slope_even;
        if (n % 2 == 1 && p == half)
        {
          line[p * stride] += symmetric;
          continue;
        }
        const V antisymmetric = tables_.end.odd[p] * odd + tables_.slope.odd[p] * slope_odd;
        line[p * stride] += symmetric - antisymmetric;
        line[(n - 1 - p) * stride] += symmetric + antisymmetric;
      }
    }
  }

  const PointwiseArguments<Number> &a_;
  const Tables &tables_;
  std::int64_t row_;
  std::array<std::int64_t, 3> cell_; ///< the first one
  const Stored *volume_, *face_;     ///< its numbers
  bool is_large_, dst_is_streamed_;
  CellPoints points_, result_;
  std::array<CellPoints, dim> flux_;
};

template <int dim, int n, typename Number, typename Stored>
void apply_pointwise_cpu(const PointwiseArguments<Number> &a)
{
  using C = Compute<Number>;
  const PointwiseTables<n, C> tables(*a.basis, *a.tables);
  const std::int64_t rows = a.block.cells[1] * a.block.cells[2];
  const auto for_cells = [&](const auto &use) {
    for (std::int64_t row = 0; row < rows; ++row)
      simd::for_each_vector<C>(a.block.pitch, [&](std::int64_t cx, auto width) {
        PointwiseCells<dim, n, Number, Stored, width> cells(a, tables, row, cx);
        use(cells);
      });
  };
  for_cells([](auto &cells) { cells.write_traces(); });
  a.traces_are_written();
  for_cells([](auto &cells) { cells.write_results(); });
  streaming_fence();
}

template <typename Number, typename Stored>
ApplyPointwise<Number> *pointwise_cpu(int dim, int degree)
{
  return by_degree<1, max_degree>(degree, [&](auto d) -> ApplyPointwise<Number> * {
    return dim == 2 ? &apply_pointwise_cpu<2, d.value + 1, Number, Stored>
                    : &apply_pointwise_cpu<3, d.value + 1, Number, Stored>;
  });
}
} // namespace tensormg::laplace
