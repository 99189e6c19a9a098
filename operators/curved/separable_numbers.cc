#include "operators/curved/separable_numbers.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/laplace/pointwise/relaxation.h"

extern "C" void dsygv_(const int *type, const char *jobz, const char *uplo, const int *n, double *a,
    const int *lda, double *b, const int *ldb, double *w, double *work, const int *lwork,
    int *info);

namespace tensormg
{
namespace
{
  using Cell = std::array<std::int64_t, 3>;
  using Line = std::array<double, max_n>;

  /// Of a matrix with n columns.
  std::size_t entry(int n, int row, int column)
  {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(row) +
        static_cast<std::size_t>(column);
  }

  class SeparableCells
  {
  public:
    explicit SeparableCells(const BlockLevels &levels, std::size_t l)
      : level_(levels.levels()[l])
      , block_(level_.grid.block)
      , basis_(level_.basis)
      , tables_(level_.tables)
      , links_(*level_.links)
      , cells_(block_.dim, 0, block_.cells)
      , means_(level_.make_exchange<double>(1, 1))
      , metric_(level_.metric)
      , n_(block_.n)
      , of_volume_(static_cast<std::size_t>(laplace::points_of_cell(block_)))
    {}

    const Block &block() const { return block_; }
    const CellBasis &basis() const { return basis_; }
    std::int64_t row(const Cell &cell) const { return cell[2] * block_.cells[1] + cell[1]; }

    /// What lies behind a side.
    laplace::PointBehind behind(const Cell &cell, int side) const
    {
      return laplace::point_behind(
          cells_, level_.shape.per_direction, links_.data(), cell, side, 0, 0);
    }
    /// mean() of the cell behind a side, in the direction of that.
    double mean_behind(const laplace::PointBehind &behind) const
    {
      return behind.is_local() ? mean(behind.cell, behind.side / 2)
                               : means_.received()[behind.remote];
    }
    void exchange_means()
    {
      means_.run(
          [&](const Cell &cell, int side, std::int64_t, int) { return mean(cell, side / 2); });
    }

    /// <G_aa> of the cell.
    double mean(const Cell &cell, int a) const
    {
      double sum = 0.;
      for (std::size_t q = 0; q < of_volume_.size(); ++q)
        sum += weight(q) * std::log(volume(cell, q, a) / weight(q));
      return std::exp(sum);
    }

    double side_number(const Cell &cell, int side, std::int64_t q, int number) const
    {
      return metric_.face(row(cell), side, q, number, cell[0]);
    }
    /// <G_aa> of a side, or <T>.
    double side_mean(const Cell &cell, int side, int number) const
    {
      double sum = 0.;
      for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
      {
        const double weight =
            tables_.weight[q % n_] * (block_.dim == 3 ? tables_.weight[q / n_] : 1.);
        sum += weight * std::log(side_number(cell, side, q, number) / weight);
      }
      return std::exp(sum);
    }
    /// [T] of a side.
    double penalty_mean(const Cell &cell, int side) const
    {
      double sum = 0.;
      for (std::int64_t q = 0; q < laplace::points_of_face(block_); ++q)
        sum += side_number(cell, side, q, block_.dim);
      return sum;
    }

    /// Of the reaction over the cell.
    double reaction(const Cell &cell) const
    {
      double sum = 0.;
      for (std::size_t q = 0; q < of_volume_.size(); ++q)
        sum += metric_.reaction(row(cell), static_cast<std::int64_t>(q), cell[0]);
      return sum;
    }
    bool is_neumann(const Cell &cell, int side) const
    {
      return behind(cell, side).kind == Side::neumann;
    }
    /// At Side::neumann: [r], or where neither end of the cell has one what a flux as large as that within the cell would be, so that T_a is not singular.
    double robin(const Cell &cell, int side) const
    {
      const double r = penalty_mean(cell, side);
      const bool is_free =
          r == 0. && is_neumann(cell, side ^ 1) && penalty_mean(cell, side ^ 1) == 0.;
      return is_free ? side_mean(cell, side, 0) : r;
    }

