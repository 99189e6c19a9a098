#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

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
  std::vector<Window> windows(const StencilProblem &problem)
  {
    const std::int64_t width = problem.stencil.dim == 2 ? 48 : 20;
    std::vector<Window> list;
    for (int place = 0; place < 27; ++place)
    {
      Window window{};
      bool is_new = true;
      int at = place;
      for (std::size_t d = 0; d < 3; ++d, at /= 3)
      {
        const std::int64_t n = problem.grid.points[d], size = std::min(n, width);
        is_new = is_new && (at % 3 == 0 || n > size);
        window.begin[d] = (n - size) * (at % 3) / 2;
        window.end[d] = window.begin[d] + size;
      }
      if (is_new)
        list.push_back(window);
    }
    return list;
  }

  /// The largest difference on a window from the reference, which starts from as much more of the input as
  /// its steps use up.
  template <typename Number>
  double window_error(
      const StencilProblem &problem, const Window &window, const Fetch<Number> &fetch)
  {
    Window wide = window;
    const std::array<std::int64_t, 3> &n = problem.grid.points;
    for (std::size_t d = 0; d < 3; ++d)
    {
      const std::int64_t margin = static_cast<std::int64_t>(problem.depth) * problem.stencil.radius;
      wide.begin[d] = std::max<std::int64_t>(0, window.begin[d] - margin);
      wide.end[d] = std::min(n[d], window.end[d] + margin);
    }
    const Grid grid = wide.grid();
    std::vector<Number> from(static_cast<std::size_t>(grid.size()));
    std::vector<double> a(from.size()), b(from.size());
    const auto for_rows = [&](const Window &part, auto &&function) {
      for (std::int64_t z = part.begin[2]; z < part.end[2]; ++z)
        for (std::int64_t y = part.begin[1]; y < part.end[1]; ++y)
          function((z * n[1] + y) * n[0] + part.begin[0],
              ((z - wide.begin[2]) * grid.points[1] + y - wide.begin[1]) * grid.points[0] +
                  part.begin[0] - wide.begin[0]);
    };
    for_rows(wide, [&](std::int64_t global, std::int64_t local) {
      for (std::int64_t x = 0; x < grid.points[0]; ++x)
        from[static_cast<std::size_t>(local + x)] = static_cast<Number>(stencil_input(global + x));
    });
    stencil::reference(problem.stencil, grid, from.data(), a.data());
    for (int step = 1; step < problem.depth; ++step)
    {
      stencil::reference(problem.stencil, grid, a.data(), b.data());
      std::swap(a, b);
    }
    double error = 0.;
    std::vector<Number> row(static_cast<std::size_t>(window.end[0] - window.begin[0]));
    for_rows(window, [&](std::int64_t global, std::int64_t local) {
      fetch(global, static_cast<std::int64_t>(row.size()), row.data());
      for (std::size_t x = 0; x < row.size(); ++x)
        error = std::max(
            error, std::abs(static_cast<double>(row[x]) - a[static_cast<std::size_t>(local) + x]));
    });
    return error;
  }
} // namespace

double stencil_input(std::int64_t i) { return random_value(seed, static_cast<std::uint64_t>(i)); }

template <typename Number>
double stencil_error(const StencilProblem &problem, const Fetch<Number> &fetch)
{
  constexpr std::int64_t at_once = std::int64_t(1) << 20;
  std::vector<Number> piece(static_cast<std::size_t>(std::min(at_once, problem.grid.size())));
  for (std::int64_t first = 0; first < problem.grid.size(); first += at_once)
  {
    const std::int64_t count = std::min(at_once, problem.grid.size() - first);
    fetch(first, count, piece.data());
    for (std::int64_t i = 0; i < count; ++i)
      if (!std::isfinite(piece[static_cast<std::size_t>(i)]))
        return std::numeric_limits<double>::infinity();
  }
  double error = 0.;
  for (const Window &window : windows(problem))
    error = std::max(error, window_error(problem, window, fetch));
  return error;
}

template double stencil_error(const StencilProblem &, const Fetch<double> &);
template double stencil_error(const StencilProblem &, const Fetch<float> &);
} // namespace tensormg::diagnose
