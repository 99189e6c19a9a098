#include "operators/pointwise/block_vertices.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "operators/mesh/sums_over_ranks.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/cell_map.h"

namespace tensormg
{
namespace
{
  /// Which corners are one vertex, by the least of them.
  class JoinedCorners
  {
  public:
    explicit JoinedCorners(std::int32_t count)
      : least_(static_cast<std::size_t>(count))
    {
      std::iota(least_.begin(), least_.end(), 0);
    }
    std::int32_t least(std::int32_t corner)
    {
      while (at(corner) != corner)
        corner = at(corner) = at(at(corner));
      return corner;
    }
    void join(std::int32_t a, std::int32_t b)
    {
      a = least(a);
      b = least(b);
      at(std::max(a, b)) = std::min(a, b);
    }

  private:
    std::int32_t &at(std::int32_t corner) { return least_[static_cast<std::size_t>(corner)]; }
    std::vector<std::int32_t> least_;
  };

  /// That of a side whose places in its tangential directions are a and b.
  int corner_of_side(int side, std::int64_t a, std::int64_t b)
  {
    const auto [of_a, of_b] = tangential(side / 2);
    return (side % 2 << side / 2) + (static_cast<int>(a) << of_a) + (static_cast<int>(b) << of_b);
  }

  /// Of 1 - x (end 0) or x: coefficient[end][i] of the modes of degree 1, of which the first is constant and the second odd.
  std::array<std::array<double, 2>, 2> hats(const CellBasis &basis)
  {
    const double even = 0.5 / basis.v[0], odd = 0.5 / basis.v[1];
    return {{{even, -odd}, {even, odd}}};
  }

  /// Values and derivatives of the two hats at the two Gauss points, and at the ends.
  struct HatTables
  {
    std::array<std::array<double, 2>, 2> value{}, derivative{}; ///< [end][q]

    HatTables(const CellBasis &basis, const laplace::PointTables &tables)
    {
      const auto coefficients = hats(basis);
      for (std::size_t end = 0; end < 2; ++end)
        for (std::size_t q = 0; q < 2; ++q)
          for (std::size_t i = 0; i < 2; ++i)
          {
            value[end][q] += coefficients[end][i] * tables.value[q * 2 + i];
            derivative[end][q] += coefficients[end][i] * tables.derivative[q * 2 + i];
          }
    }
  };

  using Cell = std::array<std::int64_t, 3>;
  using ElementMatrix = std::array<std::array<double, 8>, 8>;

  /// Of the cells that this rank has.
  class Elements
  {
  public:
    explicit Elements(const BlockLevels::Level &level)
      : level_(level)
      , block_(level.grid.block)
      , cells_(block_.dim, 0, block_.cells)
      , dim_(block_.dim)
      , corners_(1 << dim_)
      , tables_(level.basis, level.tables)
    {
      for (int q = 0; q < corners_; ++q)
        for (int v = 0; v < corners_; ++v)
        {
          value_[q][v] = product(v, q, -1);
          for (int d = 0; d < dim_; ++d)
            gradient_[q][d][v] = product(v, q, d);
        }
    }

    ElementMatrix of(const Cell &cell) const
    {
      ElementMatrix result{};
      add_volume(cell, result);
      for (int side = 0; side < 2 * dim_; ++side)
        if (laplace::point_behind(
                cells_, level_.shape.per_direction, level_.links->data(), cell, side, 0, 0)
                .kind == Side::neumann)
          add_side(cell, side, result);
      return result;
    }

  private:
    using OfCorners = std::array<double, 8>;
    std::int64_t row(const Cell &cell) const { return cell[2] * block_.cells[1] + cell[1]; }

    void add_volume(const Cell &cell, ElementMatrix &to) const
    {
      const auto numbers = level_.metric.view();
      for (int q = 0; q < corners_; ++q)
      {
        for (int a = 0; a < dim_; ++a)
        {
          OfCorners flux{}; // (G grad phi_w)_a
          for (int b = 0; b < dim_; ++b)
          {
            const int place = laplace::volume_place(dim_, std::min(a, b), std::max(a, b));
            const double g =
                numbers.volume[laplace::volume_index(block_, row(cell), q, place, cell[0])];
            for (int w = 0; w < corners_; ++w)
              flux[w] += g * gradient_[q][b][w];
          }
          add(gradient_[q][a], flux, to);
        }
        if (numbers.reaction == nullptr)
          continue;
        const double c = numbers.reaction[laplace::reaction_index(block_, row(cell), q, cell[0])];
        OfCorners product = value_[q];
        for (double &number : product)
          number *= c;
        add(value_[q], product, to);
      }
    }

    static void add(const OfCorners &of_rows, const OfCorners &of_columns, ElementMatrix &to)
    {
      for (std::size_t v = 0; v < 8; ++v)
        for (std::size_t w = 0; w < 8; ++w)
          to[v][w] += of_rows[v] * of_columns[w];
    }