    /// The sum of f ([T] - <T>).
    double penalty_excess(const Cell &cell, int a) const
    {
      double sum = 0.;
      for (const int side : {2 * a, 2 * a + 1})
        if (!is_neumann(cell, side))
          sum += side_factor(cell, side) *
              (penalty_mean(cell, side) - side_mean(cell, side, block_.dim));
      return sum;
    }

    /// Whether the neighbour at a side in direction a is so much stiffer that its penalty holds this cell.
    bool is_held(const Cell &cell, int a) const
    {
      constexpr double most_excess = 8.; // without a jump up to 3, by kappa
      const double own = basis_.penalty * mean(cell, a);
      const auto is_of_neighbour = [&](int side) {
        return !is_neumann(cell, side) && penalty_mean(cell, side) > most_excess * own;
      };
      return is_of_neighbour(2 * a) || is_of_neighbour(2 * a + 1);
    }

    /// g_a at the points of direction a.
    Line stiffness_weights(const Cell &cell, int a)
    {
      for (std::size_t q = 0; q < of_volume_.size(); ++q)
        of_volume_[q] = std::log(volume(cell, q, a) / weight(q));
      return exponentials(sums_along(a));
    }
    Line mass_weights(const Cell &cell, int a)
    {
      double mean = 0.;
      for (std::size_t q = 0; q < of_volume_.size(); ++q)
      {
        of_volume_[q] = 0.;
        for (int d = 0; d < block_.dim; ++d)
          of_volume_[q] += std::log(volume(cell, q, d) / weight(q)) / block_.dim;
        mean += weight(q) * of_volume_[q];
      }
      Line sums = sums_along(a);
      for (int q = 0; q < n_; ++q)
        sums[q] -= mean;
      return exponentials(sums);
    }

    /// T_a, and M_a.
    std::vector<double> stiffness(const Cell &cell, int a)
    {
      std::vector<double> matrix = products(tables_.derivative, stiffness_weights(cell, a));
      for (const int side : {2 * a, 2 * a + 1})
      {
        if (is_neumann(cell, side))
        {
          const double r = robin(cell, side);
          for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j)
              matrix[i * n_ + j] += r * end_value(side, i) * end_value(side, j);
          continue;
        }
        const double factor = side_factor(cell, side), tau = side_mean(cell, side, block_.dim),
                     half_g = 0.5 * side_mean(cell, side, 0);
        for (int i = 0; i < n_; ++i)
          for (int j = 0; j < n_; ++j)
            matrix[i * n_ + j] += factor *
                (tau * end_value(side, i) * end_value(side, j) -
                    half_g *
                        (end_value(side, i) * end_derivative(side, j) +
                            end_derivative(side, i) * end_value(side, j)));
      }
      return matrix;
    }
    std::vector<double> mass(const Cell &cell, int a)
    {
      return products(tables_.value, mass_weights(cell, a));
    }

  private:
    double volume(const Cell &cell, std::size_t q, int a) const
    {
      return metric_.volume(row(cell), static_cast<std::int64_t>(q), a, cell[0]);
    }
    std::array<int, 3> point(std::size_t q) const
    {
      const int at = static_cast<int>(q);
      return {at % n_, at / n_ % n_, at / n_ / n_};
    }
    double weight(std::size_t q) const
    {
      const auto at = point(q);
      double result = 1.;
      for (int d = 0; d < block_.dim; ++d)
        result *= tables_.weight[at[d]];
      return result;
    }

    /// Means of of_volume_ over the other directions.
    Line sums_along(int a) const
    {
      Line sums{};
      for (std::size_t q = 0; q < of_volume_.size(); ++q)
      {
        const int at = point(q)[a];
        sums[at] += weight(q) / tables_.weight[at] * of_volume_[q];
      }
      return sums;
    }
    Line exponentials(Line line) const
    {
      for (int q = 0; q < n_; ++q)
        line[q] = std::exp(line[q]);
      return line;
    }

