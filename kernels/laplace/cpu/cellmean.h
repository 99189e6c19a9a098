// The operator of kernels/laplace/cellmean/cellmean.h in vector code: lanes are neighbouring cells of a row.
//
// A first pass writes the traces of cells at sides of blocks. The second goes through the layers of cells, with the modes of three of them, and the
// ends of their lines, side by side in scratch memory: what is behind a side in the same block is found there, or in x in other lanes.
// Contractions with the antisymmetric K couple even and odd modes alone: half of the products. With s, V', N' and G' of the neighbour, in its own direction
// along a, what tests values at a side is, in K and M of cellmean.h,
//   -T V' - s / 2 (G_aa' N' + sum_b ((G_ab' + G_ab) K_b + (G_ab' - G_ab) M_b / 2) V')
// beside the own values; of a neighbour with a given F G' is 1 and zero, N' = -s F. Both sides of a direction are added at once, sums to even modes and
// differences to odd ones.
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

  std::array<C, n> lambda{}, v{}, h{}, slope{}; ///< slope: 2 h, of d_a
  std::array<std::array<C, half>, upper> k{};   ///< K of even mode 2 m and odd mode 2 l + 1
  C penalty;                                    ///< sigma
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
      slope[i] = static_cast<C>(2. * basis.h[i]);
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

/// Where the modes of W cells lie in scratch memory, then the values and slopes at both ends of their lines in y and z.
template <int dim, int n>
struct CellMeanSlot
{
  static constexpr int face_modes = dim == 3 ? n * n : n, cell_modes = n * face_modes,
                       numbers = cell_modes + (dim - 1) * 4 * face_modes; ///< of each cell
  static constexpr int value(int side) { return cell_modes + (side - 2) * 2 * face_modes; }
  static constexpr int slope(int side) { return value(side) + face_modes; }
};

/// W cells at a time.
template <int dim, int n, typename Number, int W>
class CellMeanCells
{
  using C = Compute<Number>;
  using V = simd::Vec<C, W>;
  using Tables = CellMeanTables<dim, n, C>;
  using Slot = CellMeanSlot<dim, n>;
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

  /// Fills their slot.
  void read(C *slot) const
  {
    V *const to = reinterpret_cast<V *>(slot);
    const std::int64_t next_row = n * in_memory_[1];
    for_modes([&](int mode, std::int64_t at) {
      __builtin_prefetch(a_.src + at + next_row, 0, 2); // past the end this is harmless
      to[mode] = simd::load<W>(a_.src + at);
    });
    for_directions([&](auto d) {
      if constexpr (d > 0)
        find_both_ends<d>(to, {to + Slot::value(2 * d), to + Slot::value(2 * d + 1)},
            {to + Slot::slope(2 * d), to + Slot::slope(2 * d + 1)});
    });
  }

  /// Slots: the own one, and for each side in y and z that behind it, which is not read at sides of blocks.
  void write_results(const std::array<const C *, 6> &behind, const C *own, bool is_streamed)
  {
    const V *const u = as_vectors(own);
    prefetch();
    start_result(u);
    add_mixed(u);
    add_sides_in_x(u);
    for_directions([&](auto d) {
      if constexpr (d > 0)
      {
        Behind lower, above;
        find_behind<2 * d>(behind[2 * d], lower);
        find_behind<2 * d + 1>(behind[2 * d + 1], above);
        add_sides<d>({u + Slot::value(2 * d), u + Slot::value(2 * d + 1)}, lower, above);
      }
    });
    store(u, is_streamed);
  }

private:
  static const V *as_vectors(const C *slot) { return reinterpret_cast<const V *>(slot); }

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

  /// What store() reads, from memory.
  void prefetch() const
  {
    for_modes([&](int, std::int64_t at) {
      if (a_.b != nullptr)
        __builtin_prefetch(a_.b + at, 0, 2);
      if (a_.inverse_diagonal != nullptr)
        __builtin_prefetch(a_.inverse_diagonal + at, 0, 2);
      if (a_.old != nullptr)
        __builtin_prefetch(a_.old + at, 0, 2);
    });
  }

