#include "operators/cellwise/joined_corners.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace tensormg
{
namespace
{
  /// Sets by the least of their members.
  class Sets
  {
  public:
    explicit Sets(std::size_t count)
      : least_(count)
    {
      std::iota(least_.begin(), least_.end(), 0);
    }
    std::int32_t least(std::int32_t of)
    {
      while (at(of) != of)
        of = at(of) = at(at(of));
      return of;
    }
    void join(std::int32_t a, std::int32_t b)
    {
      a = least(a);
      b = least(b);
      at(std::max(a, b)) = std::min(a, b);
    }

  private:
    std::int32_t &at(std::int32_t of) { return least_[static_cast<std::size_t>(of)]; }
    std::vector<std::int32_t> least_;
  };

  using Neighbours = std::vector<std::vector<std::size_t>>;

  /// Which of the cells at a vertex go together if those at least as strong as `least` are stiff: a number each from 0, 0 alone if they do not part.
  std::vector<std::int32_t> parts(
      const std::vector<double> &strength, const Neighbours &neighbours, double least)
  {
    Sets sets(strength.size());
    std::vector<std::int32_t> stiff;
    for (std::size_t c = 0; c < strength.size(); ++c)
    {
      const auto own = static_cast<std::int32_t>(c);
      std::int32_t before = strength[c] >= least ? own : -1;
      if (before >= 0)
        stiff.push_back(own);
      for (const std::size_t other : neighbours[c])
        if (strength[other] >= least)
        {
          if (before >= 0)
            sets.join(before, static_cast<std::int32_t>(other));
          before = static_cast<std::int32_t>(other);
        }
    }
    std::vector<std::int32_t> clusters, result(strength.size(), 0);
    for (const std::int32_t c : stiff)
      if (sets.least(c) == c)
        clusters.push_back(c);
    for (const std::int32_t c : stiff)
    {
      const auto part = static_cast<std::int32_t>(
          std::find(clusters.begin(), clusters.end(), sets.least(c)) - clusters.begin());
      result[static_cast<std::size_t>(c)] = part;
      for (const std::size_t other : neighbours[static_cast<std::size_t>(c)])
        result[other] = part;
    }
    return result;
  }
} // namespace

int corner_of_side(int side, std::int64_t a, std::int64_t b)
{
  const auto [of_a, of_b] = tangential(side / 2);
  return (side % 2 << side / 2) + (static_cast<int>(a) << of_a) + (static_cast<int>(b) << of_b);
}

JoinedCorners::JoinedCorners(const Block &cells, std::int64_t per_direction,
    const std::vector<laplace::BlockLink> &links, const std::vector<double> &strengths)
  : cells_(cells)
  , per_direction_(per_direction)
  , links_(links)
  , corners_(1 << cells.dim)
{
  if (cells.n_cells() * corners_ > std::numeric_limits<std::int32_t>::max())
    throw std::length_error("the cells have more than 2^31 - 1 corners");
  join();
  if (!strengths.empty())
    split(strengths);
  count();
}

/// use(number of a corner, what is behind it) for each corner of each side
template <typename Use>
void JoinedCorners::for_corners(const Use &use) const
{
  Cell cell{};
  for (cell[2] = 0; cell[2] < cells_.cells[2]; ++cell[2])
    for (cell[1] = 0; cell[1] < cells_.cells[1]; ++cell[1])
      for (cell[0] = 0; cell[0] < cells_.cells[0]; ++cell[0])
        for (int side = 0; side < 2 * cells_.dim; ++side)
          for (std::int64_t v = 0; v < corners_ / 2; ++v)
            use(number(cell, corner_of_side(side, v % 2, v / 2)),
                laplace::point_behind(
                    cells_, per_direction_, links_.data(), cell, side, v % 2, v / 2));
}

void JoinedCorners::join()
{
  Sets sets(static_cast<std::size_t>(cells_.n_cells() * corners_));
  for_corners([&](std::int32_t corner, const laplace::PointBehind &behind) {
    if (behind.kind == Side::ghost)
      sets.join(corner, number(behind.cell, corner_of_side(behind.side, behind.a, behind.b)));
  });
  first_.resize(static_cast<std::size_t>(cells_.n_cells() * corners_));
  for (std::size_t corner = 0; corner < first_.size(); ++corner)
    first_[corner] = sets.least(static_cast<std::int32_t>(corner));
}

void JoinedCorners::split(const std::vector<double> &strengths)
{
  std::vector<std::int32_t> begin(first_.size() + 1, 0), at(first_.size());
  for (const std::int32_t first : first_)
    ++begin[static_cast<std::size_t>(first) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::int32_t> next(begin.begin(), begin.end() - 1), corners;
  for (std::size_t corner = 0; corner < first_.size(); ++corner)
    at[static_cast<std::size_t>(next[static_cast<std::size_t>(first_[corner])]++)] =
        static_cast<std::int32_t>(corner);
  for (std::size_t v = 0; v + 1 < begin.size(); ++v)
    if (begin[v + 1] - begin[v] > corners_ / 2)
    {
      corners.assign(at.begin() + begin[v], at.begin() + begin[v + 1]);
      has_splits_ = split_vertex(corners, strengths) || has_splits_;
    }
}

bool JoinedCorners::split_vertex(
    const std::vector<std::int32_t> &at, const std::vector<double> &strengths)
{
  constexpr double much = 5.;
  std::vector<double> strength;
  for (const std::int32_t corner : at)
    strength.push_back(strengths[static_cast<std::size_t>(corner / corners_)]);
  std::vector<double> sorted = strength;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  if (!(sorted.front() > much * sorted.back()))
    return false;
  const Neighbours near = neighbours(at);
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i)
    if (sorted[i] > much * sorted[i + 1])
    {
      const std::vector<std::int32_t> part = parts(strength, near, sorted[i]);
      if (*std::max_element(part.begin(), part.end()) == 0)
        continue;
      for (std::size_t c = at.size(); c-- > 0;)
        first_[static_cast<std::size_t>(at[c])] = at[static_cast<std::size_t>(
            std::find(part.begin(), part.end(), part[c]) - part.begin())];
      return true;
    }
  return false;
}

/// Of the cells that have these corners: which are behind their sides that meet there.
Neighbours JoinedCorners::neighbours(const std::vector<std::int32_t> &at) const
{
  Neighbours result(at.size());
  for (std::size_t c = 0; c < at.size(); ++c)
  {
    const std::int64_t of_cell = at[c] / corners_;
    const int corner = at[c] % corners_;
    const Cell cell{of_cell % cells_.cells[0], of_cell / cells_.cells[0] % cells_.cells[1],
        of_cell / cells_.cells[0] / cells_.cells[1]};
    for (int d = 0; d < cells_.dim; ++d)
    {
      const auto [a, b] = tangential(d);
      const auto behind = laplace::point_behind(cells_, per_direction_, links_.data(), cell,
          2 * d + (corner >> d & 1), corner >> a & 1, b < cells_.dim ? corner >> b & 1 : 0);
      if (behind.kind != Side::ghost)
        continue;
      const std::int32_t other =
          number(behind.cell, corner_of_side(behind.side, behind.a, behind.b));
      const auto place = std::lower_bound(at.begin(), at.end(), other);
      result[c].push_back(static_cast<std::size_t>(place - at.begin()));
    }
  }
  return result;
}

void JoinedCorners::count()
{
  std::vector<bool> is_held(first_.size(), false);
  for_corners([&](std::int32_t corner, const laplace::PointBehind &behind) {
    if (behind.kind == Side::dirichlet)
      is_held[static_cast<std::size_t>(first_[static_cast<std::size_t>(corner)])] = true;
  });
  unknowns_.resize(first_.size());
  for (std::size_t corner = 0; corner < first_.size(); ++corner)
  {
    const auto first = static_cast<std::size_t>(first_[corner]);
    unknowns_[corner] = is_held[first] ? -1 : first == corner ? size_++ : unknowns_[first];
  }
  first_ = {};
}
} // namespace tensormg
