#include <algorithm>
#include <cstdint>
#include <tuple>

#include "kernels/laplace/pointwise/relaxation.h"

namespace tensormg::laplace
{
namespace
{
  using Cell = std::array<std::int64_t, 3>;

  class LineFinder
  {
  public:
    LineFinder(const Block &block, std::int64_t per_direction, const BlockLink *links)
      : block_(block)
      , per_direction_(per_direction)
      , links_(links)
      , seen_(static_cast<std::size_t>(3 * block.n_cells()))
    {}

    CellLines run()
    {
      for (int d = 0; d < block_.dim; ++d)
        for (std::int64_t cz = 0; cz < block_.cells[2]; ++cz)
          for (std::int64_t cy = 0; cy < block_.cells[1]; ++cy)
            for (std::int64_t cx = 0; cx < block_.cells[0]; ++cx)
              if (!seen_[number({cx, cy, cz}, d)])
                follow(first_of({{cx, cy, cz}, 2 * d + 1}));
      const auto key = [this](const CellLine &line) {
        const LinePlace &place = result_.places[static_cast<std::size_t>(line.first)];
        return std::tuple(line.length, place.axis[0], place.is_reversed[0], place.entry);
      };
      std::sort(result_.lines.begin(), result_.lines.end(),
          [&](const CellLine &a, const CellLine &b) { return key(a) < key(b); });
      return std::move(result_);
    }

  private:
    /// A cell and the side by which a line leaves it.
    struct Step
    {
      Cell cell;
      int side;
      bool operator==(const Step &) const = default;
    };
    std::size_t number(const Cell &cell, int d) const
    {
      return static_cast<std::size_t>(
          ((cell[2] * block_.cells[1] + cell[1]) * block_.cells[0] + cell[0]) * 3 + d);
    }
    PointBehind behind(const Step &at, int qa, int qb) const
    {
      return point_behind(block_, per_direction_, links_, at.cell, at.side, qa, qb);
    }

    /// The first step of the line to which one belongs: at a closed side or that of another rank, or in a ring this one.
    Step first_of(const Step &given) const
    {
      Step back{given.cell, given.side ^ 1};
      const Step start = back;
      for (;;)
      {
        const PointBehind next = behind(back, 0, 0);
        if (!next.is_local())
          return {back.cell, back.side ^ 1};
        back = {next.cell, next.side ^ 1};
        if (back == start)
          return given;
      }
    }

    void follow(const Step &first)
    {
      CellLine line;
      line.first = std::ssize(result_.places);
      line.ends[0] = behind({first.cell, first.side ^ 1}, 0, 0).kind;
      LinePlace place;
      const auto [a, b] = tangential(first.side / 2);
      place.axis = {0, static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)};
      for (Step at = first;;)
      {
        const auto &[x, y, z] = at.cell;
        place.entry = block_.index(x, y, z, 0, 0, 0);
        place.numbers = relaxation_index(
            block_, line_inverse_numbers(block_.n), z * block_.cells[1] + y, 0, 0, x);
        place.axis[0] = static_cast<std::int8_t>(at.side / 2);
        place.is_reversed[0] = at.side % 2 == 0;
        result_.places.push_back(place);
        seen_[number(at.cell, at.side / 2)] = true;
        ++line.length;
        const PointBehind next = behind(at, 0, 0);
        line.ends[1] = next.kind;
        const Step to{next.cell, next.side ^ 1};
        if (!next.is_local() || to == first)
          break;
        turn(at, next, place);
        at = to;
      }
      result_.lines.push_back(line);
    }

    /// The axes across the line in the cell behind.
    void turn(const Step &at, const PointBehind &origin, LinePlace &place) const
    {
      const std::array<int, 2> own = tangential_axes(at.side),
                               others = tangential_axes(origin.side);
      for (int i = 1; i < block_.dim; ++i)
      {
        const bool is_first = place.axis[i] == own[0];
        const int last = block_.n - 1;
        const PointBehind end = is_first ? behind(at, last, 0) : behind(at, 0, last);
        const bool to_first = end.a != origin.a;
        place.axis[i] = static_cast<std::int8_t>(to_first ? others[0] : others[1]);
        const bool turns = to_first ? end.a < origin.a : end.b < origin.b;
        place.is_reversed[i] = place.is_reversed[i] != turns;
      }
    }
    static std::array<int, 2> tangential_axes(int side)
    {
      const auto [a, b] = tangential(side / 2);
      return {a, b};
    }

    const Block &block_;
    std::int64_t per_direction_;
    const BlockLink *links_;
    std::vector<bool> seen_;
    CellLines result_;
  };
} // namespace

CellLines find_lines(const Block &block, std::int64_t per_direction, const BlockLink *links)
{
  return LineFinder(block, per_direction, links).run();
}
} // namespace tensormg::laplace