    /// Of corner v at point q: its value, or its derivative in direction d.
    double product(int v, int q, int d) const
    {
      double result = 1.;
      for (int e = 0; e < dim_; ++e)
        result *= (e == d ? tables_.derivative : tables_.value)[v >> e & 1][q >> e & 1];
      return result;
    }

    void add_side(const Cell &cell, int side, ElementMatrix &to) const
    {
      const auto [a, b] = tangential(side / 2);
      for (int q = 0; q < corners_ / 2; ++q)
      {
        const double r = level_.metric.view()
                             .face[laplace::face_index(block_, row(cell), side, q, dim_, cell[0])];
        OfCorners value{}, product{};
        for (int v = 0; v < corners_; ++v)
          if ((v >> side / 2 & 1) == side % 2)
          {
            value[v] = tables_.value[v >> a & 1][q & 1] *
                (dim_ == 3 ? tables_.value[v >> b & 1][q >> 1] : 1.);
            product[v] = r * value[v];
          }
        add(value, product, to);
      }
    }

    const BlockLevels::Level &level_;
    const Block &block_;
    Block cells_; ///< with one point each
    int dim_, corners_;
    HatTables tables_;
    std::array<OfCorners, 8> value_{};                   ///< [q][corner]
    std::array<std::array<OfCorners, 3>, 8> gradient_{}; ///< [q][direction][corner]
  };

