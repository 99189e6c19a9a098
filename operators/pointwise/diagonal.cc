#include "operators/pointwise/diagonal.h"

#include <array>
#include <vector>

#include "kernels/laplace/pointwise/lanes.h"
#include "operators/data/contraction.h"

namespace tensormg
{
namespace
{
  using laplace::face_index;
  using laplace::volume_index;
  using laplace::volume_place;

  /// Products of two lines of the tables, [q][i].
  using Squares = std::vector<double>;

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
      , n_(static_cast<std::size_t>(block.n))
    {
      for (std::size_t at = 0; at < n_ * n_; ++at)
      {
        values_.push_back(tables.value[at] * tables.value[at]);
        mixed_.push_back(tables.value[at] * tables.derivative[at]);
        derivatives_.push_back(tables.derivative[at] * tables.derivative[at]);
      }
    }

    /// By modes, x fastest.
    const std::vector<Lanes> &of(const CellsInLanes &cells)
    {
      result_.assign(static_cast<std::size_t>(block_.dofs_per_cell()), Lanes{});
      row_ = cells.first[2] * block_.cells[1] + cells.first[1];
      for (int a = 0; a < block_.dim; ++a)
        for (int b = a; b < block_.dim; ++b)
          add_volume(cells, a, b);
      if (numbers_.reaction != nullptr)
        add_reaction(cells);
      for (int side = 0; side < 2 * block_.dim; ++side)
        add_side(cells, side);
      return result_;
    }

  private:
    /// In direction d of the term with G_ab.
    const Squares &squares(int d, int a, int b) const
    {
      return d == a && d == b ? derivatives_ : d == a || d == b ? mixed_ : values_;
    }

    /// sums_[.., i, ..] = sum over q of table[q][i] sums_[.., q, ..]
    void contract_sums(std::size_t stride, const Squares &table)
    {
      contract(sums_, SmallMatrix::by_rows(table, n_).transposed(), stride, scratch_);
    }

    void add_volume(const CellsInLanes &cells, int a, int b)
    {
      sums_.resize(result_.size());
      for (std::size_t q = 0; q < sums_.size(); ++q)
        sums_[q] = load_lanes(&numbers_.volume[volume_index(block_, row_,
            static_cast<std::int64_t>(q), volume_place(block_.dim, a, b), cells.first[0])]);
      std::size_t stride = 1;
      for (int d = 0; d < block_.dim; ++d, stride *= n_)
        contract_sums(stride, squares(d, a, b));
      for (std::size_t i = 0; i < sums_.size(); ++i)
        result_[i] += (a == b ? 1. : 2.) * sums_[i];
    }

    void add_reaction(const CellsInLanes &cells)
    {
      sums_.resize(result_.size());
      for (std::size_t q = 0; q < sums_.size(); ++q)
        sums_[q] = load_lanes(&numbers_.reaction[laplace::reaction_index(
            block_, row_, static_cast<std::int64_t>(q), cells.first[0])]);
      std::size_t stride = 1;
      for (int d = 0; d < block_.dim; ++d, stride *= n_)
        contract_sums(stride, values_);
      for (std::size_t i = 0; i < sums_.size(); ++i)
        result_[i] += sums_[i];
    }

    double end_value(int side, int i) const
    {
      return side % 2 == 1 || i % 2 == 0 ? basis_.v[i] : -basis_.v[i];
    }
    double end_derivative(int side, int i) const
    {
      return 2. * (side % 2 == 1 || i % 2 == 1 ? basis_.h[i] : -basis_.h[i]);
    }

    /// What the tangential modes make of a number of the points of a side.
    void sum_over_side(const CellsInLanes &cells, int side, int number, int derivative = -1)
    {
      sums_.resize(static_cast<std::size_t>(laplace::points_of_face(block_)));
      for (std::size_t q = 0; q < sums_.size(); ++q)
        sums_[q] = load_lanes(&numbers_.face[face_index(
            block_, row_, side, static_cast<std::int64_t>(q), number, cells.first[0])]);
      contract_sums(1, derivative == 0 ? mixed_ : values_);
      if (block_.dim == 3)
        contract_sums(n_, derivative == 1 ? mixed_ : values_);
    }

    /// T V^2 - V F, twice at a Dirichlet side, T V^2 at a Neumann side.
    void add_side(const CellsInLanes &cells, int side)
    {
      Lanes of_penalty{}, of_flux{};
      for (int l = 0; l < cells.count; ++l)
      {
        const Side kind =
            laplace::point_behind(block_, per_direction_, links_.data(), cells[l], side, 0, 0).kind;
        of_penalty[l] = kind == Side::dirichlet ? 2. : 1.;
        of_flux[l] = kind == Side::neumann ? 0. : of_penalty[l];
      }
      const double sign = side % 2 == 1 ? 1. : -1.;
      sum_over_side(cells, side, block_.dim);
      add_side_sums(side, [&](int i) { return of_penalty * square(end_value(side, i)); });
      sum_over_side(cells, side, 0);
      add_side_sums(side,
          [&](int i) { return -of_flux * (sign * end_value(side, i) * end_derivative(side, i)); });
      for (int t = 0; t + 1 < block_.dim; ++t)
      {
        sum_over_side(cells, side, 1 + t, t);
        add_side_sums(side, [&](int i) { return -of_flux * (sign * square(end_value(side, i))); });
      }
    }
    static double square(double x) { return x * x; }

    /// Adds what sum_over_side() left, times factor(normal mode).
    template <typename Factor>
    void add_side_sums(int side, const Factor &factor)
    {
      const int d = side / 2;
      const auto [a, b] = tangential(d);
      const std::array<std::size_t, 3> strides{1, n_, n_ * n_};
      for (int i = 0; i < block_.n; ++i)
      {
        const Lanes of_mode = factor(i);
        for (std::size_t q = 0; q < sums_.size(); ++q)
          result_[q % n_ * strides[a] + (block_.dim == 3 ? q / n_ * strides[b] : 0) +
              static_cast<std::size_t>(i) * strides[d]] += of_mode * sums_[q];
      }
    }

    const Block &block_;
    std::int64_t per_direction_;
    const CellBasis &basis_;
    const std::vector<laplace::BlockLink> &links_;
    const laplace::PointNumbers<double> &numbers_;
    std::size_t n_;
    std::int64_t row_ = 0; ///< of the cells
    Squares values_, mixed_, derivatives_;
    std::vector<Lanes> result_, sums_, scratch_;
  };
} // namespace

Vector<double> pointwise_diagonal(const Block &block, std::int64_t per_direction,
    const CellBasis &basis, const laplace::PointTables &tables,
    const std::vector<laplace::BlockLink> &links, const laplace::PointNumbers<double> &numbers)
{
  Vector<double> result(block);
  CellDiagonal diagonal(block, per_direction, basis, tables, links, numbers);
  for_lanes(block, [&](const CellsInLanes &cells) {
    const std::vector<Lanes> &of_cells = diagonal.of(cells);
    const auto &[cx, cy, cz] = cells.first;
    std::size_t at = 0;
    for (int k = 0; k < block.nz(); ++k)
      for (int j = 0; j < block.n; ++j)
        for (int i = 0; i < block.n; ++i)
          simd::store<n_lanes>(&result[block.index(cx, cy, cz, i, j, k)], of_cells[at++]);
  });
  return result;
}
} // namespace tensormg