    /// The sum over the points of weight w_q times products of two lines of the table.
    std::vector<double> products(
        const std::array<double, max_n * max_n> &table, const Line &weights) const
    {
      std::vector<double> matrix(entry(n_, n_, 0));
      for (int q = 0; q < n_; ++q)
        for (int i = 0; i < n_; ++i)
          for (int j = 0; j < n_; ++j)
            matrix[i * n_ + j] +=
                tables_.weight[q] * weights[q] * table[q * n_ + i] * table[q * n_ + j];
      return matrix;
    }

    double end_value(int side, int i) const
    {
      return side % 2 == 1 || i % 2 == 0 ? basis_.v[i] : -basis_.v[i];
    }
    double end_derivative(int side, int i) const
    {
      return 2. * (side % 2 == 1 || i % 2 == 0 ? basis_.h[i] : -basis_.h[i]);
    }
    double side_factor(const Cell &cell, int side) const
    {
      switch (behind(cell, side).kind)
      {
        case Side::dirichlet:
          return 2.;
        case Side::neumann:
          return 0.;
        default:
          return 1.;
      }
    }

    const BlockLevels::Level &level_;
    const Block &block_;
    const CellBasis &basis_;
    const laplace::PointTables &tables_;
    const std::vector<laplace::BlockLink> &links_;
    Block cells_; ///< with one point each
    SideExchange<double> means_;
    const PointwiseMetric &metric_;
    int n_;
    std::vector<double> of_volume_;
  };

  /// What is left where numbers vary so much that rounding makes T or M indefinite.
  std::vector<double> diagonal_alone(
      const std::vector<double> &t, const std::vector<double> &m, int n)
  {
    std::vector<double> result(static_cast<std::size_t>(laplace::cell_inverse_numbers(n)), 0.);
    double largest = 0.;
    for (int i = 0; i < n; ++i)
      largest = std::max(largest, std::abs(t[entry(n, i, i)]));
    for (int i = 0; i < n; ++i)
    {
      const std::size_t at = entry(n, i, i);
      const double mass = m[at] > 0. ? m[at] : 1.;
      result[at] = 1. / std::sqrt(mass);
      result[entry(n, n, i)] = (t[at] > 0. ? t[at] : largest) / mass;
    }
    return result;
  }

  /// T Q = M Q diag(mu): Q as [mode][eigenvector], then mu.
  std::vector<double> eigenvectors(
      const std::vector<double> &stiffness, const std::vector<double> &mass, int n)
  {
    std::vector<double> t = stiffness, m = mass;
    std::vector<double> result(static_cast<std::size_t>(laplace::cell_inverse_numbers(n)));
    std::array<double, 3 * max_n + 64> work{};
    const int lwork = static_cast<int>(work.size()), type = 1;
    int info = 0;
    dsygv_(&type, "V", "U", &n, t.data(), &n, m.data(), &n, result.data() + n * n, work.data(),
        &lwork, &info);
    if (info != 0 || !(result[entry(n, n, 0)] > 0.))
      return diagonal_alone(stiffness, mass, n);
    for (int q = 0; q < n; ++q)
      for (int i = 0; i < n; ++i)
        result[i * n + q] = t[q * n + i]; // column-major
    return result;
  }

  void write_cell(SeparableCells &of, const Cell &cell, int a, const std::vector<double> &stiffness,
      std::vector<double> &numbers)
  {
    const Block &block = of.block();
    const int count = laplace::cell_inverse_numbers(block.n);
    std::vector<double> own = eigenvectors(stiffness, of.mass(cell, a), block.n);
    for (int i = 0; i < block.n; ++i)
      own[entry(block.n, block.n, i)] += of.reaction(cell) / block.dim;
    for (int i = 0; i < count; ++i)
      numbers[laplace::relaxation_index(block, count, of.row(cell), a, i, cell[0])] =
          own[static_cast<std::size_t>(i)];
  }

