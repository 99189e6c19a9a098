#include <algorithm>
#include <vector>

#include "kernels/laplace/cellmean/cellmean.h"

namespace tensormg::laplace
{
namespace
{
  using Cell = std::array<std::int64_t, 3>; ///< in the block of all cells

  template <typename Number>
  class CellMeanReference
  {
    using C = Compute<Number>;
    using Line = std::array<C, max_n>;
    /// Of a side, or of a cell: modes, x fastest.
    using Modes = std::vector<C>;
    struct Trace
    {
      Modes v, f;
    };

  public:
    explicit CellMeanReference(const CellMeanArguments<Number> &arguments)
      : a_(arguments)
      , dim_(arguments.block.dim)
      , n_(arguments.block.n)
      , derivative_(derivative_of_modes(*arguments.basis))
    {}

    void run()
    {
      const auto &cells = a_.block.cells;
      if (a_.dst != a_.old) // which the step still needs
        std::fill_n(a_.dst, a_.block.size(), Number{});
      for (std::int64_t cz = 0; cz < cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < cells[0]; ++cx)
          {
            const Cell cell{cx, cy, cz};
            result_.assign(static_cast<std::size_t>(a_.block.dofs_per_cell()), C(0));
            add_volume(cell);
            for (int side = 0; side < 2 * dim_; ++side)
              add_side(cell, side);
            store(cell);
          }
    }

  private:
    C number(const Cell &cell, int which) const
    {
      const std::int64_t row = cell[2] * a_.block.cells[1] + cell[1];
      return a_.numbers[cell_mean_index(a_.block, row, which, cell[0])];
    }
    C metric(const Cell &cell, int a, int b) const
    {
      return number(cell, volume_place(dim_, std::min(a, b), std::max(a, b)));
    }
    C penalty(const Cell &cell, int side) const { return number(cell, penalty_place(dim_, side)); }

    /// At an end of the cell.
    Line end_value(int side) const
    {
      Line result{};
      for (int i = 0; i < n_; ++i)
        result[i] = static_cast<C>(side % 2 == 1 || i % 2 == 0 ? a_.basis->v[i] : -a_.basis->v[i]);
      return result;
    }
    Line end_derivative(int side) const
    {
      Line result{};
      for (int i = 0; i < n_; ++i)
        result[i] =
            static_cast<C>(2. * (side % 2 == 1 || i % 2 == 1 ? a_.basis->h[i] : -a_.basis->h[i]));
      return result;
    }

    Modes modes_of(const Cell &cell) const
    {
      Modes u;
      for (int k = 0; k < a_.block.nz(); ++k)
        for (int j = 0; j < n_; ++j)
          for (int i = 0; i < n_; ++i)
            u.push_back(static_cast<C>(a_.src[a_.block.index(cell[0], cell[1], cell[2], i, j, k)]));
      return u;
    }
    void store(const Cell &cell)
    {
      std::size_t at = 0;
      for (int k = 0; k < a_.block.nz(); ++k)
        for (int j = 0; j < n_; ++j)
          for (int i = 0; i < n_; ++i)
          {
            const std::int64_t to = a_.block.index(cell[0], cell[1], cell[2], i, j, k);
            C value = result_[at++];
            if (a_.b != nullptr)
              value = static_cast<C>(a_.b[to]) - value;
            if (a_.inverse_diagonal != nullptr)
            {
              const C x = static_cast<C>(a_.src[to]),
                      before = a_.old != nullptr ? static_cast<C>(a_.old[to]) : C(0);
              value = x + a_.theta * (x - before) + a_.alpha * a_.inverse_diagonal[to] * value;
            }
            a_.dst[to] = Number(value);
          }
    }

    std::size_t stride(int d) const
    {
      const auto n = static_cast<std::size_t>(n_);
      return d == 0 ? 1 : d == 1 ? n : n * n;
    }
    /// C along the direction with that stride, or its transpose.
    Modes differentiated(const Modes &u, std::size_t stride, bool is_transposed = false) const
    {
      const auto n = static_cast<std::size_t>(n_);
      Modes result(u.size(), C(0));
      for (std::size_t at = 0; at < u.size(); ++at)
      {
        const std::size_t j = at / stride % n, first = at - j * stride;
        for (std::size_t i = 0; i < n; ++i)
          result[at] += static_cast<C>(derivative_[is_transposed ? i * n + j : j * n + i]) *
              u[first + i * stride];
      }
      return result;
    }
    /// sum_i line_i u_i along the direction of a side: modes of the side.
    Modes at_side(const Modes &u, int side, const Line &line) const
    {
      Modes result(static_cast<std::size_t>(points_of_face(a_.block)), C(0));
      for_side(side, [&](std::size_t q, int i, std::size_t at) { result[q] += line[i] * u[at]; });
      return result;
    }
    /// Its transpose, added to the result.
    void add_at_side(const Modes &of_side, int side, const Line &line, C factor)
    {
      for_side(side, [&](std::size_t q, int i, std::size_t at) {
        result_[at] += factor * line[i] * of_side[q];
      });
    }
    template <typename Use>
    void for_side(int side, const Use &use) const
    {
      const auto [a, b] = tangential(side / 2);
      const auto n = static_cast<std::size_t>(n_);
      for (std::size_t q = 0; q < static_cast<std::size_t>(points_of_face(a_.block)); ++q)
        for (int i = 0; i < n_; ++i)
          use(q, i,
              q % n * stride(a) + (dim_ == 3 ? q / n * stride(b) : 0) +
                  static_cast<std::size_t>(i) * stride(side / 2));
    }

