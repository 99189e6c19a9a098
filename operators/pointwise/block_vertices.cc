#include "operators/pointwise/block_vertices.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "operators/cellwise/joined_corners.h"
#include "operators/mesh/sums_over_ranks.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/cell_map.h"

namespace tensormg
{
namespace
{
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
  using SideMatrix = std::array<std::array<double, 12>, 12>;

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

    /// Half of the terms of an inner side, [function][function]: first of the corners of the cell, then of those behind its side in the order of places.
    ///   T j j' - F j' - j F',   j the jump, F the outward flux of the cell
    SideMatrix of_side(const Cell &cell, int side) const
    {
      SideMatrix result{};
      for (int q = 0; q < corners_ / 2; ++q)
      {
        std::array<double, 12> jump{}, flux{};
        for (int v = 0; v < corners_; ++v)
          flux[v] = flux_of(cell, side, q, v);
        for (int place = 0; place < corners_ / 2; ++place)
        {
          const double value = tables_.value[place & 1][q & 1] *
              (dim_ == 3 ? tables_.value[place >> 1][q >> 1] : 1.);
          jump[corner_of_side(side, place & 1, place >> 1)] = value;
          jump[8 + place] = -value;
        }
        const double penalty = face_number(cell, side, q, dim_);
        for (std::size_t i = 0; i < 12; ++i)
          for (std::size_t k = 0; k < 12; ++k)
            result[i][k] +=
                0.5 * (penalty * jump[i] * jump[k] - flux[i] * jump[k] - jump[i] * flux[k]);
      }
      return result;
    }

  private:
    using OfCorners = std::array<double, 8>;
    double face_number(const Cell &cell, int side, int q, int number) const
    {
      return level_.metric.face(row(cell), side, q, number, cell[0]);
    }
    /// Of the function of corner v outwards at point q of a side.
    double flux_of(const Cell &cell, int side, int q, int v) const
    {
      const int normal = side / 2;
      const std::array<int, 2> along = tangential(normal), point{q & 1, q >> 1};
      double result = 0.;
      for (int d = 0; d < dim_; ++d)
      {
        double product = 1.;
        for (int t = 0; t < dim_ - 1; ++t)
          product *=
              (along[t] == d ? tables_.derivative : tables_.value)[v >> along[t] & 1][point[t]];
        if (d == normal)
          product *= (v >> normal & 1) == 1 ? 1. : -1.;
        else if ((v >> normal & 1) != side % 2)
          product = 0.;
        const int number = d == normal ? 0 : d == along[0] ? 1 : 2;
        result += face_number(cell, side, q, number) * product;
      }
      return side % 2 == 1 ? result : -result;
    }
    std::int64_t row(const Cell &cell) const { return cell[2] * block_.cells[1] + cell[1]; }

    void add_volume(const Cell &cell, ElementMatrix &to) const
    {
      for (int q = 0; q < corners_; ++q)
      {
        for (int a = 0; a < dim_; ++a)
        {
          OfCorners flux{}; // (G grad phi_w)_a
          for (int b = 0; b < dim_; ++b)
          {
            const int place = laplace::volume_place(dim_, std::min(a, b), std::max(a, b));
            const double g = level_.metric.volume(row(cell), q, place, cell[0]);
            for (int w = 0; w < corners_; ++w)
              flux[w] += g * gradient_[q][b][w];
          }
          add(gradient_[q][a], flux, to);
        }
        const double c = level_.metric.reaction(row(cell), q, cell[0]);
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
        const double r = face_number(cell, side, q, dim_);
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
    return {dim, 1, {n_blocks * per_direction, per_direction, dim == 3 ? per_direction : 1}};
  }
} // namespace

BlockVertices::BlockVertices(int dim, const std::vector<laplace::BlockLink> &links,
    std::int64_t per_direction, const std::vector<double> &strengths)
  : corners_(1 << dim)
  , cells_(cells_of(dim, links, per_direction))
{
  JoinedCorners joined(cells_, per_direction, links, strengths);
  size_ = joined.size();
  unknowns_ = joined.unknowns();
  if (!joined.has_splits())
    return;
  for_stacked_cells(cells_, [&](const Cell &cell) {
    for (int side = 0; side < 2 * dim; ++side)
      add_if_torn(links, per_direction, cell, side);
  });
}

void BlockVertices::add_if_torn(const std::vector<laplace::BlockLink> &links,
    std::int64_t per_direction, const Cell &cell, int side)
{
  TornSide torn{cell, side, {-1, -1, -1, -1}};
  bool is_torn = false;
  for (int place = 0; place < corners_ / 2; ++place)
  {
    const auto behind = laplace::point_behind(
        cells_, per_direction, links.data(), cell, side, place & 1, place >> 1);
    if (behind.kind != Side::ghost)
      return;
    torn.behind[place] = of_cell(behind.cell)[corner_of_side(behind.side, behind.a, behind.b)];
    is_torn =
        is_torn || torn.behind[place] != of_cell(cell)[corner_of_side(side, place & 1, place >> 1)];
  }
  if (is_torn)
    torn_.push_back(torn);
}

std::vector<std::int32_t> BlockVertices::unknowns_of(const TornSide &torn) const
{
  std::vector<std::int32_t> result(12, -1);
  std::copy_n(of_cell(torn.cell), corners_, result.begin());
  std::copy_n(torn.behind.begin(), 4, result.begin() + 8);
  return result;
}

std::vector<std::pair<std::int32_t, std::int32_t>> BlockVertices::torn_places() const
{
  std::vector<std::pair<std::int32_t, std::int32_t>> result;
  for (const TornSide &torn : torn_)
    for (const std::int32_t i : unknowns_of(torn))
      for (const std::int32_t j : unknowns_of(torn))
        if (i >= 0 && j >= 0)
          result.emplace_back(i, j);
  std::sort(result.begin(), result.end());
  return result;
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
  const auto torn = torn_places();
  auto further = torn.begin();
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
  {
    row.clear();
    for (; further != torn.end() && further->first == static_cast<std::int32_t>(i); ++further)
      row.push_back(further->second);
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
  const auto add = [&](const auto &numbers, const auto &unknowns, std::size_t count) {
    for (std::size_t v = 0; v < count; ++v)
      for (std::size_t w = 0; w < count; ++w)
        if (unknowns[v] >= 0 && unknowns[w] >= 0)
          entry(unknowns[v], unknowns[w]) += numbers[v][w];
  };
  const std::int64_t first = level.grid.offset[0], count = level.grid.block.cells[0];
  for_stacked_cells(level.grid.block, [&](const Cell &cell) {
    add(elements.of(cell), of_cell({cell[0] + first, cell[1], cell[2]}),
        static_cast<std::size_t>(corners_));
  });
  for (const TornSide &torn : torn_)
    if (const std::int64_t x = torn.cell[0] - first; x >= 0 && x < count)
      add(elements.of_side({x, torn.cell[1], torn.cell[2]}, torn.side), unknowns_of(torn), 12);
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
