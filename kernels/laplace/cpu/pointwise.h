// The operator of kernels/laplace/pointwise/pointwise.h in vector code: lanes are neighbouring cells of a row.
//
// Two passes over the cells. The first brings u to the points and writes the traces (V, F) of all sides. The second brings u to the points once
// more, where G meets the gradient; takes the traces of both sides of each face; and goes back to modes. Modes to points is
// three contractions with the symmetric tables of the basis, a derivative one with an antisymmetric table: both take half of the products.
// What tests derivatives on a face is added to the fluxes at the points before these are differentiated.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/core/simd.h"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg::laplace
{
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
  std::array<C, n> end{}; ///< of these polynomials at the upper end
  std::array<C, n>
      end_derivative{}; ///< likewise; at the lower end the negative, from the other side

  PointwiseTables(const CellBasis &basis, const PointTables &tables)
  {
    std::array<std::array<double, n>, n> d{};
    for (int q = 0; q < n; ++q)
      for (int p = 0; p < n; ++p)
        for (int i = 0; i < n; ++i)
          d[q][p] += tables.derivative[q * n + i] * tables.weight[p] * tables.value[p * n + i];
    for (int q = 0; q < upper; ++q)
    {
      for (int i = 0; i < n; ++i)
        value[q][i] = static_cast<C>(tables.value[q * n + i]);
      for (int p = 0; p < upper; ++p)
      {
        const bool is_middle = p == half;
        derivative.odd[q][p] = static_cast<C>(0.5 * (d[q][p] - d[q][n - 1 - p]));
        derivative.even[q][p] =
            static_cast<C>(is_middle ? d[q][p] : 0.5 * (d[q][p] + d[q][n - 1 - p]));
        transposed.odd[q][p] = static_cast<C>(0.5 * (d[p][q] - d[n - 1 - p][q]));
        transposed.even[q][p] =
            static_cast<C>(is_middle ? d[p][q] : 0.5 * (d[p][q] + d[n - 1 - p][q]));
      }
    }
    std::array<double, n> at_end{};
    for (int q = 0; q < n; ++q)
      for (int i = 0; i < n; ++i)
        at_end[q] += basis.v[i] * tables.weight[q] * tables.value[q * n + i];
    for (int q = 0; q < n; ++q)
    {
      end[q] = static_cast<C>(at_end[q]);
      double sum = 0.;
      for (int p = 0; p < n; ++p)
        sum += at_end[p] * d[p][q];
      end_derivative[q] = static_cast<C>(sum);
    }
  }
};

/// W cells at a time.
template <int dim, int n, typename Number, int W>
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

public:
  PointwiseCells(const PointwiseArguments<Number> &arguments, const Tables &tables)
    : a_(arguments)
    , tables_(tables)
  {}

  /// The traces of the cells from cx on.
  void write_traces(std::int64_t cy, std::int64_t cz, std::int64_t cx)
  {
    load(cy, cz, cx);
    const std::int64_t row = cz * a_.block.cells[1] + cy;
    for (int side = 0; side < 2 * dim; ++side)
    {
      FacePoints v, f;
      find_traces(side, row, cx, v, f);
      for (int q = 0; q < face_points; ++q)
      {
        simd::store<W>(a_.traces + trace_index(a_.block, row, side, q, 0, cx), v[q]);
        simd::store<W>(a_.traces + trace_index(a_.block, row, side, q, 1, cx), f[q]);
      }
    }
  }

  /// The results of these cells.
  void write_results(std::int64_t cy, std::int64_t cz, std::int64_t cx)
  {
    load(cy, cz, cx);
    const std::int64_t row = cz * a_.block.cells[1] + cy;
    find_fluxes(row, cx);
    start_result(row, cx);
    for (int side = 0; side < 2 * dim; ++side)
      add_side(side, {cx, cy, cz}, row);
    for (int d = 0; d < dim; ++d)
      for_lines(d, [&](int first, int stride) {
        differentiate<true>(tables_.transposed, &flux_[d][first], &result_[first], stride);
      });
    for (int d = 0; d < dim; ++d)
      for_lines(d, [&](int first, int stride) { to_modes(&result_[first], stride); });
    store(cy, cz, cx);
  }

