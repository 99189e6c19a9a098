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
  /// With penalties of the faces that are not sigma times the mean of c.
  constexpr LineCell(V own, V lower_, V upper_, V penalty, V tau_lower, V tau_upper)
    : c(own)
    , lower(lower_)
    , upper(upper_)
    , tau_l(tau_lower)
    , tau_r(tau_upper)
    , a_l(tau_lower - penalty * own)
    , a_r(tau_upper - penalty * own)
  {}
};

/// Sums over the modes of a line, of even and of odd ones, as sum and difference: E G E' and E G r.
template <typename V>
struct LineSums
{
  V a_p{}, a_m{}, b_p{}, b_m{}, c_p{}, c_m{}; ///< v^2 G, v h G, h^2 G
  V v_r{}, v_l{}, d_r{}, d_l{};               ///< the traces of G r
};

/// The equations for the left traces of a cell whose left neighbour has been eliminated: by them its jumps P_L = p[0] + p[1] V_L + p[2] D_L
/// and Q_L likewise, and the inverse of their matrix.
template <typename V>
struct LeftEnd
{
  V p[3], q[3];
  V inverse[2][2];

  /// `before`: the right traces of the neighbour. reciprocal(x) = 1 / x.
  template <typename Reciprocal>
  constexpr LeftEnd(const LineCell<V> &e, const LineSums<V> &s, const Affine<V> &before,
      const Reciprocal &reciprocal)
    : p{e.lower * before.d - e.tau_l * before.v, e.a_l - e.tau_l * before.vv + e.lower * before.dv,
          e.lower * before.dd - e.tau_l * before.vd}
    , q{e.c * before.v, e.c * before.vv, e.c * before.vd}
  {
    const V m00 = 1 + s.a_p * p[1] + s.b_p * q[1], m01 = s.a_p * p[2] + s.b_p * q[2],
            m10 = -(s.b_p * p[1] + s.c_p * q[1]), m11 = 1 - (s.b_p * p[2] + s.c_p * q[2]);
    const V factor = reciprocal(m00 * m11 - m01 * m10);
    inverse[0][0] = factor * m11;
    inverse[0][1] = -(factor * m01);
    inverse[1][0] = -(factor * m10);
    inverse[1][1] = factor * m00;
  }
  /// What the right-hand side adds to the equations.
  constexpr V value(const LineSums<V> &s) const { return s.v_l - s.a_p * p[0] - s.b_p * q[0]; }
  constexpr V derivative(const LineSums<V> &s) const { return s.d_l + s.b_p * p[0] + s.c_p * q[0]; }
};

/// Eliminates a cell whose left neighbour has been: its right traces by the left traces of the next one.
template <typename V, typename Reciprocal>
constexpr Affine<V> condense(const LineCell<V> &e, const LineSums<V> &s, const Affine<V> &before,
    const Reciprocal &reciprocal)
{
  const LeftEnd<V> left(e, s, before, reciprocal);
  // Rows of sums over P_L and Q_L, times the inverse: for V_R, and for D_R.
  const V x[2] = {s.a_m * left.p[1] + s.b_m * left.q[1], s.a_m * left.p[2] + s.b_m * left.q[2]};
  const V z[2] = {s.b_m * left.p[1] + s.c_m * left.q[1], s.b_m * left.p[2] + s.c_m * left.q[2]};
  const auto times_inverse = [&left](const V(&row)[2], int column) {
    return row[0] * left.inverse[0][column] + row[1] * left.inverse[1][column];
  };
  const V x_v = times_inverse(x, 0), x_d = times_inverse(x, 1);
  const V z_v = times_inverse(z, 0), z_d = times_inverse(z, 1);
  // The equations of the left traces: by V_R, constant, by y_V and by y_D.
  const V by_v = s.a_m * e.a_r, by_d = -(s.b_m * e.a_r);
  const V l[3][2] = {{left.value(s), left.derivative(s)},
      {s.a_m * e.tau_r - s.b_m * e.c, s.c_m * e.c - s.b_m * e.tau_r},
      {s.a_m * e.upper, -(s.b_m * e.upper)}};
  const V right[3] = {s.v_r - s.a_m * left.p[0] - s.b_m * left.q[0], s.a_p * e.tau_r - s.b_p * e.c,
      s.a_p * e.upper};
  const V pivot = reciprocal(1 + s.a_p * e.a_r - x_v * by_v - x_d * by_d);
  V value[3], derivative[3];
  const V of_value = z_v * by_v + z_d * by_d - s.b_p * e.a_r;
  for (int k = 0; k < 3; ++k)
  {
    value[k] = pivot * (right[k] - x_v * l[k][0] - x_d * l[k][1]);
    derivative[k] = of_value * value[k] - z_v * l[k][0] - z_d * l[k][1];
  }
  derivative[0] += s.d_r - s.b_m * left.p[0] - s.c_m * left.q[0];
  derivative[1] += s.b_p * e.tau_r - s.c_p * e.c;
  derivative[2] += s.b_p * e.upper;
  return {value[0], value[1], value[2], derivative[0], derivative[1], derivative[2]};
}

