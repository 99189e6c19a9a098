// The operator of kernels/laplace/cellmean/cellmean.h in vector code: lanes are neighbouring cells of a row.
//
// A first pass writes the traces of cells at sides of blocks. The second takes those of neighbours in the same block from their modes, which
// are in the caches then, and the others from the first pass. Contractions with the antisymmetric K couple even and odd modes alone: half of the products.
// Both sides of a direction are added at once, as sums to even modes and differences to odd ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/core/simd.h"
#include "kernels/laplace/cellmean/cellmean.h"
#include "kernels/laplace/cpu/tables.h"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
/// One-dimensional tables of the modes.
template <int dim, int n, typename C>
struct CellMeanTables
{
  static constexpr int nz = dim == 3 ? n : 1, face_modes = n * nz, half = n / 2,
                       upper = (n + 1) / 2;

  std::array<C, n> lambda{}, v{}, h{};
  std::array<std::array<C, half>, upper> k{}; ///< K of even mode 2 m and odd mode 2 l + 1
  C penalty;                                  ///< sigma
  /// Of each FaceMap, by face_map().
  struct Map
  {
    std::array<std::int16_t, face_modes> q{};
    std::array<C, face_modes> sign{};
  };
  std::array<Map, 8> maps{};

  explicit CellMeanTables(const CellBasis &basis)
    : penalty(static_cast<C>(basis.penalty))
  {
    const auto derivative = derivative_of_modes(basis);
    for (int i = 0; i < n; ++i)
    {
      lambda[i] = static_cast<C>(basis.lambda[i]);
      v[i] = static_cast<C>(basis.v[i]);
      h[i] = static_cast<C>(basis.h[i]);
    }
    for (int m = 0; m < upper; ++m)
      for (int l = 0; l < half; ++l)
        k[m][l] = static_cast<C>(
            0.5 * (derivative[2 * m * n + 2 * l + 1] - derivative[(2 * l + 1) * n + 2 * m]));
    for (int number = 0; number < n_face_maps(dim); ++number)
      for (int q = 0; q < face_modes; ++q)
      {
        const ModeBehind mode = mode_behind(face_map(number), n, q % n, q / n);
        maps[number].q[q] = static_cast<std::int16_t>(mode.q);
        maps[number].sign[q] = static_cast<C>(mode.sign);
      }
  }
  const Map &of(const FaceMap &map) const
  {
    return maps[dim == 2 ? (map.flip[0] ? 1 : 0)
                         : 4 * int{map.exchange} + 2 * int{map.flip[1]} + int{map.flip[0]}];
  }
};

/// W cells at a time.
template <int dim, int n, typename Number, int W>
class CellMeanCells
{
  using C = Compute<Number>;
  using V = simd::Vec<C, W>;
  using Tables = CellMeanTables<dim, n, C>;
  static constexpr int nz = Tables::nz, cell_modes = n * n * nz, face_modes = Tables::face_modes,
                       half = Tables::half, upper = Tables::upper;
  using CellModes = std::array<V, cell_modes>;
  using FaceModes = std::array<V, face_modes>;
  static constexpr std::array<int, 3> strides{1, n, n *n};

public:
  /// Of the cells from cx on.
  CellMeanCells(const CellMeanArguments<Number> &arguments, const Tables &tables, std::int64_t row,
      std::int64_t cx)
    : a_(arguments)
    , tables_(tables)
    , row_(row)
    , cell_{cx, row % arguments.block.cells[1], row / arguments.block.cells[1]}
    , in_memory_{a_.block.pitch, n * a_.block.pitch, a_.block.plane()}
    , first_(a_.block.index(cx, cell_[1], cell_[2], 0, 0, 0))
  {}

  /// Of cells at sides of blocks.
  void write_traces() const
  {
    for_directions([&](auto d) {
      write_traces_of<2 * d>();
      write_traces_of<2 * d + 1>();
    });
  }

