#include "operators/pointwise/block_vertices.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "operators/pointwise/block_levels.h"

namespace tensormg
{
namespace
{
  /// Which corners are one vertex, by the least of them.
  class JoinedCorners
  {
  public:
    explicit JoinedCorners(std::size_t count)
    {
      for (std::size_t i = 0; i < count; ++i)
        least_.push_back(i);
    }
    std::size_t least(std::size_t corner)
    {
      while (least_[corner] != corner)
        corner = least_[corner] = least_[least_[corner]];
      return corner;
    }
    void join(std::size_t a, std::size_t b)
    {
      a = least(a);
      b = least(b);
      least_[std::max(a, b)] = std::min(a, b);
    }

  private:
    std::vector<std::size_t> least_;
  };

  int corner_of_side(int side, const std::array<std::int64_t, 2> &place)
  {
    const auto [a, b] = tangential(side / 2);
    return (side % 2 << side / 2) + (static_cast<int>(place[0]) << a) +
        (static_cast<int>(place[1]) << b);
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

  using ElementMatrix = std::array<std::array<double, 8>, 8>;

  /// Of one cell per block.
  class Elements
  {
  public:
    explicit Elements(const BlockLevels &levels)
      : levels_(levels)
      , level_(levels.levels().front())
      , block_(level_.grid.block)
      , dim_(block_.dim)
      , corners_(1 << dim_)
      , tables_(level_.basis, level_.tables)
    {}

    ElementMatrix of(std::int64_t cell) const
    {
      ElementMatrix result{};
      add_volume(cell, result);
      for (int side = 0; side < 2 * dim_; ++side)
        if (levels_.links()[static_cast<std::size_t>(cell * 2 * dim_ + side)].kind == Side::neumann)
          add_side(cell, side, result);
      return result;
    }

  private:
    void add_volume(std::int64_t cell, ElementMatrix &to) const
    {
      const auto numbers = level_.metric.view();
      for (int q = 0; q < corners_; ++q)
      {
        std::array<double, 8> value{};
        std::array<std::array<double, 3>, 8> gradient{};
        for (int v = 0; v < corners_; ++v)
        {
          value[v] = product(v, q, -1);
          for (int d = 0; d < dim_; ++d)
            gradient[v][d] = product(v, q, d);
        }
        for (int a = 0; a < dim_; ++a)
          for (int b = 0; b < dim_; ++b)
          {
            const double g = numbers.volume[laplace::volume_index(
                block_, 0, q, laplace::volume_place(dim_, std::min(a, b), std::max(a, b)), cell)];
            for (int v = 0; v < corners_; ++v)
              for (int w = 0; w < corners_; ++w)
                to[v][w] += g * gradient[v][a] * gradient[w][b];
          }
        if (numbers.reaction == nullptr)
          continue;
        const double c = numbers.reaction[laplace::reaction_index(block_, 0, q, cell)];
        for (int v = 0; v < corners_; ++v)
          for (int w = 0; w < corners_; ++w)
            to[v][w] += c * value[v] * value[w];
      }
    }

    /// Of corner v at point q: its value, or its derivative in direction d.
    double product(int v, int q, int d) const
    {
      double result = 1.;
      for (int e = 0; e < dim_; ++e)
        result *= (e == d ? tables_.derivative : tables_.value)[v >> e & 1][q >> e & 1];
      return result;
    }

    void add_side(std::int64_t cell, int side, ElementMatrix &to) const
    {
      const auto [a, b] = tangential(side / 2);
      for (int q = 0; q < corners_ / 2; ++q)
      {
        const double r =
            level_.metric.view().face[laplace::face_index(block_, 0, side, q, dim_, cell)];
        std::array<double, 8> value{};
        for (int v = 0; v < corners_; ++v)
          if ((v >> side / 2 & 1) == side % 2)
            value[v] = tables_.value[v >> a & 1][q & 1] *
                (dim_ == 3 ? tables_.value[v >> b & 1][q >> 1] : 1.);
        for (int v = 0; v < corners_; ++v)
          for (int w = 0; w < corners_; ++w)
            to[v][w] += r * value[v] * value[w];
      }
    }

    const BlockLevels &levels_;
    const BlockLevels::Level &level_;
    const Block &block_;
    int dim_, corners_;
    HatTables tables_;
  };
} // namespace

BlockVertices::BlockVertices(int dim, const std::vector<laplace::BlockLink> &links)
  : dim_(dim)
  , corners_(1 << dim)
  , unknowns_(
        links.size() / (2 * static_cast<std::size_t>(dim)) * static_cast<std::size_t>(corners_))
{
  JoinedCorners joined(unknowns_.size());
  std::vector<bool> is_held(unknowns_.size(), false);
  const auto for_corners = [&](const auto &use) {
    for (std::size_t at = 0; at < links.size(); ++at)
      for (std::int64_t v = 0; v < corners_ / 2; ++v)
      {
        const std::size_t block = at / (2 * static_cast<std::size_t>(dim));
        const int side = static_cast<int>(at % (2 * static_cast<std::size_t>(dim)));
        use(links[at],
            block * static_cast<std::size_t>(corners_) +
                static_cast<std::size_t>(corner_of_side(side, {v % 2, v / 2})),
            v);
      }
  };
  for_corners([&](const laplace::BlockLink &link, std::size_t corner, std::int64_t v) {
    if (link.kind == Side::ghost)
      joined.join(corner,
          static_cast<std::size_t>(link.block) * static_cast<std::size_t>(corners_) +
              static_cast<std::size_t>(
                  corner_of_side(link.side, link.map(v % 2, v / 2, 2, dim == 3 ? 2 : 1))));
  });
  for_corners([&](const laplace::BlockLink &link, std::size_t corner, std::int64_t) {
    if (link.kind == Side::dirichlet)
      is_held[joined.least(corner)] = true;
  });
  for (std::size_t corner = 0; corner < unknowns_.size(); ++corner)
  {
    const std::size_t least = joined.least(corner);
    unknowns_[corner] = is_held[least] ? -1
        : least == corner              ? static_cast<std::int32_t>(size_++)
                                       : unknowns_[least];
    if (size_ > std::numeric_limits<std::int32_t>::max())
      throw std::length_error("the mesh has more than 2^31 - 1 vertices");
  }
}

SparseRows BlockVertices::matrix(const BlockLevels &levels) const
{
  const Elements elements(levels);
  const auto n_blocks = static_cast<std::int64_t>(unknowns_.size()) / corners_;
  std::vector<ElementMatrix> matrices;
  for (std::int64_t b = 0; b < n_blocks; ++b)
    matrices.push_back(elements.of(b));
  SparseRows unknown_of; // of a corner of a block
  for (const std::int32_t unknown : unknowns_)
  {
    if (unknown >= 0)
      unknown_of.add(unknown, 1.);
    unknown_of.end_row();
  }
  const SparseRows corners_of = unknown_of.transposed(size_);
  SparseRows result;
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::int64_t i = 0; i < size_; ++i)
  {
    row.clear();
    for (std::int64_t e = corners_of.begin[i]; e < corners_of.begin[i + 1]; ++e)
    {
      const std::int64_t corner = corners_of.columns[e], b = corner / corners_;
      for (int w = 0; w < corners_; ++w)
        if (const std::int32_t j = unknown(b, w); j >= 0)
          row.emplace_back(j, matrices[b][corner % corners_][w]);
    }
    std::stable_sort(
        row.begin(), row.end(), [](const auto &x, const auto &y) { return x.first < y.first; });
    for (std::size_t e = 0; e < row.size(); ++e)
      if (e > 0 && row[e].first == row[e - 1].first)
        result.values.back() += row[e].second;
      else
        result.add(row[e].first, row[e].second);
    result.end_row();
  }
  return result;
}

namespace
{
  /// use(place of a mode in a vector, its number with bit d in direction d) for a cell of a level with one per block.
  template <typename Use>
  void for_modes(const Block &block, std::int64_t cell, const Use &use)
  {
    for (int mode = 0; mode < 1 << block.dim; ++mode)
      use(block.index(cell, 0, 0, mode & 1, mode >> 1 & 1, mode >> 2), mode);
  }

