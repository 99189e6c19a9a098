#include "operators/pointwise/diagonal.h"

#include <array>

namespace tensormg
{
namespace
{
  using laplace::face_index;
  using laplace::volume_index;
  using laplace::volume_place;

  /// Products of two lines of the tables, [q][i].
  using Squares = std::array<double, max_n * max_n>;

  class CellDiagonal
  {
  public:
    CellDiagonal(const Block &block, std::int64_t per_direction, const CellBasis &basis,
        const laplace::PointTables &tables, const std::vector<laplace::BlockLink> &links,
        const laplace::PointNumbers<double> &numbers)
      : block_(block)
      , per_direction_(per_direction)
      , basis_(basis)
      , links_(links)
      , numbers_(numbers)
      , n_(block.n)
      , result_(static_cast<std::size_t>(block.dofs_per_cell()))
    {
      for (int at = 0; at < n_ * n_; ++at)
      {
        values_[at] = tables.value[at] * tables.value[at];
        mixed_[at] = tables.value[at] * tables.derivative[at];
        derivatives_[at] = tables.derivative[at] * tables.derivative[at];
      }
    }

    /// By modes, x fastest.
    const std::vector<double> &of(const std::array<std::int64_t, 3> &cell)
    {
      std::fill(result_.begin(), result_.end(), 0.);
      for (int a = 0; a < block_.dim; ++a)
        for (int b = a; b < block_.dim; ++b)
          add_volume(cell, a, b);
      if (numbers_.reaction != nullptr)
        add_reaction(cell);
      for (int side = 0; side < 2 * block_.dim; ++side)
        add_side(cell, side);
      return result_;
    }

  private:
    std::int64_t row(const std::array<std::int64_t, 3> &cell) const
    {
      return cell[2] * block_.cells[1] + cell[1];
    }
    /// In direction d of the term with G_ab.
    const Squares &squares(int d, int a, int b) const
    {
      return d == a && d == b ? derivatives_ : d == a || d == b ? mixed_ : values_;
    }

    /// to[.., i, ..] = sum over q of table[q][i] from[.., q, ..]
    void contract(std::vector<double> &numbers, std::size_t stride, const Squares &table) const
    {
      const auto n = static_cast<std::size_t>(n_);
      std::array<double, max_n> line{};
      for (std::size_t at = 0; at < numbers.size(); at += stride * n)
        for (std::size_t s = 0; s < stride; ++s)
        {
          line.fill(0.);
          for (std::size_t q = 0; q < n; ++q)
            for (std::size_t i = 0; i < n; ++i)
              line[i] += table[q * n + i] * numbers[at + q * stride + s];
          for (std::size_t i = 0; i < n; ++i)
            numbers[at + i * stride + s] = line[i];
        }
    }

    void add_volume(const std::array<std::int64_t, 3> &cell, int a, int b)
    {
      std::vector<double> sums(result_.size());
      for (std::size_t q = 0; q < sums.size(); ++q)
        sums[q] = numbers_.volume[volume_index(block_, row(cell), static_cast<std::int64_t>(q),
            volume_place(block_.dim, a, b), cell[0])];
      std::size_t stride = 1;
      for (int d = 0; d < block_.dim; ++d, stride *= n_)
        contract(sums, stride, squares(d, a, b));
      for (std::size_t i = 0; i < sums.size(); ++i)
        result_[i] += (a == b ? 1. : 2.) * sums[i];
    }

    void add_reaction(const std::array<std::int64_t, 3> &cell)
    {
      std::vector<double> sums(result_.size());
      for (std::size_t q = 0; q < sums.size(); ++q)
        sums[q] = numbers_.reaction[laplace::reaction_index(
            block_, row(cell), static_cast<std::int64_t>(q), cell[0])];
      std::size_t stride = 1;
      for (int d = 0; d < block_.dim; ++d, stride *= n_)
        contract(sums, stride, values_);
      for (std::size_t i = 0; i < sums.size(); ++i)
        result_[i] += sums[i];
    }

