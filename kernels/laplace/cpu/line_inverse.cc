#include <algorithm>
#include <array>

#include "kernels/core/simd.h"
#include "kernels/laplace/cellwise/relaxation.h"
#include "kernels/laplace/cpu/tables.h"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
namespace
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

    LineCell(V own, V lower_, V upper_, V half_penalty)
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
  void solve_3(V (&m)[3][3], V (&b)[3][3])
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
  Condensed<V> condense(const LineCell<V> &e, const LineSums<V> &s, const Affine<V> &before)
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

  /// Lines in direction d, W of them side by side: neighbours in x or, for lines in x, in y.
  template <int n, typename Number>
  class LineInverse
  {
    using C = Compute<Number>;
    static constexpr int W = simd::native_width<C> < 8 ? simd::native_width<C> : 8;
    using V = simd::Vec<C, W>;

  public:
    LineInverse(const Block &block, const CellBasis &basis, const CellNumbers<C> &cells,
        const std::array<Side, 6> &sides, int d, C weight)
      : block_(block)
      , cells_(cells)
      , d_(d)
      , lanes_(d == 0 ? 1 : 0)
      , other_(3 - d - lanes_)
      , length_(block.cells[d])
      , lower_(sides[2 * d])
      , upper_(sides[2 * d + 1])
      , half_penalty_(static_cast<C>(basis.penalty / 2))
      , weight_(weight)
    {
      for (int i = 0; i < n; ++i)
      {
        v_[i] = static_cast<C>(basis.v[i]);
        h_[i] = static_cast<C>(basis.h[i]);
        lambda_[i] = static_cast<C>(basis.lambda[i]);
        square_[i] = static_cast<C>(basis.v[i] * basis.v[i]);
      }
      C *memory = CpuScratch<C>::of_this_thread().require(
          length_ * static_cast<std::int64_t>((sizeof(Condensed<V>) + n * sizeof(V)) / sizeof(C)) +
          64 / sizeof(C));
      const auto address = (reinterpret_cast<std::uintptr_t>(memory) + 63) / 64 * 64;
      condensed_ = reinterpret_cast<Condensed<V> *>(address);
      g_ = reinterpret_cast<V *>(condensed_ + length_);
    }

    void run(const Number *r, Number *z)
    {
      const std::int64_t lanes = lanes_ == 0 ? block_.pitch : block_.cells[1];
      const int modes = other_ == 2 ? block_.nz() : n;
      for (std::int64_t o = 0; o < block_.cells[other_]; ++o)
        for (std::int64_t l = 0; l < lanes; l += W)
          for (int je = 0; je < modes; ++je)
            for (int jl = 0; jl < n; ++jl)
              line(o, l, std::min<std::int64_t>(W, lanes - l), je, jl, r, z);
    }

  private:
    /// Place of mode i of cell c in the line, first lane.
    std::int64_t place(std::int64_t c, std::int64_t o, std::int64_t l, int i, int je, int jl) const
    {
      std::array<std::int64_t, 3> cell{};
      std::array<int, 3> mode{};
      cell[d_] = c;
      mode[d_] = i;
      cell[other_] = o;
      mode[other_] = je;
      cell[lanes_] = l;
      mode[lanes_] = jl;
      return block_.index(cell[0], cell[1], cell[2], mode[0], mode[1], mode[2]);
    }

    template <typename T>
    V load(const T *p, std::int64_t stride, std::int64_t count, C rest) const
    {
      if (stride == 1)
        return simd::load<W>(p);
      V result = rest - V{};
      for (std::int64_t lane = 0; lane < count; ++lane)
        result[lane] = static_cast<C>(p[lane * stride]);
      return result;
    }

    void line(std::int64_t o, std::int64_t l, std::int64_t count, int je, int jl, const Number *r,
        Number *z)
    {
      const std::int64_t data_stride = lanes_ == 0 ? 1 : n * block_.row();
      const std::int64_t cell_stride = cells_.stride(lanes_), step = cells_.stride(d_);
      const std::int64_t start = o * cells_.stride(other_) + l * cell_stride;
      const auto cell = [&](std::int64_t c) {
        const C *own = cells_.c[d_] + start + c * step;
        return LineCell<V>(load(own, cell_stride, count, C(1)),
            load(own - step, cell_stride, count, C(1)), load(own + step, cell_stride, count, C(1)),
            half_penalty_ - V{});
      };
      const auto kappa = [&](std::int64_t c) {
        return load(cells_.jump[d_] + start + c * step, cell_stride, count, C(0));
      };
      const auto numbers = [&](std::int64_t c, int i) {
        return load(r + place(c, o, l, i, je, jl), data_stride, count, C(0));
      };
      for (std::int64_t c = 0; c < length_; ++c)
      {
        const LineCell<V> e = cell(c);
        const V shift = shift_of(start + c * step, cell_stride, count, je, jl);
        const Affine<V> before = c == 0 ? reflection(lower_, kappa(-1)) : condensed_[c - 1].right;
        condensed_[c] =
            condense(e, sums(e.c, shift, g_ + c * n, [&](int i) { return numbers(c, i); }), before);
      }
      V y_v{}, y_d{};
      close(kappa(length_), y_v, y_d);
      for (std::int64_t c = length_ - 1; c >= 0; --c)
      {
        const LineCell<V> e = cell(c);
        const Condensed<V> &t = condensed_[c];
        const V v_r = t.right.v + t.right.vv * y_v + t.right.vd * y_d;
        const V v_l = t.left.v + t.left.vv * y_v + t.left.vd * y_d;
        const V d_l = t.left.d + t.left.dv * y_v + t.left.dd * y_d;
        const Affine<V> before = c == 0 ? reflection(lower_, kappa(-1)) : condensed_[c - 1].right;
        const V other_v = before.v + before.vv * v_l + before.vd * d_l;
        const V other_d = before.d + before.dv * v_l + before.dd * d_l;
        const V p_r = e.a_r * v_r - e.tau_r * y_v - e.upper * y_d;
        const V p_l = e.a_l * v_l - e.tau_l * other_v + e.lower * other_d;
        const V q_r = e.c * y_v, q_l = e.c * other_v;
        for (int i = 0; i < n; ++i)
        {
          const V p = i % 2 == 0 ? p_r + p_l : p_r - p_l, q = i % 2 == 0 ? q_r + q_l : q_r - q_l;
          add(z + place(c, o, l, i, je, jl), data_stride, count,
              weight_ * g_[c * n + i] * (numbers(c, i) - v_[i] * p - h_[i] * q));
        }
        y_v = v_l;
        y_d = d_l;
      }
    }

    static void add(Number *to, std::int64_t stride, std::int64_t count, V value)
    {
      if (stride == 1)
        simd::store<W>(to, simd::load<W>(to) + value);
      else
        for (std::int64_t lane = 0; lane < count; ++lane)
          to[lane * stride] = Number(static_cast<C>(to[lane * stride]) + value[lane]);
    }

    /// What the other directions and the reaction add to the diagonal.
    V shift_of(std::int64_t first, std::int64_t stride, std::int64_t count, int je, int jl) const
    {
      V shift = load(cells_.reaction + first, stride, count, C(1));
      for (const auto &[a, mode] : {std::pair{lanes_, jl}, std::pair{other_, je}})
        if (a < block_.dim)
          shift += lambda_[mode] * load(cells_.c[a] + first, stride, count, C(1)) +
              square_[mode] * load(cells_.jump[a] + first, stride, count, C(0));
      return shift;
    }

    template <typename Numbers>
    LineSums<V> sums(V c, V shift, V *g, const Numbers &numbers) const
    {
      V a[2] = {}, b[2] = {}, cc[2] = {}, value[2] = {}, derivative[2] = {};
      for (int i = 0; i < n; ++i)
      {
        g[i] = 1 / (c * lambda_[i] + shift);
        const V of_r = g[i] * numbers(i);
        a[i % 2] += square_[i] * g[i];
        b[i % 2] += v_[i] * h_[i] * g[i];
        cc[i % 2] += h_[i] * h_[i] * g[i];
        value[i % 2] += v_[i] * of_r;
        derivative[i % 2] += h_[i] * of_r;
      }
      return {a[0] + a[1], a[0] - a[1], b[0] + b[1], b[0] - b[1], cc[0] + cc[1], cc[0] - cc[1],
          value[0] + value[1], value[0] - value[1], derivative[1] + derivative[0],
          derivative[1] - derivative[0]};
    }

    /// What lies behind the lower end.
    static Affine<V> reflection(Side side, V kappa)
    {
      const V zero{};
      if (!is_closed(side))
        return {zero, zero, zero, zero, zero, zero};
      const V sign = value_reflection<C>(side) - V{};
      return {zero, sign, zero, zero, kappa, -sign};
    }

    /// What lies behind the upper end, by the right traces of the last cell.
    void close(V kappa, V &y_v, V &y_d) const
    {
      if (!is_closed(upper_))
        return;
      const C s = value_reflection<C>(upper_);
      const Affine<V> &t = condensed_[length_ - 1].right;
      // V = v + vv y_V + vd y_D and D likewise, y_V = s V, y_D = -s D - kappa V
      const V m00 = 1 - s * t.vv + kappa * t.vd, m01 = s * t.vd, m10 = kappa * t.dd - s * t.dv,
              m11 = 1 + s * t.dd;
      const V determinant = m00 * m11 - m01 * m10;
      const V v = (m11 * t.v - m01 * t.d) / determinant, d = (m00 * t.d - m10 * t.v) / determinant;
      y_v = s * v;
      y_d = -(s * d) - kappa * v;
    }

    const Block &block_;
    const CellNumbers<C> &cells_;
    int d_, lanes_, other_;
    std::int64_t length_;
    Side lower_, upper_;
    C half_penalty_, weight_;
    std::array<C, n> v_, h_, lambda_, square_;
    Condensed<V> *condensed_;
    V *g_;
  };
} // namespace

template <typename Number>
void add_line_inverse(const Block &block, const CellBasis &basis,
    const CellNumbers<Compute<Number>> &cells, const std::array<Side, 6> &sides, int d,
    double weight, const Number *r, Number *z)
{
  by_degree<1, max_degree>(block.degree(), [&](auto degree) {
    LineInverse<degree.value + 1, Number>(
        block, basis, cells, sides, d, static_cast<Compute<Number>>(weight))
        .run(r, z);
  });
}

template void add_line_inverse(const Block &, const CellBasis &, const CellNumbers<double> &,
    const std::array<Side, 6> &, int, double, const double *, double *);
template void add_line_inverse(const Block &, const CellBasis &, const CellNumbers<float> &,
    const std::array<Side, 6> &, int, double, const float *, float *);
template void add_line_inverse(const Block &, const CellBasis &, const CellNumbers<float> &,
    const std::array<Side, 6> &, int, double, const Half *, Half *);
} // namespace tensormg::laplace