    /// sum_a C_a' sum_b G_ab C_b u + c u
    void add_volume(const Cell &cell)
    {
      const Modes u = modes_of(cell);
      for (int a = 0; a < dim_; ++a)
      {
        Modes flux(u.size(), C(0));
        for (int b = 0; b < dim_; ++b)
          add(flux, metric(cell, a, b), differentiated(u, stride(b)));
        add(result_, C(1), differentiated(flux, stride(a), true));
      }
      add(result_, number(cell, reaction_place(dim_)), u);
    }
    static void add(Modes &to, C factor, const Modes &from)
    {
      for (std::size_t at = 0; at < to.size(); ++at)
        to[at] += factor * from[at];
    }

    /// F = s (G_aa d_a u + sum_b G_ab C_b V)
    Trace trace(const Cell &cell, int side) const
    {
      const Modes u = modes_of(cell);
      const C sign(side % 2 == 1 ? 1 : -1);
      const int d = side / 2;
      Trace result{at_side(u, side, end_value(side)),
          Modes(static_cast<std::size_t>(points_of_face(a_.block)), C(0))};
      add(result.f, sign * metric(cell, d, d), at_side(u, side, end_derivative(side)));
      for (int t = 0; t + 1 < dim_; ++t)
        add(result.f, sign * metric(cell, d, tangential(d)[t]),
            differentiated(result.v, stride(t)));
      return result;
    }

    /// Of what is behind a side, where the own trace is known.
    Trace trace_behind(const Cell &cell, int side, const Trace &own) const
    {
      const auto [place, map] = cell_behind(a_.block, a_.per_direction, a_.links, cell, side);
      const std::size_t size = own.v.size();
      Trace result{Modes(size, C(0)), Modes(size, C(0))};
      if (is_closed(place.kind))
      {
        const C sign(place.kind == Side::dirichlet ? -1 : 1);
        add(result.v, sign, own.v);
        add(result.f, sign, own.f);
        if (place.kind == Side::neumann)
          add(result.f, C(2) * penalty(cell, side), own.v);
        return result;
      }
      Trace other;
      if (place.remote < 0)
        other = trace(place.cell, place.side);
      else
      {
        const C *const first = a_.remote_traces + place.remote * numbers_of_trace(a_.block);
        other = {Modes(first, first + size), Modes(first + size, first + 2 * size)};
      }
      for (int b = 0; b < a_.block.nz(); ++b)
        for (int a = 0; a < n_; ++a)
        {
          const ModeBehind mode = mode_behind(map, n_, a, b);
          const int q_here = a + n_ * b;
          const auto q = static_cast<std::size_t>(q_here), to = static_cast<std::size_t>(mode.q);
          result.v[q] = C(mode.sign) * other.v[to];
          result.f[q] = C(mode.sign) * other.f[to];
        }
      return result;
    }

    /// v (alpha + s sum_b G_ab C_b' beta) + d s G_aa beta
    void add_side(const Cell &cell, int side)
    {
      const Trace own = trace(cell, side), other = trace_behind(cell, side, own);
      const C sign(side % 2 == 1 ? 1 : -1);
      const int d = side / 2;
      Modes alpha(own.v.size(), C(0)), beta(own.v.size(), C(0));
      for (std::size_t q = 0; q < alpha.size(); ++q)
      {
        const C jump = own.v[q] - other.v[q];
        alpha[q] = penalty(cell, side) * jump - C(0.5) * (own.f[q] - other.f[q]);
        beta[q] = C(-0.5) * jump;
      }
      for (int t = 0; t + 1 < dim_; ++t)
        add(alpha, sign * metric(cell, d, tangential(d)[t]), differentiated(beta, stride(t), true));
      add_at_side(alpha, side, end_value(side), C(1));
      add_at_side(beta, side, end_derivative(side), sign * metric(cell, d, d));
    }

    const CellMeanArguments<Number> &a_;
    int dim_, n_;
    std::array<double, max_n * max_n> derivative_;
    Modes result_; ///< of a cell
  };
} // namespace

template <typename Number>
void apply_cell_mean_reference(const CellMeanArguments<Number> &arguments)
{
  CellMeanReference<Number>(arguments).run();
}

template void apply_cell_mean_reference(const CellMeanArguments<double> &);
template void apply_cell_mean_reference(const CellMeanArguments<float> &);
template void apply_cell_mean_reference(const CellMeanArguments<Half> &);
} // namespace tensormg::laplace