    double end_value(int side, int i) const
    {
      return side % 2 == 1 || i % 2 == 0 ? basis_.v[i] : -basis_.v[i];
    }
    double end_derivative(int side, int i) const
    {
      return 2. * (side % 2 == 1 || i % 2 == 1 ? basis_.h[i] : -basis_.h[i]);
    }

    /// T V^2 - V F, twice at a Dirichlet side, T V^2 at a Neumann side.
    void add_side(const std::array<std::int64_t, 3> &cell, int side)
    {
      const auto behind =
          laplace::point_behind(block_, per_direction_, links_.data(), cell, side, 0, 0);
      const double of_penalty = behind.kind == Side::dirichlet ? 2. : 1.,
                   of_flux = behind.kind == Side::neumann ? 0. : of_penalty,
                   sign = side % 2 == 1 ? 1. : -1.;
      const int d = side / 2, dim = block_.dim;
      const auto n = static_cast<std::size_t>(n_);
      const auto points = static_cast<std::size_t>(laplace::points_of_face(block_));
      // Of the tangential modes: of T, of G_aa, and of the sum of the mixed ones.
      std::array<std::vector<double>, 3> sums{std::vector<double>(points),
          std::vector<double>(points), std::vector<double>(points, 0.)};
      const auto number = [&](std::size_t q, int which) {
        return numbers_.face[face_index(
            block_, row(cell), side, static_cast<std::int64_t>(q), which, cell[0])];
      };
      const auto contracted = [&](int which, int derivative) {
        std::vector<double> result(points);
        for (std::size_t q = 0; q < points; ++q)
          result[q] = number(q, which);
        contract(result, 1, derivative == 0 ? mixed_ : values_);
        if (dim == 3)
          contract(result, n, derivative == 1 ? mixed_ : values_);
        return result;
      };
      sums[0] = contracted(dim, -1);
      sums[1] = contracted(0, -1);
      for (int t = 0; t + 1 < dim; ++t)
      {
        const std::vector<double> mixed = contracted(1 + t, t);
        for (std::size_t q = 0; q < points; ++q)
          sums[2][q] += mixed[q];
      }
      const auto [a, b] = tangential(d);
      const std::array<std::size_t, 3> strides{1, n, n * n};
      for (std::size_t q = 0; q < points; ++q)
        for (int i = 0; i < n_; ++i)
        {
          const double v = end_value(side, i);
          const std::size_t at = q % n * strides[a] + (dim == 3 ? q / n * strides[b] : 0) +
              static_cast<std::size_t>(i) * strides[d];
          result_[at] += of_penalty * v * v * sums[0][q] -
              of_flux * sign * (v * end_derivative(side, i) * sums[1][q] + v * v * sums[2][q]);
        }
    }

    const Block &block_;
    std::int64_t per_direction_;
    const CellBasis &basis_;
    const std::vector<laplace::BlockLink> &links_;
    const laplace::PointNumbers<double> &numbers_;
    int n_;
    Squares values_{}, mixed_{}, derivatives_{};
    std::vector<double> result_;
  };
} // namespace

Vector<double> pointwise_diagonal(const Block &block, std::int64_t per_direction,
    const CellBasis &basis, const laplace::PointTables &tables,
    const std::vector<laplace::BlockLink> &links, const laplace::PointNumbers<double> &numbers)
{
  Vector<double> result(block);
  CellDiagonal diagonal(block, per_direction, basis, tables, links, numbers);
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
      for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
      {
        const std::vector<double> &of_cell = diagonal.of({cx, cy, cz});
        std::size_t at = 0;
        for (int k = 0; k < block.nz(); ++k)
          for (int j = 0; j < block.n; ++j)
            for (int i = 0; i < block.n; ++i)
              result[block.index(cx, cy, cz, i, j, k)] = of_cell[at++];
      }
  return result;
}
} // namespace tensormg