  /// sum_a G_aa lambda_i + c
  void start_result(const V *u)
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
  /// - sum over a < b of 2 G_ab K_a K_b
  void add_mixed(const V *u)
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

  /// Values of the lines in direction d at both ends and d_a u there, from the modes of a cell.
  template <int d>
  TENSORMG_INLINE void find_both_ends(
      const V *u, const std::array<V *, 2> &value, const std::array<V *, 2> &slope) const
  {
    for (int q = 0; q < face_modes; ++q)
    {
      const V *const line = u + line_of(d, q);
      V even{}, odd{}, even_slope{}, odd_slope{};
      for (int i = 0; i < n; ++i)
      {
        const V mode = line[i * strides[d]];
        (i % 2 == 0 ? even : odd) += tables_.v[i] * mode;
        (i % 2 == 0 ? even_slope : odd_slope) += tables_.slope[i] * mode;
      }
      value[0][q] = even - odd;
      value[1][q] = even + odd;
      slope[0][q] = odd_slope - even_slope;
      slope[1][q] = odd_slope + even_slope;
    }
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

  /// G_aa of direction d, G_ab of the tangential directions.
  using Metric = std::array<V, dim>;
  template <int d, typename Load>
  TENSORMG_INLINE static Metric metric_of(const Load &load)
  {
    constexpr auto t = tangential(d);
    Metric result;
    result[0] = load(volume_place(dim, d, d));
    for (int i = 0; i + 1 < dim; ++i)
      result[1 + i] = load(volume_place(dim, std::min(d, t[i]), std::max(d, t[i])));
    return result;
  }
  template <int d>
  TENSORMG_INLINE Metric own_metric() const
  {
    return metric_of<d>([&](int which) { return number(which); });
  }

  template <int side>
  void write_traces_of() const
  {
    constexpr int d = side / 2;
    bool is_needed = false;
    for_border(side, [&](int) { is_needed = true; });
    if (!is_needed)
      return;
    CellModes u;
    for_modes([&](int mode, std::int64_t at) { u[mode] = simd::load<W>(a_.src + at); });
    std::array<FaceModes, 2> value, slope;
    find_both_ends<d>(
        u.data(), {value[0].data(), value[1].data()}, {slope[0].data(), slope[1].data()});
    const FaceModes &v = value[side % 2];
    const Metric g = own_metric<d>();
    FaceModes flux;
    for (int q = 0; q < face_modes; ++q)
      flux[q] = g[0] * slope[side % 2][q];
    for_tangential([&](auto t) { add_along<t>(v.data(), g[1 + t], g[1 + t], flux); });
    const C sign(side % 2 == 1 ? 1 : -1);
    for_border(side, [&](int lane) {
      C *const to = a_.traces + border_index(a_.block, a_.per_direction, cell_of(lane), side);
      for (int q = 0; q < face_modes; ++q)
      {
        to[q] = v[q][lane];
        to[face_modes + q] = sign * flux[q][lane];
      }
    });
  }

  /// to += (k K + m M / 2) value in tangential direction t.
  template <int t>
  TENSORMG_INLINE void add_along(const V *value, V k, V m, FaceModes &to) const
  {
    for_face_lines<t>([&](int first, int stride) {
      std::array<V, n> line, of_k;
      V even{}, odd{};
      for (int i = 0; i < n; ++i)
      {
        line[i] = value[first + i * stride];
        (i % 2 == 0 ? even : odd) += tables_.v[i] * line[i];
      }
      apply_k<false>(line.data(), of_k.data(), 1);
      even *= m;
      odd *= m;
      for (int i = 0; i < n; ++i)
        to[first + i * stride] += k * of_k[i] + tables_.v[i] * (i % 2 == 0 ? odd : even);
    });
  }
  /// to += m M / 2 value.
  template <int t>
  TENSORMG_INLINE void add_half_m(const V *value, V m, FaceModes &to) const
  {
    for_face_lines<t>([&](int first, int stride) {
      V even{}, odd{};
      for (int i = 0; i < n; ++i)
        (i % 2 == 0 ? even : odd) += tables_.v[i] * value[first + i * stride];
      even *= m;
      odd *= m;
      for (int i = 0; i < n; ++i)
        to[first + i * stride] += tables_.v[i] * (i % 2 == 0 ? odd : even);
    });
  }

  /// V', N' and G'; `of_border`: those that are not in a slot.
  struct Behind
  {
    const V *value = nullptr, *slope = nullptr;
    Metric g;
    std::array<FaceModes, 2> of_border;
  };
  template <int side>
  TENSORMG_INLINE void find_behind(const C *slot, Behind &result) const
  {
    constexpr int d = side / 2, step = side % 2 == 1 ? 1 : -1;
    if (is_at_border(side, 0))
    {
      result.of_border[0].fill(V{});
      result.of_border[1].fill(V{});
      result.g.fill(V{});
      load_border<side>(result);
      result.value = result.of_border[0].data();
      result.slope = result.of_border[1].data();
      return;
    }
    result.value = as_vectors(slot) + Slot::value(side ^ 1);
    result.slope = as_vectors(slot) + Slot::slope(side ^ 1);
    const C *const numbers = a_.numbers +
        cell_mean_index(a_.block, row_ + step * (d == 1 ? 1 : a_.block.cells[1]), 0, cell_[0]);
    result.g =
        metric_of<d>([&](int which) { return simd::load<W>(numbers + which * a_.block.pitch); });
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
  /// The neighbours in x, where value and slope are those of the own ends that face them, in the lanes of the neighbours.
  template <int side>
  void find_behind_in_x(const FaceModes &value, const FaceModes &slope, Behind &result) const
  {
    constexpr int step = side == 1 ? 1 : -1, last = side == 1 ? W - 1 : 0;
    for (int q = 0; q < face_modes; ++q)
    {
      result.of_border[0][q] = rotated<step>(value[q]);
      result.of_border[1][q] = rotated<step>(slope[q]);
    }
    // At the end of a row is a side of a block.
    const bool is_ring = side == 1 ? cell_[0] + W >= a_.block.pitch : cell_[0] == 0;
    const C *const numbers = a_.numbers + cell_mean_index(a_.block, row_, 0, cell_[0]);
    result.g = metric_of<0>([&](int which) {
      const C *const p = numbers + which * a_.block.pitch;
      return is_ring ? rotated<step>(simd::load<W>(p)) : simd::load<W>(p + step);
    });
    if (!is_ring && !is_at_border(side, last))
      read_end(side ^ 1, last + step, last, result);
    load_border<side>(result);
    result.value = result.of_border[0].data();
    result.slope = result.of_border[1].data();
  }
  /// The end of the cell that is so many after the first one, into a lane.
  void read_end(int side, int cell, int lane, Behind &result) const
  {
    for (int q = 0; q < face_modes; ++q)
    {
      const Number *const line =
          a_.src + first_ + cell + q % n * in_memory_[1] + q / n * in_memory_[2];
      C even(0), odd(0), even_slope(0), odd_slope(0);
      for (int i = 0; i < n; ++i)
      {
        const C mode = static_cast<C>(line[i * in_memory_[0]]);
        (i % 2 == 0 ? even : odd) += tables_.v[i] * mode;
        (i % 2 == 0 ? even_slope : odd_slope) += tables_.slope[i] * mode;
      }
      result.of_border[0][q][lane] = side % 2 == 1 ? even + odd : even - odd;
      result.of_border[1][q][lane] =
          side % 2 == 1 ? odd_slope + even_slope : odd_slope - even_slope;
    }
  }

  /// V and F of what is behind lanes at sides of blocks.
  template <int side>
  void load_border(Behind &to) const
  {
    const C towards(side % 2 == 1 ? -1 : 1);
    for_border(side, [&](int lane) {
      const auto cell = cell_of(lane);
      const auto [place, map] = cell_behind(a_.block, a_.per_direction, a_.links, cell, side);
      const auto put = [&](int q, C value, C flux) {
        to.of_border[0][q][lane] = value;
        to.of_border[1][q][lane] = towards * flux;
      };
      to.g[0][lane] = C(1);
      for (int t = 0; t + 1 < dim; ++t)
        to.g[1 + t][lane] = C(0);
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
          put(q, sign * from[q], sign * from[face_modes + q] + robin * from[q]);
        return;
      }
      from = place.remote >= 0
          ? a_.remote_traces + place.remote * 2 * face_modes
          : a_.traces + border_index(a_.block, a_.per_direction, place.cell, place.side);
      const auto &of_map = tables_.of(map);
      for (int q = 0; q < face_modes; ++q)
        put(q, of_map.sign[q] * from[of_map.q[q]], of_map.sign[q] * from[face_modes + of_map.q[q]]);
    });
  }

  void add_sides_in_x(const V *u)
  {
    std::array<FaceModes, 2> value, slope;
    find_both_ends<0>(u, {value[0].data(), value[1].data()}, {slope[0].data(), slope[1].data()});
    Behind lower, above;
    find_behind_in_x<0>(value[1], slope[1], lower);
    find_behind_in_x<1>(value[0], slope[0], above);
    add_sides<0>({value[0].data(), value[1].data()}, lower, above);
  }

  /// Both sides of direction d, with the own values there.
  template <int d>
  TENSORMG_INLINE void add_sides(
      const std::array<const V *, 2> &own, const Behind &lower, const Behind &above)
  {
    constexpr int stride = strides[d];
    const Metric g = own_metric<d>();
    std::array<FaceModes, 2> p;
    find_side<2 * d>(g, own[0], lower, p[0]);
    find_side<2 * d + 1>(g, own[1], above, p[1]);
    for (int q = 0; q < face_modes; ++q)
    {
      V *const line = &result_[line_of(d, q)];
      const V even = p[1][q] + p[0][q], odd = p[1][q] - p[0][q],
              even_slope = g[0] * (above.value[q] + lower.value[q]),
              odd_slope = g[0] * (above.value[q] - lower.value[q]);
      for (int i = 0; i < n; ++i)
        line[i * stride] += i % 2 == 0 ? tables_.v[i] * even + tables_.h[i] * even_slope
                                       : tables_.v[i] * odd + tables_.h[i] * odd_slope;
    }
  }
  /// What tests values at a side.
  template <int side>
  TENSORMG_INLINE void find_side(
      const Metric &g, const V *own, const Behind &behind, FaceModes &p) const
  {
    constexpr int d = side / 2;
    constexpr auto tangentials = tangential(d);
    const C minus_half(side % 2 == 1 ? -0.5 : 0.5);
    const V penalty = number(penalty_place(dim, side)), of_own = penalty - tables_.penalty * g[0],
            of_slope = minus_half * behind.g[0];
    for (int q = 0; q < face_modes; ++q)
      p[q] = of_own * own[q] - penalty * behind.value[q] + of_slope * behind.slope[q];
    for_tangential([&](auto t) {
      add_along<t>(behind.value, minus_half * (behind.g[1 + t] + g[1 + t]),
          minus_half * (behind.g[1 + t] - g[1 + t]), p);
      if constexpr (tangentials[t] >
          d) // - s G_ab M_b V / 2 of each pair at the sides of one of them
        add_half_m<t>(own, C(2) * minus_half * g[1 + t], p);
    });
  }

  void store(const V *u, bool is_streamed)
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

/// Cells in x that are taken through all layers before the next ones: their slots of three layers stay in the second cache.
template <int dim, int n, typename C>
std::int64_t cell_mean_chunk(std::int64_t rows_of_layer)
{
  constexpr std::int64_t cached_bytes = 3 << 19, least = 32;
  const std::int64_t of_column =
      3 * rows_of_layer * CellMeanSlot<dim, n>::numbers * std::int64_t{sizeof(C)};
  return std::max(cached_bytes / of_column / least * least, least);
}

/// The second pass: the cells of a row from `first` on, as many as a multiple of row_granularity.
template <int dim, int n, typename Number>
class CellMeanColumn
{
  using C = Compute<Number>;
  using Tables = CellMeanTables<dim, n, C>;
  static constexpr std::int64_t of_line = simd::line_bytes / sizeof(C);

public:
  CellMeanColumn(const CellMeanArguments<Number> &arguments, const Tables &tables,
      std::int64_t first, std::int64_t length, bool is_streamed)
    : a_(arguments)
    , tables_(tables)
    , first_(first)
    , length_(length)
    , is_streamed_(is_streamed)
    , rows_(dim == 3 ? a_.block.cells[1] : 1)
    , layers_(dim == 3 ? a_.block.cells[2] : a_.block.cells[1])
    , of_row_((length * CellMeanSlot<dim, n>::numbers + of_line - 1) / of_line * of_line)
  {
    C *const memory = CpuScratch<C>::of_this_thread().require(3 * rows_ * of_row_ + of_line);
    const auto past = static_cast<std::int64_t>(
        reinterpret_cast<std::uintptr_t>(memory) % simd::line_bytes / sizeof(C));
    slots_ = memory + (of_line - past) % of_line;
  }

  void run() const
  {
    read(0);
    for (std::int64_t layer = 0; layer < layers_; ++layer)
    {
      if (layer + 1 < layers_)
        read(layer + 1);
      for_cells(layer, [&](auto &cells, std::int64_t row, std::int64_t x) {
        std::array<const C *, 6> behind{};
        if constexpr (dim == 3)
        {
          behind[2] = slot(layer, row - 1, x);
          behind[3] = slot(layer, row + 1, x);
        }
        behind[2 * dim - 2] = slot(layer - 1, row, x);
        behind[2 * dim - 1] = slot(layer + 1, row, x);
        cells.write_results(behind, slot(layer, row, x), is_streamed_);
      });
    }
  }

private:
  template <typename Use>
  void for_cells(std::int64_t layer, const Use &use) const
  {
    for (std::int64_t row = 0; row < rows_; ++row)
      simd::for_each_vector<C>(length_, [&](std::int64_t x, auto width) {
        CellMeanCells<dim, n, Number, width> cells(a_, tables_, layer * rows_ + row, first_ + x);
        use(cells, row, x);
      });
  }
  void read(std::int64_t layer) const
  {
    for_cells(layer, [&](const auto &cells, std::int64_t row, std::int64_t x) {
      cells.read(slot(layer, row, x));
    });
  }
  /// nullptr: there is none.
  C *slot(std::int64_t layer, std::int64_t row, std::int64_t x) const
  {
    if (layer < 0 || layer >= layers_ || row < 0 || row >= rows_)
      return nullptr;
    return slots_ + (layer % 3 * rows_ + row) * of_row_ + x * CellMeanSlot<dim, n>::numbers;
  }

  const CellMeanArguments<Number> &a_;
  const Tables &tables_;
  std::int64_t first_, length_;
  bool is_streamed_;
  std::int64_t rows_, layers_, of_row_;
  C *slots_;
};

/// Whether dst goes past the caches: it is large, and not there because it replaces old.
template <typename Number>
bool is_streamed(const CellMeanArguments<Number> &a)
{
  constexpr std::int64_t cached_bytes = 8 << 20;
  constexpr int width = simd::native_width<Compute<Number>>;
  return a.block.size() * std::int64_t{sizeof(Number)} > cached_bytes &&
      width * sizeof(Number) == simd::line_bytes && a.dst != a.old &&
      reinterpret_cast<std::uintptr_t>(a.dst) % simd::line_bytes == 0 && a.block.pitch % width == 0;
}

template <int dim, int n, typename Number>
void apply_cell_mean_cpu(const CellMeanArguments<Number> &a)
{
  using C = Compute<Number>;
  const CellMeanTables<dim, n, C> tables(*a.basis);
  for (std::int64_t row = 0; row < a.block.cells[1] * a.block.cells[2]; ++row)
    simd::for_each_vector<C>(a.block.pitch, [&](std::int64_t x, auto width) {
      CellMeanCells<dim, n, Number, width>(a, tables, row, x).write_traces();
    });
  a.traces_are_written();
  const std::int64_t chunk = cell_mean_chunk<dim, n, C>(dim == 3 ? a.block.cells[1] : 1);
  for (std::int64_t first = 0; first < a.block.pitch; first += chunk)
    CellMeanColumn<dim, n, Number>(
        a, tables, first, std::min(chunk, a.block.pitch - first), is_streamed(a))
        .run();
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
