#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/diagnose_stencil.h"
#include "operators/random_numbers.h"

namespace tensormg::diagnose
{
namespace
{
  constexpr std::uint64_t seed = 41;

  /// A box of points.
  struct Window
  {
    std::array<std::int64_t, 3> begin, end;
    Grid grid() const { return {{end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]}}; }
  };

  /// Small boxes at all corners, in the middle of all sides and faces, and in the middle.
  std::vector<Window> windows(const Stencil &stencil, const Grid &grid)
  {
    const std::int64_t width = stencil.dim == 2 ? 48 : 20;
    std::vector<Window> list;
    for (int place = 0; place < 27; ++place)
    {
      Window window{};
      bool is_new = true;
      int at = place;
      for (std::size_t d = 0; d < 3; ++d, at /= 3)
      {
        const std::int64_t n = grid.points[d], size = std::min(n, width);
        is_new = is_new && (at % 3 == 0 || n > size);
        window.begin[d] = (n - size) * (at % 3) / 2;
        window.end[d] = window.begin[d] + size;
      }
      if (is_new)
        list.push_back(window);
    }
    return list;
  }

  /// function(global, local) for the first points of the rows of `part`: their places in the grid and in `wide`.
  template <typename Function>
  void for_rows(const Window &part, const Window &wide, const Grid &grid, Function &&function)
  {
    const std::array<std::int64_t, 3> &n = grid.points, w = wide.grid().points;
    for (std::int64_t z = part.begin[2]; z < part.end[2]; ++z)
      for (std::int64_t y = part.begin[1]; y < part.end[1]; ++y)
        function((z * n[1] + y) * n[0] + part.begin[0],
            ((z - wide.begin[2]) * w[1] + y - wide.begin[1]) * w[0] + part.begin[0] -
                wide.begin[0]);
  }

  /// What the reference makes of as much more of the input as its steps use up.
  template <typename Number>
  ExpectedWindow expected_on(const Stencil &stencil, const Grid &grid, int depth,
      const Array<Number> &input, const Window &window)
  {
    Window wide = window;
    for (std::size_t d = 0; d < 3; ++d)
    {
      const std::int64_t margin = static_cast<std::int64_t>(depth) * stencil.radius;
      wide.begin[d] = std::max<std::int64_t>(0, window.begin[d] - margin);
      wide.end[d] = std::min(grid.points[d], window.end[d] + margin);
    }
    const Grid part = wide.grid();
    std::vector<Number> from(static_cast<std::size_t>(part.size()));
    for_rows(wide, wide, grid, [&](std::int64_t global, std::int64_t local) {
      std::copy_n(input.data() + global, part.points[0], from.data() + local);
    });
    std::vector<double> a(from.size()), b(from.size());
    stencil::reference(stencil, part, from.data(), a.data());
    for (int step = 1; step < depth; ++step)
    {
      stencil::reference(stencil, part, a.data(), b.data());
      std::swap(a, b);
    }
    ExpectedWindow result{window.begin, window.end, {}};
    const auto width = static_cast<std::ptrdiff_t>(window.end[0] - window.begin[0]);
    for_rows(window, wide, grid, [&](std::int64_t, std::int64_t local) {
      result.values.insert(result.values.end(), a.begin() + local, a.begin() + local + width);
    });
    return result;
  }
} // namespace

template <typename Number>
StencilArrays<Number>::StencilArrays(const Stencil &stencil, const Grid &grid, ThreadTeam &team)
  : stencil_(stencil)
  , grid_(grid)
  , team_(team)
{}

template <typename Number>
const Array<Number> &StencilArrays<Number>::input()
{
  if (!input_)
  {
    input_.emplace(grid_.size());
    for_parts(team_, grid_.size(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        (*input_)[i] = static_cast<Number>(random_value(seed, static_cast<std::uint64_t>(i)));
    });
  }
  return *input_;
}

template <typename Number>
const DeviceArray<Number> &StencilArrays<Number>::device_input()
{
  if (!device_input_)
  {
    device_input_.emplace(grid_.size());
    device_input_->copy_from_host(input().data());
    device::synchronize(nullptr);
  }
  return *device_input_;
}

template <typename Number>
Array<Number> &StencilArrays<Number>::result()
{
  if (!result_)
    result_.emplace(grid_.size());
  return *result_;
}

template <typename Number>
const std::vector<ExpectedWindow> &StencilArrays<Number>::expected(int depth)
{
  std::vector<ExpectedWindow> &known = expected_[depth];
  if (known.empty())
  {
    const std::vector<Window> where = windows(stencil_, grid_);
    const Array<Number> &from = input();
    known.resize(where.size());
    for_parts(
        team_, static_cast<std::int64_t>(where.size()), [&](std::int64_t begin, std::int64_t end) {
          for (auto w = static_cast<std::size_t>(begin); w < static_cast<std::size_t>(end); ++w)
            known[w] = expected_on(stencil_, grid_, depth, from, where[w]);
        });
  }
  return known;
}

template <typename Number>
double StencilArrays<Number>::error(int depth)
{
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const Array<Number> &computed = result();
  const double largest =
      largest_of_parts(team_, grid_.size(), [&](std::int64_t begin, std::int64_t end) {
        const auto is_finite = [](Number x) { return std::isfinite(x); };
        return std::all_of(computed.begin() + begin, computed.begin() + end, is_finite) ? 0.
                                                                                        : infinite;
      });
  if (largest > 0.)
    return infinite;
  double error = 0.;
  for (const ExpectedWindow &window : expected(depth))
  {
    const Window here{window.begin, window.end};
    const std::int64_t width = window.end[0] - window.begin[0];
    for_rows(here, here, grid_, [&](std::int64_t global, std::int64_t local) {
      for (std::int64_t x = 0; x < width; ++x)
        error = std::max(error,
            std::abs(static_cast<double>(computed[global + x]) -
                window.values[static_cast<std::size_t>(local + x)]));
    });
  }
  return error;
}

template class StencilArrays<double>;
template class StencilArrays<float>;
} // namespace tensormg::diagnose
