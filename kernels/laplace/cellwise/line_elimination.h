// The elimination of a row of cells, cell by cell, for the inverse of the operator on it (relaxation.h): each cell is condensed to the
// traces at its ends. V: numbers of lines side by side, or one number. Host and device.
#pragma once

#include "kernels/core/block.h"

namespace tensormg::laplace::line
{
/// Right traces of a cell as a function of the left traces y of the next one: V_R = v + vv y_V + vd y_D, D_R likewise.
template <typename V>
struct Affine
{
  V v, vv, vd, d, dv, dd;
};

/// What elimination leaves of a cell: its right and left traces by the left traces of the next one.
template <typename V>
struct Condensed
{
  Affine<V> right, left;
};

/// The rank-2 coupling of a cell to its neighbours in a line.
template <typename V>
struct LineCell
{
  V c, lower, upper; ///< c of the cell and its neighbours
  V tau_l, tau_r, a_l, a_r;

  constexpr LineCell(V own, V lower_, V upper_, V half_penalty)
    : c(own)
    , lower(lower_)
    , upper(upper_)
    , tau_l(half_penalty * (own + lower_))
    , tau_r(half_penalty * (own + upper_))
    , a_l(half_penalty * (lower_ - own))
    , a_r(half_penalty * (upper_ - own))
  {}
};

/// Sums over the modes of a line, of even and of odd ones, as sum and difference: E G E' and E G r.
template <typename V>
struct LineSums
{
  V a_p{}, a_m{}, b_p{}, b_m{}, c_p{}, c_m{}; ///< v^2 G, v h G, h^2 G
  V v_r{}, v_l{}, d_r{}, d_l{};               ///< the traces of G r
};

/// Solves for V_R, V_L, D_L of a cell for three right-hand sides: the constant and y.
template <typename V>
constexpr void solve_3(V (&m)[3][3], V (&b)[3][3])
{
  for (int p = 0; p < 3; ++p)
  {
    const V inverse = 1 / m[p][p];
    for (int row = p + 1; row < 3; ++row)
    {
      const V factor = m[row][p] * inverse;
      for (int column = p + 1; column < 3; ++column)
        m[row][column] -= factor * m[p][column];
      for (int k = 0; k < 3; ++k)
        b[row][k] -= factor * b[p][k];
    }
  }
  for (int p = 2; p >= 0; --p)
    for (int k = 0; k < 3; ++k)
    {
      V sum = b[p][k];
      for (int column = p + 1; column < 3; ++column)
        sum -= m[p][column] * b[column][k];
      b[p][k] = sum / m[p][p];
    }
}

/// Eliminates a cell whose left neighbour has been: `before` are that one's right traces.
template <typename V>
constexpr Condensed<V> condense(const LineCell<V> &e, const LineSums<V> &s, const Affine<V> &before)
{
  // P_L = p0 + p1 V_L + p2 D_L and Q_L likewise.
  const V p0 = e.lower * before.d - e.tau_l * before.v,
          p1 = e.a_l - e.tau_l * before.vv + e.lower * before.dv,
          p2 = e.lower * before.dd - e.tau_l * before.vd;
  const V q0 = e.c * before.v, q1 = e.c * before.vv, q2 = e.c * before.vd;
  V m[3][3] = {{1 + s.a_p * e.a_r, s.a_m * p1 + s.b_m * q1, s.a_m * p2 + s.b_m * q2},
      {s.a_m * e.a_r, 1 + s.a_p * p1 + s.b_p * q1, s.a_p * p2 + s.b_p * q2},
      {-(s.b_m * e.a_r), -(s.b_p * p1 + s.c_p * q1), 1 - (s.b_p * p2 + s.c_p * q2)}};
  V t[3][3] = {{s.v_r - s.a_m * p0 - s.b_m * q0, s.a_p * e.tau_r - s.b_p * e.c, s.a_p * e.upper},
      {s.v_l - s.a_p * p0 - s.b_p * q0, s.a_m * e.tau_r - s.b_m * e.c, s.a_m * e.upper},
      {s.d_l + s.b_p * p0 + s.c_p * q0, s.c_m * e.c - s.b_m * e.tau_r, -(s.b_m * e.upper)}};
  solve_3(m, t);
  V d_r[3];
  for (int k = 0; k < 3; ++k)
  {
    const V zero{};
    const V p_r = e.a_r * t[0][k] - (k == 1 ? e.tau_r : k == 2 ? e.upper : zero);
    const V p_l = (k == 0 ? p0 : zero) + p1 * t[1][k] + p2 * t[2][k];
    const V q_r = k == 1 ? e.c : zero;
    const V q_l = (k == 0 ? q0 : zero) + q1 * t[1][k] + q2 * t[2][k];
    d_r[k] = (k == 0 ? s.d_r : zero) - s.b_p * p_r - s.b_m * p_l - s.c_p * q_r - s.c_m * q_l;
  }
  return {{t[0][0], t[0][1], t[0][2], d_r[0], d_r[1], d_r[2]},
      {t[1][0], t[1][1], t[1][2], t[2][0], t[2][1], t[2][2]}};
}

/// The sums of a cell: g[i] becomes the inverse of c lambda_i + shift. Tables: v, h, lambda of CellBasis and the squares of v.
template <int n, typename V, typename Tables, typename Numbers>
constexpr LineSums<V> sums_of(const Tables &t, V c, V shift, V *g, const Numbers &numbers)
{
  V a[2] = {}, b[2] = {}, cc[2] = {}, value[2] = {}, derivative[2] = {};
  for (int i = 0; i < n; ++i)
  {
    g[i] = 1 / (c * t.lambda[i] + shift);
    const V of_r = g[i] * numbers(i);
    a[i % 2] += t.square[i] * g[i];
    b[i % 2] += t.v[i] * t.h[i] * g[i];
    cc[i % 2] += t.h[i] * t.h[i] * g[i];
    value[i % 2] += t.v[i] * of_r;
    derivative[i % 2] += t.h[i] * of_r;
  }
  return {a[0] + a[1], a[0] - a[1], b[0] + b[1], b[0] - b[1], cc[0] + cc[1], cc[0] - cc[1],
      value[0] + value[1], value[0] - value[1], derivative[1] + derivative[0],
      derivative[1] - derivative[0]};
}

/// What lies behind the lower end.
template <typename V>
constexpr Affine<V> reflection(Side side, V kappa)
{
  const V zero{}, one = 1 - zero;
  if (!is_closed(side))
    return {zero, zero, zero, zero, zero, zero};
  const V sign = reflects_odd(side) ? -one : one;
  return {zero, sign, zero, zero, kappa, -sign};
}

/// Left traces of the cell behind the upper end, or of the next one.
template <typename V>
struct Traces
{
  V v, d;
};

/// What lies behind the upper end, by the right traces t of the last cell.
template <typename V>
constexpr Traces<V> behind(Side side, V kappa, const Affine<V> &t)
{
  const V zero{};
  if (!is_closed(side))
    return {zero, zero};
  const V s = reflects_odd(side) ? zero - 1 : zero + 1;
  // V = v + vv y_V + vd y_D and D likewise, y_V = s V, y_D = -s D - kappa V
  const V m00 = 1 - s * t.vv + kappa * t.vd, m01 = s * t.vd, m10 = kappa * t.dd - s * t.dv,
          m11 = 1 + s * t.dd;
  const V determinant = m00 * m11 - m01 * m10;
  const V v = (m11 * t.v - m01 * t.d) / determinant, d = (m00 * t.d - m10 * t.v) / determinant;
  return {s * v, -(s * d) - kappa * v};
}

/// The jumps that couple a cell to its neighbours, P and Q of cellwise.h as sums over both ends, for even and for odd modes: the solution is
/// g_i (r_i - v_i P - h_i Q).
template <typename V>
struct Coupling
{
  V p[2], q[2];
};

/// Of a cell between the right traces of the cell before, as functions, and the left traces of the next one, `next`, which become those of
/// this cell.
template <typename V>
constexpr Coupling<V> resolve(
    const LineCell<V> &e, const Condensed<V> &t, const Affine<V> &before, Traces<V> &next)
{
  const V y_v = next.v, y_d = next.d;
  const V v_r = t.right.v + t.right.vv * y_v + t.right.vd * y_d;
  const V v_l = t.left.v + t.left.vv * y_v + t.left.vd * y_d;
  const V d_l = t.left.d + t.left.dv * y_v + t.left.dd * y_d;
  const V other_v = before.v + before.vv * v_l + before.vd * d_l;
  const V other_d = before.d + before.dv * v_l + before.dd * d_l;
  const V p_r = e.a_r * v_r - e.tau_r * y_v - e.upper * y_d;
  const V p_l = e.a_l * v_l - e.tau_l * other_v + e.lower * other_d;
  const V q_r = e.c * y_v, q_l = e.c * other_v;
  next = {v_l, d_l};
  return {{p_r + p_l, p_r - p_l}, {q_r + q_l, q_r - q_l}};
}
} // namespace tensormg::laplace::line
