#include <algorithm>
#include <array>

#include "kernels/core/simd.h"
#include "kernels/laplace/cellwise/line_elimination.h"
#include "kernels/laplace/cellwise/relaxation.h"
#include "kernels/laplace/cpu/tables.h"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
namespace
{
  using namespace line;

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
        tables_.v[i] = static_cast<C>(basis.v[i]);
        tables_.h[i] = static_cast<C>(basis.h[i]);
        tables_.lambda[i] = static_cast<C>(basis.lambda[i]);
        tables_.square[i] = static_cast<C>(basis.v[i] * basis.v[i]);
      }
      C *memory = CpuScratch<C>::of_this_thread().require(
          length_ * static_cast<std::int64_t>(sizeof(Affine<V>) / sizeof(C)) + 64 / sizeof(C));
      const auto address = (reinterpret_cast<std::uintptr_t>(memory) + 63) / 64 * 64;
      right_ = reinterpret_cast<Affine<V> *>(address);
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
        const Affine<V> before = c == 0 ? reflection(lower_, kappa(-1)) : right_[c - 1];
        right_[c] =
            condense(e, sums(e.c, shift, [&](int i) { return numbers(c, i); }), before, reciprocal);
      }
      Face<V> face = last_face(upper_, kappa(length_), right_[length_ - 1]);
      for (std::int64_t c = length_ - 1; c >= 0; --c)
      {
        const Affine<V> before = c == 0 ? reflection(lower_, kappa(-1)) : right_[c - 1];
        const LineCell<V> e = cell(c);
        V r_of_cell[n];
        for (int i = 0; i < n; ++i)
          r_of_cell[i] = numbers(c, i);
        const V shift = shift_of(start + c * step, cell_stride, count, je, jl);
        const Coupling<V> by = resolve(
            e, sums(e.c, shift, [&](int i) { return r_of_cell[i]; }), before, face, reciprocal);
        for (int i = 0; i < n; ++i)
          add(z + place(c, o, l, i, je, jl), data_stride, count,
              weight_ * g_[i] *
                  (r_of_cell[i] - tables_.v[i] * by.p[i % 2] - tables_.h[i] * by.q[i % 2]));
      }
    }

    static V reciprocal(V x) { return 1 / x; }
    template <typename Numbers>
    LineSums<V> sums(V c, V shift, const Numbers &numbers)
    {
      return sums_of<n>(tables_, c, shift, g_, numbers, reciprocal);
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
          shift += tables_.lambda[mode] * load(cells_.c[a] + first, stride, count, C(1)) +
              tables_.square[mode] * load(cells_.jump[a] + first, stride, count, C(0));
      return shift;
    }

    const Block &block_;
    const CellNumbers<C> &cells_;
    int d_, lanes_, other_;
    std::int64_t length_;
    Side lower_, upper_;
    C half_penalty_, weight_;
    struct Tables
    {
      std::array<C, n> v, h, lambda, square;
    } tables_;
    Affine<V> *right_;
    V g_[n];
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
