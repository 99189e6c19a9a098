#include <algorithm>
#include <vector>

#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg::laplace
{
namespace
{
  using Cell = std::array<std::int64_t, 3>; ///< in the block of all cells
  /// The outward flux carries the weight of the point.
  template <typename C>
  struct FaceTrace
  {
    C v, f;
  };

  template <typename Number>
  class PointwiseReference
  {
    using C = Compute<Number>;
    /// A number for each mode of a direction: a product of three is a functional of u, and a test.
    using Line = std::array<C, max_n>;
    using Functional = std::array<Line, 3>;

  public:
    explicit PointwiseReference(const PointwiseArguments<Number> &arguments)
      : a_(arguments)
      , dim_(arguments.block.dim)
      , n_(arguments.block.n)
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
    Line value(std::int64_t q) const { return line(a_.tables->value, q); }
    Line derivative(std::int64_t q) const { return line(a_.tables->derivative, q); }
    Line line(const std::array<double, max_n * max_n> &table, std::int64_t q) const
    {
      Line result{};
      for (int i = 0; i < n_; ++i)
        result[i] = static_cast<C>(table[static_cast<std::size_t>(q * n_ + i)]);
      return result;
    }
    /// At an end of the cell.
    Line end_value(int end) const
    {
      Line result{};
      for (int i = 0; i < n_; ++i)
        result[i] = static_cast<C>(end == 1 || i % 2 == 0 ? a_.basis->v[i] : -a_.basis->v[i]);
      return result;
    }
    Line end_derivative(int end) const
    {
      Line result{};
      for (int i = 0; i < n_; ++i)
        result[i] =
            static_cast<C>(end == 1 || i % 2 == 1 ? 2. * a_.basis->h[i] : -2. * a_.basis->h[i]);
      return result;
    }

    /// The value of u at a point; in 2D there is one mode in z, which is one.
    Functional at_point(std::int64_t qx, std::int64_t qy, std::int64_t qz) const
    {
      return {value(qx), value(qy), dim_ == 3 ? value(qz) : Line{C(1)}};
    }
    /// The value of u at point (qa, qb) of a side.
    Functional at_face(int side, std::int64_t qa, std::int64_t qb) const
    {
      const auto [a, b] = tangential(side / 2);
      Functional result{Line{}, Line{}, Line{C(1)}};
      result[side / 2] = end_value(side % 2);
      result[a] = value(qa);
      if (b < dim_)
        result[b] = value(qb);
      return result;
    }

    C of_cell(const Cell &cell, const Functional &f) const
    {
      C sum(0);
      for (int k = 0; k < a_.block.nz(); ++k)
        for (int j = 0; j < n_; ++j)
          for (int i = 0; i < n_; ++i)
            sum += f[0][i] * f[1][j] * f[2][k] *
                static_cast<C>(a_.src[a_.block.index(cell[0], cell[1], cell[2], i, j, k)]);
      return sum;
    }
    void test(const Functional &f, C factor)
    {
      std::size_t at = 0;
      for (int k = 0; k < a_.block.nz(); ++k)
        for (int j = 0; j < n_; ++j)
          for (int i = 0; i < n_; ++i)
            result_[at++] += factor * f[0][i] * f[1][j] * f[2][k];
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

    std::int64_t row(const Cell &cell) const { return cell[2] * a_.block.cells[1] + cell[1]; }
    C metric(const Cell &cell, std::int64_t q, int a, int b) const
    {
      const int place = volume_place(dim_, std::min(a, b), std::max(a, b));
      return a_.numbers.volume[volume_index(a_.block, row(cell), q, place, cell[0])];
    }
    C face_number(const Cell &cell, int side, std::int64_t q, int number) const
    {
      return a_.numbers.face[face_index(a_.block, row(cell), side, q, number, cell[0])];
    }

    /// grad v . G grad u, and the reaction
    void add_volume(const Cell &cell)
    {
      for (std::int64_t qz = 0; qz < a_.block.nz(); ++qz)
        for (std::int64_t qy = 0; qy < n_; ++qy)
          for (std::int64_t qx = 0; qx < n_; ++qx)
          {
            const std::array<std::int64_t, 3> point{qx, qy, qz};
            const std::int64_t q = qx + n_ * (qy + n_ * qz);
            std::array<Functional, 3> gradient;
            std::array<C, 3> of_u{};
            for (int a = 0; a < dim_; ++a)
            {
              gradient[a] = at_point(qx, qy, qz);
              gradient[a][a] = derivative(point[a]);
              of_u[a] = of_cell(cell, gradient[a]);
            }
            for (int a = 0; a < dim_; ++a)
            {
              C flux(0);
              for (int b = 0; b < dim_; ++b)
                flux += metric(cell, q, a, b) * of_u[b];
              test(gradient[a], flux);
            }
            if (a_.numbers.reaction != nullptr)
              test(at_point(qx, qy, qz),
                  a_.numbers.reaction[reaction_index(a_.block, row(cell), q, cell[0])] *
                      of_cell(cell, at_point(qx, qy, qz)));
          }
    }

    /// The functionals d_a u, d_b u of the normal and the tangential directions at a point of a side.
    std::array<Functional, 3> face_gradient(int side, std::int64_t qa, std::int64_t qb) const
    {
      const auto [a, b] = tangential(side / 2);
      std::array<Functional, 3> result;
      result.fill(at_face(side, qa, qb));
      result[0][side / 2] = end_derivative(side % 2);
      result[1][a] = derivative(qa);
      if (b < dim_)
        result[2][b] = derivative(qb);
      return result;
    }
    FaceTrace<C> trace(const Cell &cell, int side, std::int64_t qa, std::int64_t qb) const
    {
      const std::int64_t q = qa + n_ * qb;
      const auto gradient = face_gradient(side, qa, qb);
      C flux(0);
      for (int g = 0; g < dim_; ++g)
        flux += face_number(cell, side, q, g) * of_cell(cell, gradient[g]);
      return {of_cell(cell, at_face(side, qa, qb)), side % 2 == 1 ? flux : -flux};
    }

    /// Of what is behind point (qa, qb) of a side, where the own trace is known.
    FaceTrace<C> trace_behind(
        const Cell &cell, int side, std::int64_t qa, std::int64_t qb, const FaceTrace<C> &own) const
    {
      const PointBehind behind =
          point_behind(a_.block, a_.per_direction, a_.links, cell, side, qa, qb);
      if (behind.remote >= 0)
        return {a_.remote_traces[2 * behind.remote], a_.remote_traces[2 * behind.remote + 1]};
      if (behind.kind == Side::ghost)
        return trace(behind.cell, behind.side, behind.a, behind.b);
      if (behind.kind == Side::dirichlet)
        return {-own.v, -own.f};
      return {own.v, own.f + C(2) * face_number(cell, side, qa + n_ * qb, dim_) * own.v};
    }

    /// alpha v + beta s (G_aa d_a v + G_ab d_b v)
    void add_side(const Cell &cell, int side)
    {
      for (std::int64_t qb = 0; qb < a_.block.nz(); ++qb)
        for (std::int64_t qa = 0; qa < n_; ++qa)
        {
          const FaceTrace<C> own = trace(cell, side, qa, qb),
                             other = trace_behind(cell, side, qa, qb, own);
          const C jump = own.v - other.v;
          const C penalty = face_number(cell, side, qa + n_ * qb, dim_);
          test(at_face(side, qa, qb), penalty * jump - C(0.5) * (own.f - other.f));
          const C beta = C(side % 2 == 1 ? -0.5 : 0.5) * jump;
          const auto gradient = face_gradient(side, qa, qb);
          for (int g = 0; g < dim_; ++g)
            test(gradient[g], beta * face_number(cell, side, qa + n_ * qb, g));
        }
    }

    const PointwiseArguments<Number> &a_;
    int dim_, n_;
    std::vector<C> result_; ///< of a cell
  };
} // namespace

template <typename Number>
void apply_pointwise_reference(const PointwiseArguments<Number> &arguments)
{
  PointwiseReference<Number>(arguments).run();
}

template void apply_pointwise_reference(const PointwiseArguments<double> &);
template void apply_pointwise_reference(const PointwiseArguments<float> &);
template void apply_pointwise_reference(const PointwiseArguments<Half> &);
template void apply_pointwise_reference(const PointwiseArguments<WideFloat> &);
} // namespace tensormg::laplace