  void write_results(bool is_streamed)
  {
    CellModes u;
    for_modes([&](int mode, std::int64_t at) { u[mode] = simd::load<W>(a_.src + at); });
    start_result(u);
    add_mixed(u);
    for_directions([&](auto d) { add_sides<d>(u); });
    store(u, is_streamed);
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
    for (int at = 0; at < cell_modes; at += stride * n)
      for (int s = 0; s < stride; ++s)
        use(at + s, stride);
  }
  template <typename Use>
  TENSORMG_INLINE void for_modes(const Use &use) const
  {
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
          use((k * n + j) * n + i,
              first_ + k * in_memory_[2] + j * in_memory_[1] + i * in_memory_[0]);
  }

  V number(int which) const
  {
    return simd::load<W>(a_.numbers + cell_mean_index(a_.block, row_, which, cell_[0]));
  }
  V metric(int a, int b) const { return number(volume_place(dim, std::min(a, b), std::max(a, b))); }

  /// sum_a G_aa lambda_i + c
  void start_result(const CellModes &u)
  {
    const V gx = metric(0, 0), gy = metric(1, 1), c = number(reaction_place(dim));
    V gz{};
    if constexpr (dim == 3)
      gz = metric(2, 2);
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < n; ++j)
      {
        V other = gy * tables_.lambda[j] + c;
        if constexpr (dim == 3)
          other += gz * tables_.lambda[k];
        for (int i = 0; i < n; ++i)
        {
          const int mode = (k * n + j) * n + i;
          result_[mode] = (gx * tables_.lambda[i] + other) * u[mode];
        }
      }
  }

  /// to (+)= K from, of a line.
  template <bool add>
  TENSORMG_INLINE void apply_k(const V *from, V *to, int stride) const
  {
    const auto put = [&](int mode, V value) {
      to[mode * stride] = add ? to[mode * stride] + value : value;
    };
    std::array<V, n> line;
    for (int i = 0; i < n; ++i)
      line[i] = from[i * stride];
    for (int m = 0; m < upper; ++m)
    {
      V sum = tables_.k[m][0] * line[1];
      for (int l = 1; l < half; ++l)
        sum += tables_.k[m][l] * line[2 * l + 1];
      put(2 * m, sum);
    }
    for (int l = 0; l < half; ++l)
    {
      V sum = tables_.k[0][l] * line[0];
      for (int m = 1; m < upper; ++m)
        sum += tables_.k[m][l] * line[2 * m];
      put(2 * l + 1, -sum);
    }
  }
  /// to = M / 2 from, likewise.
  TENSORMG_INLINE void apply_half_m(const V *from, V *to, int stride, int to_stride) const
  {
    V even{}, odd{};
    for (int i = 0; i < n; ++i)
      (i % 2 == 0 ? even : odd) += tables_.v[i] * from[i * stride];
    for (int i = 0; i < n; ++i)
      to[i * to_stride] = tables_.v[i] * (i % 2 == 0 ? odd : even);
  }

  /// - sum over a < b of 2 G_ab K_a K_b
  void add_mixed(const CellModes &u)
  {
    CellModes t;
    for_lines(1, [&](int first, int stride) { apply_k<false>(&u[first], &t[first], stride); });
    const V xy = C(-2) * metric(0, 1);
    if constexpr (dim == 2)
      for (V &x : t)
        x *= xy;
    else
    {
      CellModes z;
      for_lines(2, [&](int first, int stride) { apply_k<false>(&u[first], &z[first], stride); });
      const V xz = C(-2) * metric(0, 2), yz = C(-2) * metric(1, 2);
      for (int mode = 0; mode < cell_modes; ++mode)
      {
        t[mode] = xy * t[mode] + xz * z[mode];
        z[mode] *= yz;
      }
      for_lines(
          1, [&](int first, int stride) { apply_k<true>(&z[first], &result_[first], stride); });
    }
    for_lines(0, [&](int first, int stride) { apply_k<true>(&t[first], &result_[first], stride); });
  }

  /// Mode 0 of the line in direction d through mode q of its sides.
  static constexpr int line_of(int d, int q)
  {
    const auto [a, b] = tangential(d);
    return q % n * strides[a] + (dim == 3 ? q / n * strides[b] : 0);
  }
  /// use(first, stride) for the lines of modes of a side in tangential direction t.
  template <int t, typename Use>
  TENSORMG_INLINE static void for_face_lines(const Use &use)
  {
    if constexpr (t == 0)
      for (int b = 0; b < nz; ++b)
        use(b * n, 1);
    else
      for (int a = 0; a < n; ++a)
        use(a, n);
  }
  template <typename Use>
  TENSORMG_INLINE static void for_tangential(const Use &use)
  {
    use(std::integral_constant<int, 0>());
    if constexpr (dim == 3)
      use(std::integral_constant<int, 1>());
  }

  /// Values of the lines at an end and d_a u there, from the modes of a cell in memory.
  template <int side, typename Load>
  TENSORMG_INLINE void find_ends(const Load &load, FaceModes &value, FaceModes &slope) const
  {
    constexpr int d = side / 2;
    constexpr auto t = tangential(d);
    for (int q = 0; q < face_modes; ++q)
    {
      const std::int64_t at = q % n * in_memory_[t[0]] + (dim == 3 ? q / n * in_memory_[t[1]] : 0);
      V even{}, odd{}, even_slope{}, odd_slope{};
      for (int i = 0; i < n; ++i)
      {
        const V u = load(at + i * in_memory_[d]);
        (i % 2 == 0 ? even : odd) += tables_.v[i] * u;
        (i % 2 == 0 ? even_slope : odd_slope) += tables_.h[i] * u;
      }
      value[q] = side % 2 == 1 ? even + odd : even - odd;
      slope[q] = C(2) * (side % 2 == 1 ? odd_slope + even_slope : odd_slope - even_slope);
    }
  }

  /// G of the cells whose side faces the own side, or of these themselves.
  struct Metric
  {
    std::array<V, dim> g; ///< G_aa, G_ab of the tangential directions
  };
  /// K V and M V / 2 in the tangential directions.
  struct Along
  {
    std::array<FaceModes, dim - 1> k, m;
  };
  TENSORMG_INLINE void find_along(const FaceModes &value, Along &along) const
  {
    for_tangential([&](auto t) {
      for_face_lines<t>([&](int first, int stride) {
        apply_k<false>(&value[first], &along.k[t][first], stride);
        apply_half_m(&value[first], &along.m[t][first], stride, stride);
      });
    });
  }
  /// Outward.
  template <int side>
  TENSORMG_INLINE static void find_flux(
      const Metric &metric, const FaceModes &slope, const Along &along, FaceModes &flux)
  {
    for (int q = 0; q < face_modes; ++q)
    {
      V sum = metric.g[0] * slope[q];
      for (int t = 0; t + 1 < dim; ++t)
        sum += metric.g[1 + t] * (along.k[t][q] + along.m[t][q]);
      flux[q] = side % 2 == 1 ? sum : -sum;
    }
  }

  template <int side, typename Load>
  TENSORMG_INLINE Metric metric_of(const Load &load) const
  {
    constexpr int d = side / 2;
    constexpr auto t = tangential(d);
    Metric result;
    result.g[0] = load(volume_place(dim, d, d));
    for (int i = 0; i + 1 < dim; ++i)
      result.g[1 + i] = load(volume_place(dim, std::min(d, t[i]), std::max(d, t[i])));
    return result;
  }
  template <int side>
  TENSORMG_INLINE Metric own_metric() const
  {
    return metric_of<side>([&](int which) { return number(which); });
  }

  bool is_at_border(int side, int lane) const
  {
    const std::int64_t inside =
        side / 2 == 0 ? (cell_[0] + lane) % a_.per_direction : cell_[side / 2];
    return inside == (side % 2 == 1 ? a_.per_direction - 1 : 0);
  }
  std::array<std::int64_t, 3> cell_of(int lane) const
  {
    return {cell_[0] + lane, cell_[1], cell_[2]};
  }
  /// use(lane) for cells at that side of their blocks.
  template <typename Use>
  TENSORMG_INLINE void for_border(int side, const Use &use) const
  {
    if (side / 2 > 0 && !is_at_border(side, 0))
      return;
    const std::int64_t cells = a_.per_direction;
    const auto last = static_cast<int>(std::min<std::int64_t>(W, a_.block.cells[0] - cell_[0]));
    if (side / 2 > 0)
      for (int lane = 0; lane < last; ++lane)
        use(lane);
    else
    {
      const std::int64_t past = cell_[0] % cells, // of the first lane
          next = side % 2 == 1 ? cells - 1 - past : (cells - past) % cells;
      for (std::int64_t lane = next; lane < last; lane += cells)
        use(static_cast<int>(lane));
    }
  }

  template <int side>
  void write_traces_of() const
  {
    bool is_needed = false;
    for_border(side, [&](int) { is_needed = true; });
    if (!is_needed)
      return;
    FaceModes value, slope, flux;
    find_ends<side>(
        [&](std::int64_t at) { return simd::load<W>(a_.src + first_ + at); }, value, slope);
    Along along;
    find_along(value, along);
    find_flux<side>(own_metric<side>(), slope, along, flux);
    for_border(side, [&](int lane) {
      C *const to = a_.traces + border_index(a_.block, a_.per_direction, cell_of(lane), side);
      for (int q = 0; q < face_modes; ++q)
      {
        to[q] = value[q][lane];
        to[face_modes + q] = flux[q][lane];
      }
    });
  }

  /// Lane i of the result is lane i + by of v, in a ring.
  template <int by>
  TENSORMG_INLINE static V rotated(V v)
  {
    return [&]<int... i>(std::integer_sequence<int, i...>)
    {
      return __builtin_shufflevector(v, v, ((i + by + W) % W)...);
    }
    (std::make_integer_sequence<int, W>());
  }

  /// V, F and the slope of the cells behind a side in the same block; others, and the derivatives along the side, are not yet there.
  template <int side>
  TENSORMG_INLINE void find_ends_behind(FaceModes &value, FaceModes &slope, Metric &metric) const
  {
    constexpr int d = side / 2, step = side % 2 == 1 ? 1 : -1;
    const C *const numbers = a_.numbers + cell_mean_index(a_.block, row_, 0, cell_[0]);
    if constexpr (d == 0)
    {
      // What a ring brings in at the end of a row is at a side of a block.
      const bool is_last = step > 0 ? cell_[0] + W >= a_.block.pitch : cell_[0] == 0;
      const auto beside = [&](const auto *p) {
        return is_last ? rotated<step>(simd::load<W>(p)) : simd::load<W>(p + step);
      };
      if (is_last)
        find_ends<(side ^ 1)>(
            [&](std::int64_t at) { return rotated<step>(simd::load<W>(a_.src + first_ + at)); },
            value, slope);
      else
        find_ends<(side ^ 1)>(
            [&](std::int64_t at) { return simd::load<W>(a_.src + first_ + at + step); }, value,
            slope);
      metric = metric_of<side>([&](int which) { return beside(numbers + which * a_.block.pitch); });
    }
    else
    {
      const std::int64_t cells = step * n * in_memory_[d],
                         rows = step * (d == 1 ? 1 : a_.block.cells[1]);
      find_ends<(side ^ 1)>(
          [&](std::int64_t at) { return simd::load<W>(a_.src + first_ + cells + at); }, value,
          slope);
      const std::int64_t offset = rows * cell_mean_numbers(dim) * a_.block.pitch;
      metric = metric_of<side>(
          [&](int which) { return simd::load<W>(numbers + offset + which * a_.block.pitch); });
    }
  }

  /// V and F of what is behind lanes at sides of blocks.
  template <int side>
  void load_border(FaceModes &value, FaceModes &flux) const
  {
    for_border(side, [&](int lane) {
      const auto cell = cell_of(lane);
      const auto [place, map] = cell_behind(a_.block, a_.per_direction, a_.links, cell, side);
      const C *from =
          a_.traces + border_index(a_.block, a_.per_direction, cell, side); // the own one
      if (is_closed(place.kind))
      {
        const C sign(place.kind == Side::dirichlet ? -1 : 1);
        C robin(0);
        if (place.kind == Side::neumann)
          robin =
              C(2) * a_.numbers[cell_mean_index(a_.block, row_, penalty_place(dim, side), cell[0])];
        for (int q = 0; q < face_modes; ++q)
        {
          value[q][lane] = sign * from[q];
          flux[q][lane] = sign * from[face_modes + q] + robin * from[q];
        }
        return;
      }
      from = place.remote >= 0
          ? a_.remote_traces + place.remote * 2 * face_modes
          : a_.traces + border_index(a_.block, a_.per_direction, place.cell, place.side);
      const auto &of_map = tables_.of(map);
      for (int q = 0; q < face_modes; ++q)
      {
        value[q][lane] = of_map.sign[q] * from[of_map.q[q]];
        flux[q][lane] = of_map.sign[q] * from[face_modes + of_map.q[q]];
      }
    });
  }

  /// What tests values and slopes at a side: P and s V', but for the own values.
  template <int side>
  TENSORMG_INLINE void find_side(FaceModes &p, FaceModes &behind) const
  {
    constexpr int d = side / 2;
    FaceModes slope, flux;
    Along along;
    const bool all_at_border = d > 0 && is_at_border(side, 0);
    Metric metric;
    if (all_at_border)
    {
      behind.fill(V{});
      flux.fill(V{});
      load_border<side>(behind, flux);
      find_along(behind, along);
    }
    else
    {
      find_ends_behind<side>(behind, slope, metric);
      if constexpr (d == 0)
      {
        flux.fill(V{});
        load_border<side>(behind, flux);
        const FaceModes of_border = flux;
        find_along(behind, along);
        find_flux<(side ^ 1)>(metric, slope, along, flux);
        for_border(side, [&](int lane) {
          for (int q = 0; q < face_modes; ++q)
            flux[q][lane] = of_border[q][lane];
        });
      }
      else
      {
        find_along(behind, along);
        find_flux<(side ^ 1)>(metric, slope, along, flux);
      }
    }
    const Metric own = own_metric<side>();
    const V penalty = number(penalty_place(dim, side));
    const C half_sign(side % 2 == 1 ? 0.5 : -0.5);
    for (int q = 0; q < face_modes; ++q)
    {
      V sum{};
      for (int t = 0; t + 1 < dim; ++t)
        sum += own.g[1 + t] * (along.m[t][q] - along.k[t][q]);
      p[q] = C(0.5) * flux[q] + half_sign * sum - penalty * behind[q];
    }
  }

  /// Both sides of direction d.
  template <int d>
  void add_sides(const CellModes &u)
  {
    constexpr int stride = strides[d];
    std::array<FaceModes, 2> p, behind;
    find_side<2 * d>(p[0], behind[0]);
    find_side<2 * d + 1>(p[1], behind[1]);
    std::array<FaceModes, 2> own;
    for (int q = 0; q < face_modes; ++q)
    {
      const V *line = &u[line_of(d, q)];
      V even{}, odd{};
      for (int i = 0; i < n; ++i)
        (i % 2 == 0 ? even : odd) += tables_.v[i] * line[i * stride];
      own[0][q] = even - odd;
      own[1][q] = even + odd;
    }
    const V g = metric(d, d);
    for (int end = 0; end < 2; ++end)
    {
      const V penalty = number(penalty_place(dim, 2 * d + end)) - tables_.penalty * g;
      for (int q = 0; q < face_modes; ++q)
        p[end][q] += penalty * own[end][q];
      add_corners<d>(own[end], end == 1 ? C(-1) : C(1), p[end]);
    }
    for (int q = 0; q < face_modes; ++q)
    {
      V *line = &result_[line_of(d, q)];
      const V even = p[1][q] + p[0][q], odd = p[1][q] - p[0][q],
              even_slope = g * (behind[1][q] + behind[0][q]),
              odd_slope = g * (behind[1][q] - behind[0][q]);
      for (int i = 0; i < n; ++i)
        line[i * stride] += i % 2 == 0 ? tables_.v[i] * even + tables_.h[i] * even_slope
                                       : tables_.v[i] * odd + tables_.h[i] * odd_slope;
    }
  }

  /// s G_db M_b V / 2 of the directions b > d.
  template <int d>
  TENSORMG_INLINE void add_corners(const FaceModes &value, C sign, FaceModes &p) const
  {
    for_tangential([&](auto t) {
      constexpr int b = tangential(d)[t];
      if constexpr (b > d)
      {
        const V g = sign * metric(d, b);
        for_face_lines<t>([&](int first, int stride) {
          std::array<V, n> m;
          apply_half_m(&value[first], m.data(), stride, 1);
          for (int i = 0; i < n; ++i)
            p[first + i * stride] += g * m[i];
        });
      }
    });
  }
  void store(const CellModes &u, bool is_streamed)
  {
    const std::int64_t cells = a_.block.cells[0] - cell_[0];
    const bool has_padding = cells < W; // where numbers are zero, but the next cell has some
    for_modes([&](int mode, std::int64_t at) {
      V value = has_padding ? simd::keep_first<W, C>(result_[mode], cells) : result_[mode];
      if (a_.b != nullptr)
        value = simd::load<W>(a_.b + at) - value;
      if (a_.inverse_diagonal != nullptr)
      {
        const V x = u[mode];
        const V before = a_.old != nullptr ? V(simd::load<W>(a_.old + at)) : V{};
        value = x + a_.theta * (x - before) +
            a_.alpha * simd::load<W>(a_.inverse_diagonal + at) * value;
      }
      if (is_streamed)
        simd::store_streaming<W>(a_.dst + at, value);
      else
        simd::store<W>(a_.dst + at, value);
    });
  }

  const CellMeanArguments<Number> &a_;
  const Tables &tables_;
  std::int64_t row_;
  std::array<std::int64_t, 3> cell_;      ///< the first one
  std::array<std::int64_t, 3> in_memory_; ///< from a mode to the next one
  std::int64_t first_;                    ///< place of mode 0 of the first cell
  CellModes result_;
};