  void write_line(const SeparableCells &of, const Cell &cell, int a,
      const std::vector<double> &stiffness, double penalty, std::vector<double> &numbers)
  {
    const Block &block = of.block();
    const auto number = [&](int i) -> double & {
      return numbers[laplace::relaxation_index(
          block, laplace::line_inverse_numbers(block.n), of.row(cell), a, i, cell[0])];
    };
    number(0) = of.mean(cell, a);
    for (const int end : {0, 1})
    {
      const int side = 2 * a + end;
      if (of.is_neumann(cell, side))
      {
        number(1 + end) = of.penalty_mean(cell, side);
        continue;
      }
      const auto behind = of.behind(cell, side);
      const double other = behind.kind == Side::ghost ? of.mean_behind(behind) : number(0);
      number(1 + end) = std::max(penalty * 0.5 * (number(0) + other), of.penalty_mean(cell, side));
    }
    const double more = of.penalty_excess(cell, a), reaction = of.reaction(cell) / (block.dim - 1);
    for (int i = 0; i < block.n; ++i)
      number(3 + i) =
          stiffness[entry(block.n, i, i)] + more * of.basis().v[i] * of.basis().v[i] + reaction;
  }

  /// Takes a cell out of the lines that pass sides by which it is held, and gives their weight to the inverse of the cell.
  void leave_out_held(const SeparableCells &of, const Cell &cell, SeparableNumbers &numbers)
  {
    constexpr double immovable = 1e15;
    const Block &block = of.block();
    const int n = block.n, of_cells = laplace::cell_inverse_numbers(n),
              of_lines = laplace::line_inverse_numbers(n);
    const auto scale = [&](std::vector<double> &all, int count, int a, int first, double factor) {
      for (int i = first; i < first + n; ++i)
        all[laplace::relaxation_index(block, count, of.row(cell), a, i, cell[0])] *= factor;
    };
    std::array<bool, 3> is_held{};
    int n_held = 0, n_left_out = 0;
    for (int a = 0; a < block.dim; ++a)
      n_held += int{is_held[a] = of.is_held(cell, a)};
    for (int a = 0; a < block.dim; ++a)
      n_left_out += int{n_held > int{is_held[a]}};
    for (int a = 0; a < block.dim && n_held > 0; ++a)
    {
      scale(numbers.cells, of_cells, a, n * n, 1. / (1 + n_left_out));
      if (is_held[a])
        scale(numbers.lines, of_lines, a, 3, immovable);
    }
  }
} // namespace

SeparableNumbers::SeparableNumbers(
    const BlockLevels &levels, std::size_t l, bool has_cells, bool has_lines)
{
  SeparableCells of(levels, l);
  if (has_lines)
    of.exchange_means();
  const Block &block = of.block();
  const int n = block.n, of_cells = laplace::cell_inverse_numbers(n);
  if (has_cells)
    cells.assign(static_cast<std::size_t>(laplace::relaxation_size(block, of_cells)), 0.);
  if (has_lines)
    lines.assign(
        static_cast<std::size_t>(laplace::relaxation_size(block, laplace::line_inverse_numbers(n))),
        1.);
  for (std::int64_t row = 0; has_cells && row < block.cells[1] * block.cells[2]; ++row)
    for (int a = 0; a < block.dim; ++a)
      for (int i = 0; i < n; ++i) // eigenvalues of what belongs to no cell
        std::fill_n(&cells[laplace::relaxation_index(block, of_cells, row, a, n * n + i, 0)],
            block.pitch, 1.);
  for_stacked_cells(block, [&](const Cell &cell) {
    for (int a = 0; a < block.dim; ++a)
    {
      const std::vector<double> stiffness = of.stiffness(cell, a);
      if (has_cells)
        write_cell(of, cell, a, stiffness, cells);
      if (has_lines)
        write_line(of, cell, a, stiffness, of.basis().penalty, lines);
    }
    if (has_cells && has_lines)
      leave_out_held(of, cell, *this);
  });
}
} // namespace tensormg
