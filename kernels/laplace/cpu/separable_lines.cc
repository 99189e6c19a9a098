#include <algorithm>
#include <array>
#include <vector>

#include "kernels/core/simd.h"
#include "kernels/laplace/cellwise/line_elimination.h"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/pointwise/relaxation.h"

namespace tensormg::laplace
{
namespace
{
  using namespace line;

  /// W lines of the same length at a time.
  template <int n, typename Number>
  class SeparableLines
  {
    using Stored = Compute<Number>; ///< numbers of the cells
    /// At Side::neumann the elimination subtracts numbers that are nearly equal: in single nothing would be left of some lines.
    using C = double;
    static constexpr int W = simd::native_width<C>;
    using V = simd::Vec<C, W>;

    /// Cells of these lines that are next to each other.
    struct Cells
    {
      bool
          are_neighbours; ///< in x, with the same axes: what the first lane says is for all of them
      std::array<const LinePlace *, W> lane;
      V c, tau_lower, tau_upper;         ///< as the line goes
      std::array<std::array<V, n>, 2> t; ///< of the directions across
      std::array<V, 3> odd;              ///< signs of odd modes, where axes are reversed
    };
    /// What the way there leaves for the way back.
    struct Eliminated
    {
      Affine<V> right;
      LineSums<V> sums;
      std::array<V, n> g, r;
    };

  public:
    SeparableLines(const Block &block, const CellBasis &basis, const CellLines &lines,
        const Stored *numbers, C weight, const Number *r, Number *z)
      : lines_(lines)
      , numbers_(numbers)
      , mode_strides_{block.pitch, block.row(), block.rows_per_plane() * block.row()}
      , number_stride_(block.pitch)
      , direction_stride_(line_inverse_numbers(n) * block.pitch)
      , modes_(block.nz())
      , penalty_(static_cast<C>(basis.penalty))
      , weight_(weight)
      , r_(r)
      , z_(z)
    {
      for (int i = 0; i < n; ++i)
      {
        tables_.v[i] = static_cast<C>(basis.v[i]);
        tables_.h[i] = static_cast<C>(basis.h[i]);
        tables_.lambda[i] = static_cast<C>(basis.lambda[i]);
        tables_.square[i] = static_cast<C>(basis.v[i] * basis.v[i]);
      }
    }

    void run()
    {
      const std::vector<CellLine> &all = lines_.lines;
      for (std::size_t first = 0; first < all.size(); first += static_cast<std::size_t>(count_))
      {
        const std::size_t most = std::min(all.size() - first, std::size_t{W});
        count_ = 1;
        while (count_ < static_cast<int>(most) &&
            all[first + static_cast<std::size_t>(count_)].length == all[first].length)
          ++count_;
        gather(&all[first]);
        for (int k = 0; k < modes_; ++k)
          for (int j = 0; j < n; ++j)
            solve(j, k);
      }
    }

  private:
    /// Takes up these lines.
    void gather(const CellLine *lines)
    {
      const auto length = static_cast<std::size_t>(lines[0].length);
      cells_.resize(length);
      eliminated_.resize(length);
      for (std::size_t c = 0; c < length; ++c)
      {
        Cells &cells = cells_[c];
        cells.are_neighbours = count_ == W;
        for (int lane = 0; lane < W; ++lane)
        {
          const auto first = static_cast<std::size_t>(lines[std::min(lane, count_ - 1)].first);
          const LinePlace &place = lines_.places[first + c];
          cells.lane[lane] = &place;
          const LinePlace &of_first = *cells.lane[0];
          cells.are_neighbours = cells.are_neighbours && place.entry == of_first.entry + lane &&
              place.numbers == of_first.numbers + lane && place.axis == of_first.axis &&
              place.is_reversed == of_first.is_reversed;
          for (int a = 0; a < 3; ++a)
            cells.odd[a][lane] = place.is_reversed[a] ? C(-1) : C(1);
        }
        load_numbers(cells);
      }
      for (int end = 0; end < 2; ++end)
        for (int lane = 0; lane < W; ++lane)
        {
          const Side kind = lines[std::min(lane, count_ - 1)].ends[end];
          ends_[end][lane] = is_closed(kind) ? value_reflection<C>(kind) : C(0);
          coupled_[end][lane] = kind == Side::neumann ? C(0) : C(1);
        }
    }
    void load_numbers(Cells &cells) const
    {
      // Of the line's direction number `axis`.
      const auto number = [&](int axis, const auto &which) {
        return load(cells, numbers_, [&](const LinePlace &place) {
          return place.numbers + place.axis[axis] * direction_stride_ +
              which(place.is_reversed[0]) * number_stride_;
        });
      };
      cells.c = number(0, [](bool) { return 0; });
      cells.tau_lower = number(0, [](bool is_reversed) { return is_reversed ? 2 : 1; });
      cells.tau_upper = number(0, [](bool is_reversed) { return is_reversed ? 1 : 2; });
      for (int a = 0; a < (modes_ > 1 ? 2 : 1); ++a)
        for (int i = 0; i < n; ++i)
          cells.t[a][i] = number(1 + a, [i](bool) { return 3 + i; });
    }