  /// hats of a corner times modes of a cell, [corner][mode]
  ElementMatrix coefficients_of(const CellBasis &basis, int dim)
  {
    const auto of_line = hats(basis);
    ElementMatrix result{};
    for (int v = 0; v < 1 << dim; ++v)
      for (int mode = 0; mode < 1 << dim; ++mode)
      {
        result[v][mode] = 1.;
        for (int d = 0; d < dim; ++d)
          result[v][mode] *= of_line[v >> d & 1][mode >> d & 1];
      }
    return result;
  }
} // namespace

void BlockVertices::restrict_to(
    const CellBasis &basis, std::vector<double> &to, const Vector<double> &r) const
{
  const ElementMatrix coefficients = coefficients_of(basis, dim_);
  to.assign(static_cast<std::size_t>(size_), 0.);
  for (std::int64_t b = 0; b < r.block().cells[0]; ++b)
    for_modes(r.block(), b, [&](std::int64_t place, int mode) {
      for (int v = 0; v < corners_; ++v)
        if (const std::int32_t i = unknown(b, v); i >= 0)
          to[static_cast<std::size_t>(i)] += coefficients[v][mode] * r[place];
    });
}

void BlockVertices::add_prolonged(
    const CellBasis &basis, Vector<double> &x, const std::vector<double> &from) const
{
  const ElementMatrix coefficients = coefficients_of(basis, dim_);
  for (std::int64_t b = 0; b < x.block().cells[0]; ++b)
    for_modes(x.block(), b, [&](std::int64_t place, int mode) {
      for (int v = 0; v < corners_; ++v)
        if (const std::int32_t i = unknown(b, v); i >= 0)
          x[place] += coefficients[v][mode] * from[static_cast<std::size_t>(i)];
    });
}
} // namespace tensormg