/// Cells in x that are taken through all rows before the next ones: three layers of their modes stay in the second cache.
template <int dim, int n, typename Number>
std::int64_t cell_mean_chunk(const Block &block)
{
  constexpr std::int64_t cached_bytes = 1 << 20, least = 16;
  const std::int64_t of_column =
      block.dofs_per_cell() * std::int64_t{sizeof(Number)} * 3 * (dim == 3 ? block.cells[1] : 1);
  return std::max(cached_bytes / of_column / least * least, least);
}

template <int dim, int n, typename Number>
void apply_cell_mean_cpu(const CellMeanArguments<Number> &a)
{
  using C = Compute<Number>;
  const CellMeanTables<dim, n, C> tables(*a.basis);
  const std::int64_t rows = a.block.cells[1] * a.block.cells[2],
                     chunk = cell_mean_chunk<dim, n, Number>(a.block);
  const auto for_cells = [&](const auto &use) {
    for (std::int64_t first = 0; first < a.block.pitch; first += chunk)
      for (std::int64_t row = 0; row < rows; ++row)
        simd::for_each_vector<C>(
            std::min(chunk, a.block.pitch - first), [&](std::int64_t x, auto width) {
              CellMeanCells<dim, n, Number, width> cells(a, tables, row, first + x);
              use(cells);
            });
  };
  constexpr std::int64_t cached_bytes = 8 << 20;
  const bool is_streamed = a.block.size() * std::int64_t{sizeof(Number)} > cached_bytes &&
      simd::native_width<C> * sizeof(Number) == simd::line_bytes && a.dst != a.old &&
      reinterpret_cast<std::uintptr_t>(a.dst) % simd::line_bytes == 0 &&
      a.block.pitch % simd::native_width<C> == 0;
  for_cells([](const auto &cells) { cells.write_traces(); });
  a.traces_are_written();
  for_cells([&](auto &cells) { cells.write_results(is_streamed); });
  streaming_fence();
}

template <typename Number>
ApplyCellMean<Number> *cell_mean_cpu(int dim, int degree)
{
  return by_degree<1, max_degree>(degree, [&](auto d) -> ApplyCellMean<Number> * {
    return dim == 2 ? &apply_cell_mean_cpu<2, d.value + 1, Number>
                    : &apply_cell_mean_cpu<3, d.value + 1, Number>;
  });
}
} // namespace tensormg::laplace