private:
  template <typename Use>
  TENSORMG_INLINE static void for_lines(int d, const Use &use)
  {
    const int stride = strides[d];
    for (int at = 0; at < cell_points; at += stride * n)
      for (int s = 0; s < stride; ++s)
        use(at + s, stride);
  }

  void load(std::int64_t cy, std::int64_t cz, std::int64_t cx)
  {
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
          points_[(k * n + j) * n + i] =
              simd::load<W>(a_.src + a_.block.index(cx, cy, cz, i, j, k));
    for (int d = 0; d < dim; ++d)
      for_lines(d, [&](int first, int stride) { to_points(&points_[first], stride); });
  }
  void store(std::int64_t cy, std::int64_t cz, std::int64_t cx)
  {
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
        {
          const std::int64_t to = a_.block.index(cx, cy, cz, i, j, k);
          V value = result_[(k * n + j) * n + i];
          if (a_.b != nullptr)
            value = simd::load<W>(a_.b + to) - value;
          simd::store<W>(a_.dst + to, value);
        }
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

  V volume(std::int64_t row, std::int64_t cx, int q, int a, int b) const
  {
    return simd::load<W>(
        a_.numbers.volume + volume_index(a_.block, row, q, volume_place(dim, a, b), cx));
  }
  V face(std::int64_t row, std::int64_t cx, int side, int q, int number) const
  {
    return simd::load<W>(a_.numbers.face + face_index(a_.block, row, side, q, number, cx));
  }

  /// The reaction times u at the points, which later becomes the result.
  void start_result(std::int64_t row, std::int64_t cx)
  {
    if (a_.numbers.reaction == nullptr)
      result_.fill(V{});
    else
      for (int q = 0; q < cell_points; ++q)
        result_[q] =
            simd::load<W>(a_.numbers.reaction + reaction_index(a_.block, row, q, cx)) * points_[q];
  }

  /// G times the gradient at the points.
  void find_fluxes(std::int64_t row, std::int64_t cx)
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
          sum += volume(row, cx, q, std::min(a, b), std::max(a, b)) * gradient[b];
        flux_[a][q] = sum;
      }
    }
  }

  /// Point 0 of the line that ends in point q of a side.
  static constexpr int line_of(int side, int q)
  {
    const auto [a, b] = tangential(side / 2);
    return q % n * strides[a] + (dim == 3 ? q / n * strides[b] : 0);
  }
  /// Of the polynomials through the points of a line.
  C end_value(int side, int p) const { return tables_.end[side % 2 == 1 ? p : n - 1 - p]; }
  C end_derivative(int side, int p) const
  {
    return side % 2 == 1 ? tables_.end_derivative[p] : -tables_.end_derivative[n - 1 - p];
  }

  /// V and F of a side, from the values at the points.
  void find_traces(int side, std::int64_t row, std::int64_t cx, FacePoints &v, FacePoints &f) const
  {
    const int stride = strides[side / 2];
    FacePoints normal;
    for (int q = 0; q < face_points; ++q)
    {
      V value{}, derivative{};
      for (int p = 0; p < n; ++p)
      {
        const V &u = points_[line_of(side, q) + p * stride];
        value += end_value(side, p) * u;
        derivative += end_derivative(side, p) * u;
      }
      v[q] = value;
      normal[q] = derivative;
    }
    FacePoints along_a, along_b;
    for (int b = 0; b < nz; ++b)
      differentiate<false>(tables_.derivative, &v[b * n], &along_a[b * n], 1);
    if constexpr (dim == 3)
      for (int a = 0; a < n; ++a)
        differentiate<false>(tables_.derivative, &v[a], &along_b[a], n);
    for (int q = 0; q < face_points; ++q)
    {
      V flux = face(row, cx, side, q, 0) * normal[q] + face(row, cx, side, q, 1) * along_a[q];
      if constexpr (dim == 3)
        flux += face(row, cx, side, q, 2) * along_b[q];
      f[q] = side % 2 == 1 ? flux : -flux;
    }
  }

  /// The traces behind a side, where the own ones are v and f.
  void load_behind(int side, const std::array<std::int64_t, 3> &cell, std::int64_t row,
      const FacePoints &own_v, const FacePoints &own_f, FacePoints &v, FacePoints &f) const
  {
    const int d = side / 2, step = side % 2 == 1 ? 1 : -1;
    const std::int64_t cells = a_.per_direction, cx = cell[0];
    const std::int64_t next = cell[d] + step;
    const bool is_inside =
        d == 0 ? next >= 0 && next + W <= a_.block.pitch : next >= 0 && next < cells;
    const std::int64_t next_row = d == 0 ? row : row + step * (d == 1 ? 1 : a_.block.cells[1]),
                       next_x = d == 0 ? next : cx;
    if (is_inside)
      for (int q = 0; q < face_points; ++q)
      {
        v[q] = simd::load<W>(a_.traces + trace_index(a_.block, next_row, side ^ 1, q, 0, next_x));
        f[q] = simd::load<W>(a_.traces + trace_index(a_.block, next_row, side ^ 1, q, 1, next_x));
      }
    if (is_inside && d > 0)
      return;
    for (int lane = 0; lane < W; ++lane)
    {
      const std::int64_t x = cx + lane, inside = x % cells;
      const bool at_border = inside == (step > 0 ? cells - 1 : 0);
      if (is_inside && !at_border && x < a_.block.cells[0])
        continue;
      for (int q = 0; q < face_points; ++q)
        if (x >= a_.block.cells[0]) // padding stays zero
          v[q][lane] = f[q][lane] = C(0);
        else
          load_lane(side, {x, cell[1], cell[2]}, q, lane, own_v[q], own_f[q], v[q], f[q]);
    }
  }
  void load_lane(int side, const std::array<std::int64_t, 3> &cell, int q, int lane, const V &own_v,
      const V &own_f, V &v, V &f) const
  {
    const PointBehind behind =
        point_behind(a_.block, a_.per_direction, a_.links, cell, side, q % n, q / n);
    if (behind.remote >= 0)
    {
      v[lane] = a_.remote_traces[2 * behind.remote];
      f[lane] = a_.remote_traces[2 * behind.remote + 1];
    }
    else if (behind.kind == Side::ghost)
    {
      const std::int64_t row = behind.cell[2] * a_.block.cells[1] + behind.cell[1],
                         point = behind.a + n * behind.b;
      v[lane] = a_.traces[trace_index(a_.block, row, behind.side, point, 0, behind.cell[0])];
      f[lane] = a_.traces[trace_index(a_.block, row, behind.side, point, 1, behind.cell[0])];
    }
    else
    {
      const C sign = behind.kind == Side::dirichlet ? C(-1) : C(1);
      v[lane] = sign * own_v[lane];
      f[lane] = sign * own_f[lane];
      if (behind.kind == Side::neumann)
        f[lane] += C(2) * own_v[lane] *
            a_.numbers.face[face_index(
                a_.block, cell[2] * a_.block.cells[1] + cell[1], side, q, dim, cell[0])];
    }
  }

  void add_side(int side, const std::array<std::int64_t, 3> &cell, std::int64_t row)
  {
    const std::int64_t cx = cell[0];
    FacePoints own_v, own_f, v{}, f{};
    for (int q = 0; q < face_points; ++q)
    {
      own_v[q] = simd::load<W>(a_.traces + trace_index(a_.block, row, side, q, 0, cx));
      own_f[q] = simd::load<W>(a_.traces + trace_index(a_.block, row, side, q, 1, cx));
    }
    load_behind(side, cell, row, own_v, own_f, v, f);
    const auto [a, b] = tangential(side / 2);
    const int stride = strides[side / 2];
    const C half_sign = side % 2 == 1 ? C(-0.5) : C(0.5);
    for (int q = 0; q < face_points; ++q)
    {
      const V jump = own_v[q] - v[q], beta = half_sign * jump;
      const V alpha = face(row, cx, side, q, dim) * jump - C(0.5) * (own_f[q] - f[q]);
      std::array<V, dim> tests;
      for (int g = 0; g < dim; ++g)
        tests[g] = beta * face(row, cx, side, q, g);
      for (int p = 0; p < n; ++p)
      {
        const int at = line_of(side, q) + p * stride;
        const C end = end_value(side, p);
        result_[at] += end * alpha;
        flux_[side / 2][at] += end * tests[0];
        flux_[a][at] += end * tests[1];
        if constexpr (dim == 3)
          flux_[b][at] += end * tests[2];
      }
    }
  }

  const PointwiseArguments<Number> &a_;
  const Tables &tables_;
  CellPoints points_, result_;
  std::array<CellPoints, dim> flux_;
};

template <int dim, int n, typename Number>
void apply_pointwise_cpu(const PointwiseArguments<Number> &a)
{
  using C = Compute<Number>;
  const PointwiseTables<n, C> tables(*a.basis, *a.tables);
  const auto for_cells = [&](const auto &use) {
    for (std::int64_t cz = 0; cz < a.block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < a.block.cells[1]; ++cy)
        simd::for_each_vector<C>(a.block.pitch, [&](std::int64_t cx, auto width) {
          PointwiseCells<dim, n, Number, width> cells(a, tables);
          use(cells, cy, cz, cx);
        });
  };
  for_cells([](auto &cells, auto... at) { cells.write_traces(at...); });
  a.traces_are_written();
  for_cells([](auto &cells, auto... at) { cells.write_results(at...); });
}

template <typename Number>
ApplyPointwise<Number> *pointwise_cpu(int dim, int degree)
{
  return by_degree<1, max_degree>(degree, [&](auto d) -> ApplyPointwise<Number> * {
    return dim == 2 ? &apply_pointwise_cpu<2, d.value + 1, Number>
                    : &apply_pointwise_cpu<3, d.value + 1, Number>;
  });
}
} // namespace tensormg::laplace