/// The sums of a cell: g[i] becomes the inverse of c lambda_i + shift. Tables: v, h, lambda of CellBasis and the squares of v.
template <int n, typename V, typename Tables, typename Numbers, typename Reciprocal>
constexpr LineSums<V> sums_of(
    const Tables &t, V c, V shift, V *g, const Numbers &numbers, const Reciprocal &reciprocal)
{
  V a[2] = {}, b[2] = {}, cc[2] = {}, value[2] = {}, derivative[2] = {};
  for (int i = 0; i < n; ++i)
  {
    g[i] = reciprocal(c * t.lambda[i] + shift);
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

/// Where the way back from the upper end has come: the right traces of a cell, of which D is not asked for, and the left traces of the next one.
template <typename V>
struct Face
{
  V right_v;
  Traces<V> next;
};

/// Of a cell with the right traces `before` of the one before, at whose face the way goes on.
template <typename V, typename Reciprocal>
constexpr Coupling<V> resolve(const LineCell<V> &e, const LineSums<V> &s, const Affine<V> &before,
    Face<V> &face, const Reciprocal &reciprocal)
{
  const LeftEnd<V> left(e, s, before, reciprocal);
  const V p_r = e.a_r * face.right_v - e.tau_r * face.next.v - e.upper * face.next.d,
          q_r = e.c * face.next.v;
  const V value = left.value(s) - s.a_m * p_r - s.b_m * q_r,
          derivative = left.derivative(s) + s.b_m * p_r + s.c_m * q_r;
  const V v = left.inverse[0][0] * value + left.inverse[0][1] * derivative,
          d = left.inverse[1][0] * value + left.inverse[1][1] * derivative;
  const V p_l = left.p[0] + left.p[1] * v + left.p[2] * d,
          q_l = left.q[0] + left.q[1] * v + left.q[2] * d;
  face = {before.v + before.vv * v + before.vd * d, {v, d}};
  return {{p_r + p_l, p_r - p_l}, {q_r + q_l, q_r - q_l}};
}

/// At the upper end, by the right traces of the last cell.
template <typename V>
constexpr Face<V> last_face(Side side, V kappa, const Affine<V> &t)
{
  const Traces<V> y = behind(side, kappa, t);
  return {t.v + t.vv * y.v + t.vd * y.d, y};
}

/// Ends whose lanes differ, without Robin sides, by the factor of the reflected values: 1, -1, or 0 where nothing is coupled.
template <typename V>
constexpr Affine<V> reflection(V sign)
{
  const V zero{};
  return {zero, sign, zero, zero, zero, -sign};
}
template <typename V>
constexpr Face<V> last_face(V sign, const Affine<V> &t)
{
  // As in behind().
  const V m00 = 1 - sign * t.vv, m01 = sign * t.vd, m10 = -(sign * t.dv), m11 = 1 + sign * t.dd;
  const V factor = sign / (m00 * m11 - m01 * m10);
  const Traces<V> y{factor * (m11 * t.v - m01 * t.d), factor * (m10 * t.v - m00 * t.d)};
  return {t.v + t.vv * y.v + t.vd * y.d, y};
}
} // namespace tensormg::laplace::line