  Block cells_of(int dim, const std::vector<laplace::BlockLink> &links, std::int64_t per_direction)
  {
    const std::int64_t n_blocks = std::ssize(links) / (2 * dim);
    const Block cells(
        dim, 1, {n_blocks * per_direction, per_direction, dim == 3 ? per_direction : 1});
    if (cells.n_cells() << dim > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("the cells have more than 2^31 - 1 corners");
    return cells;
  }
} // namespace

BlockVertices::BlockVertices(
    int dim, const std::vector<laplace::BlockLink> &links, std::int64_t per_direction)
  : corners_(1 << dim)
  , cells_(cells_of(dim, links, per_direction))
  , unknowns_(static_cast<std::size_t>(cells_.n_cells() * corners_))
{
  const auto count = static_cast<std::int32_t>(unknowns_.size());
  JoinedCorners joined(count);
  std::vector<bool> is_held(unknowns_.size(), false);
  const auto number = [&](const Cell &cell, int corner) {
    return static_cast<std::int32_t>(place(cell)) * corners_ + corner;
  };
  /// use(number of a corner, what is behind it) for each corner of each side
  const auto for_corners = [&](const auto &use) {
    for_stacked_cells(cells_, [&](const Cell &cell) {
      for (int side = 0; side < 2 * dim; ++side)
        for (std::int64_t v = 0; v < corners_ / 2; ++v)
          use(number(cell, corner_of_side(side, v % 2, v / 2)),
              laplace::point_behind(cells_, per_direction, links.data(), cell, side, v % 2, v / 2));
    });
  };
  for_corners([&](std::int32_t corner, const laplace::PointBehind &behind) {
    if (behind.kind == Side::ghost)
      joined.join(corner, number(behind.cell, corner_of_side(behind.side, behind.a, behind.b)));
  });
  for_corners([&](std::int32_t corner, const laplace::PointBehind &behind) {
    if (behind.kind == Side::dirichlet)
      is_held[static_cast<std::size_t>(joined.least(corner))] = true;
  });
  for (std::int32_t corner = 0; corner < count; ++corner)
  {
    const auto least = static_cast<std::size_t>(joined.least(corner));
    unknowns_[static_cast<std::size_t>(corner)] = is_held[least] ? -1
        : static_cast<std::int32_t>(least) == corner             ? size_++
                                                                 : unknowns_[least];
  }
}

SparseRows BlockVertices::pattern() const
{
  std::vector<std::int64_t> begin(
      static_cast<std::size_t>(size_) + 1, 0); // of the cells of a vertex
  for (const std::int32_t unknown : unknowns_)
    if (unknown >= 0)
      ++begin[static_cast<std::size_t>(unknown) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::int32_t> cells(static_cast<std::size_t>(begin.back()));
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t at = 0; at < unknowns_.size(); ++at)
    if (unknowns_[at] >= 0)
      cells[static_cast<std::size_t>(next[static_cast<std::size_t>(unknowns_[at])]++)] =
          static_cast<std::int32_t>(at / static_cast<std::size_t>(corners_));
  SparseRows result;
  std::vector<std::int32_t> row;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
  {
    row.clear();
    for (std::int64_t c = begin[i]; c < begin[i + 1]; ++c)
    {
      const auto first =
          unknowns_.begin() + std::ptrdiff_t{cells[static_cast<std::size_t>(c)]} * corners_;
      std::copy_if(first, first + corners_, std::back_inserter(row),
          [](std::int32_t unknown) { return unknown >= 0; });
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    result.columns.insert(result.columns.end(), row.begin(), row.end());
    result.end_row();
  }
  result.values.assign(result.columns.size(), 0.);
  return result;
}

SparseRows BlockVertices::matrix(const BlockLevels &levels) const
{
  const BlockLevels::Level &level = levels.levels().front();
  const Elements elements(level);
  SparseRows result = pattern();
  const auto entry = [&](std::int32_t i, std::int32_t j) -> double & {
    const auto begin = result.columns.begin();
    const auto at = std::lower_bound(begin + result.begin[static_cast<std::size_t>(i)],
        begin + result.begin[static_cast<std::size_t>(i) + 1], j);
    return result.values[static_cast<std::size_t>(at - begin)];
  };
  for_stacked_cells(level.grid.block, [&](const Cell &cell) {
    const ElementMatrix element = elements.of(cell);
    const std::int32_t *const unknowns =
        of_cell({cell[0] + level.grid.offset[0], cell[1], cell[2]});
    for (int v = 0; v < corners_; ++v)
      for (int w = 0; w < corners_; ++w)
        if (unknowns[v] >= 0 && unknowns[w] >= 0)
          entry(unknowns[v], unknowns[w]) += element[v][w];
  });
  sum_many(result.values, level.grid.communicator);
  return result;
}

namespace
{
  /// The modes of degree 1 of a cell, bit d of a number for direction d, to the coefficients of its corners or back: by one direction after the other.
  /// Of 1 - x and x the even mode has the coefficient `even`, the odd one -odd and odd.
  class Corners
  {
  public:
    Corners(const CellBasis &basis, int dim)
      : dim_(dim)
      , even_(hats(basis)[1][0])
      , odd_(hats(basis)[1][1])
    {}

    std::array<double, 8> to_corners(std::array<double, 8> x) const
    {
      for_pairs([&](int low, int high) {
        const double even = even_ * x[low], odd = odd_ * x[high];
        x[low] = even - odd;
        x[high] = even + odd;
      });
      return x;
    }
    std::array<double, 8> to_modes(std::array<double, 8> x) const
    {
      for_pairs([&](int low, int high) {
        const double first = x[low], second = x[high];
        x[low] = even_ * (first + second);
        x[high] = odd_ * (second - first);
      });
      return x;
    }

  private:
    template <typename Use>
    void for_pairs(const Use &use) const
    {
      for (int d = 0; d < dim_; ++d)
        for (int v = 0; v < 1 << dim_; ++v)
          if ((v >> d & 1) == 0)
            use(v, v + (1 << d));
    }
    int dim_;
    double even_, odd_;
  };

  std::int64_t mode(const Block &block, const Cell &cell, int number)
  {
    return block.index(cell[0], cell[1], cell[2], number & 1, number >> 1 & 1, number >> 2);
  }
} // namespace

void BlockVertices::restrict_to(const CellBasis &basis, std::vector<double> &to,
    const Vector<double> &r, std::int64_t first) const
{
  const Block &block = r.block();
  const Corners corners(basis, block.dim);
  to.assign(static_cast<std::size_t>(size_), 0.);
  for_stacked_cells(block, [&](const Cell &cell) {
    std::array<double, 8> modes{};
    for (int i = 0; i < corners_; ++i)
      modes[i] = r[mode(block, cell, i)];
    const std::array<double, 8> of_corners = corners.to_corners(modes);
    const std::int32_t *const unknowns = of_cell({cell[0] + first, cell[1], cell[2]});
    for (int v = 0; v < corners_; ++v)
      if (unknowns[v] >= 0)
        to[static_cast<std::size_t>(unknowns[v])] += of_corners[v];
  });
}

void BlockVertices::add_prolonged(const CellBasis &basis, Vector<double> &x,
    const std::vector<double> &from, std::int64_t first) const
{
  const Block &block = x.block();
  const Corners corners(basis, block.dim);
  for_stacked_cells(block, [&](const Cell &cell) {
    const std::int32_t *const unknowns = of_cell({cell[0] + first, cell[1], cell[2]});
    std::array<double, 8> of_corners{};
    for (int v = 0; v < corners_; ++v)
      of_corners[v] = unknowns[v] >= 0 ? from[static_cast<std::size_t>(unknowns[v])] : 0.;
    const std::array<double, 8> modes = corners.to_modes(of_corners);
    for (int i = 0; i < corners_; ++i)
      x[mode(block, cell, i)] += modes[i];
  });
}

double BlockVertices::bytes(std::int64_t cells, int dim)
{
  const double corners = dim == 3 ? 8. : 4., entries = dim == 3 ? 27. : 9.;
  return static_cast<double>(cells) * (2. * 4. * corners + 12. * entries);
}
} // namespace tensormg