    /// place(lane's LinePlace) of all lanes.
    template <typename T, typename Place>
    V load(const Cells &cells, const T *p, const Place &place) const
    {
      if (cells.are_neighbours)
        return __builtin_convertvector(simd::load<W>(p + place(*cells.lane[0])), V);
      V result{};
      for (int lane = 0; lane < W; ++lane)
        result[lane] = static_cast<Stored>(p[place(*cells.lane[lane])]);
      return result;
    }
    /// Of the modes (i, j, k) of the line.
    std::int64_t entry(const LinePlace &place, int i, int j, int k) const
    {
      return place.entry + i * mode_strides_[place.axis[0]] + j * mode_strides_[place.axis[1]] +
          k * mode_strides_[place.axis[2]];
    }

    /// The signs of modes (i, j, k) for even and for odd i.
    static std::array<V, 2> signs(const Cells &cells, int j, int k)
    {
      V sign = V{} + 1;
      if (j % 2 == 1)
        sign *= cells.odd[1];
      if (k % 2 == 1)
        sign *= cells.odd[2];
      return {sign, sign * cells.odd[0]};
    }

    LineCell<V> cell(std::size_t c) const
    {
      const Cells &own = cells_[c];
      LineCell<V> result(own.c, c == 0 ? own.c : cells_[c - 1].c,
          c + 1 == cells_.size() ? own.c : cells_[c + 1].c, penalty_ - V{}, own.tau_lower,
          own.tau_upper);
      // At Side::neumann what tau adds stays, and nothing is behind it.
      if (c == 0)
        result.tau_l *= coupled_[0];
      if (c + 1 == cells_.size())
        result.tau_r *= coupled_[1];
      return result;
    }

    void solve(int j, int k)
    {
      const Affine<V> first = reflection(ends_[0]);
      for (std::size_t c = 0; c < cells_.size(); ++c)
      {
        const Cells &cells = cells_[c];
        Eliminated &result = eliminated_[c];
        const std::array<V, 2> sign = signs(cells, j, k);
        for (int i = 0; i < n; ++i)
          result.r[i] = sign[i % 2] *
              load(cells, r_, [&](const LinePlace &place) { return entry(place, i, j, k); });
        const V shift = modes_ > 1 ? cells.t[0][j] + cells.t[1][k] : cells.t[0][j];
        result.sums = sums_of<n>(
            tables_, cells.c, shift, result.g.data(), [&](int i) { return result.r[i]; },
            reciprocal);
        result.right =
            condense(cell(c), result.sums, c == 0 ? first : eliminated_[c - 1].right, reciprocal);
      }
      Face<V> face = last_face(ends_[1], eliminated_.back().right);
      for (std::size_t c = cells_.size(); c-- > 0;)
      {
        const Cells &cells = cells_[c];
        const Eliminated &of = eliminated_[c];
        const Coupling<V> by =
            resolve(cell(c), of.sums, c == 0 ? first : eliminated_[c - 1].right, face, reciprocal);
        const std::array<V, 2> sign = signs(cells, j, k);
        for (int i = 0; i < n; ++i)
          add(
              cells, [&](const LinePlace &place) { return entry(place, i, j, k); },
              weight_ * sign[i % 2] * of.g[i] *
                  (of.r[i] - tables_.v[i] * by.p[i % 2] - tables_.h[i] * by.q[i % 2]));
      }
    }

    template <typename Place>
    void add(const Cells &cells, const Place &place, V value)
    {
      if (cells.are_neighbours)
      {
        Number *to = z_ + place(*cells.lane[0]);
        simd::store<W>(
            to, simd::load<W>(to) + __builtin_convertvector(value, simd::Vec<Stored, W>));
      }
      else
        for (int lane = 0; lane < count_; ++lane)
        {
          Number &to = z_[place(*cells.lane[lane])];
          to = Number(static_cast<Stored>(static_cast<Stored>(to) + value[lane]));
        }
    }

    static V reciprocal(V x) { return 1 / x; }

    const CellLines &lines_;
    const Stored *numbers_;
    std::array<std::int64_t, 3> mode_strides_;
    std::int64_t number_stride_, direction_stride_;
    int modes_; ///< of the second direction across a line
    C penalty_, weight_;
    const Number *r_;
    Number *z_;
    struct Tables
    {
      std::array<C, n> v, h, lambda, square;
    } tables_;
    int count_ = 0; ///< lanes with a line; the others repeat the last one
    std::vector<Cells> cells_;
    std::vector<Eliminated> eliminated_;
    std::array<V, 2> ends_;    ///< reflections
    std::array<V, 2> coupled_; ///< 0 at Side::neumann
  };
} // namespace

template <typename Number>
void add_separable_lines(const Block &block, const CellBasis &basis, const CellLines &lines,
    const Compute<Number> *numbers, double weight, const Number *r, Number *z)
{
  by_degree<1, max_degree>(block.degree(), [&](auto degree) {
    SeparableLines<degree.value + 1, Number>(block, basis, lines, numbers, weight, r, z).run();
  });
}

template void add_separable_lines(const Block &, const CellBasis &, const CellLines &,
    const double *, double, const double *, double *);
template void add_separable_lines(const Block &, const CellBasis &, const CellLines &,
    const float *, double, const float *, float *);
template void add_separable_lines(const Block &, const CellBasis &, const CellLines &,
    const float *, double, const Half *, Half *);
} // namespace tensormg::laplace
