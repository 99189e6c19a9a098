#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/diagnose/stencil/stencil.h"
#include "kernels/core/random_numbers.h"
#include "kernels/diagnostics/stencil/sample.h"

namespace tensormg::diagnose
{
namespace
{
  constexpr std::uint64_t seed = 41;
  constexpr double infinite = std::numeric_limits<double>::infinity();

  using Window = StencilWindow;

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
  std::vector<double> expected_on(const Stencil &stencil, const Grid &grid, int depth,
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
    std::vector<double> result;
    const auto width = static_cast<std::ptrdiff_t>(window.end[0] - window.begin[0]);
    for_rows(window, wide, grid, [&](std::int64_t, std::int64_t local) {
      result.insert(result.end(), a.begin() + local, a.begin() + local + width);
    });
    return result;
  }
} // namespace

template <typename Number>
StencilArrays<Number>::StencilArrays(const Stencil &stencil, const Grid &grid, ThreadTeam &team)
  : stencil_(stencil)
  , grid_(grid)
  , team_(team)
  , windows_(windows(stencil, grid))
{
  for (const Window &window : windows_)
    for_rows(window, window, grid, [&](std::int64_t global, std::int64_t) {
      for (std::int64_t x = 0; x < window.grid().points[0]; ++x)
        points_.push_back(global + x);
    });
}

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
const std::vector<double> &StencilArrays<Number>::expected(int depth)
{
  std::vector<double> &known = expected_[depth];
  if (known.empty())
  {
    const Array<Number> &from = input();
    std::vector<std::vector<double>> parts(windows_.size());
    for_parts(team_, static_cast<std::int64_t>(windows_.size()),
        [&](std::int64_t begin, std::int64_t end) {
          for (auto w = static_cast<std::size_t>(begin); w < static_cast<std::size_t>(end); ++w)
            parts[w] = expected_on(stencil_, grid_, depth, from, windows_[w]);
        });
    for (const std::vector<double> &part : parts)
      known.insert(known.end(), part.begin(), part.end());
  }
  return known;
}

template <typename Number>
double StencilArrays<Number>::error(int depth)
{
  const Array<Number> &computed = result();
  const double largest =
      largest_of_parts(team_, grid_.size(), [&](std::int64_t begin, std::int64_t end) {
        const auto is_finite = [](Number x) { return std::isfinite(x); };
        return std::all_of(computed.begin() + begin, computed.begin() + end, is_finite) ? 0.
                                                                                        : infinite;
      });
  if (largest > 0.)
    return infinite;
  std::vector<Number> sample;
  sample.reserve(points_.size());
  for (const std::int64_t point : points_)
    sample.push_back(computed[point]);
  return error_of_sample(depth, sample);
}

template <typename Number>
double StencilArrays<Number>::error_on_device(int depth, const DeviceArray<Number> &result)
{
  const auto count = static_cast<std::int64_t>(points_.size());
  if (!device_points_)
  {
    device_points_.emplace(count);
    device_points_->copy_from_host(points_.data());
  }
  std::vector<Number> sample(points_.size());
  int not_finite = 0;
  DeviceArray<Number> device_sample(count);
  DeviceArray<int> device_not_finite(1);
  device_not_finite.copy_from_host(&not_finite);
  stencil::cuda_sample(result.size(), result.data(), count, device_points_->data(),
      device_sample.data(), device_not_finite.data(), nullptr);
  device_not_finite.copy_to_host(&not_finite);
  device_sample.copy_to_host(sample.data());
  return not_finite == 0 ? error_of_sample(depth, sample) : infinite;
}

template <typename Number>
double StencilArrays<Number>::error_of_sample(int depth, const std::vector<Number> &computed)
{
  const std::vector<double> &right = expected(depth);
  double error = 0.;
  for (std::size_t i = 0; i < right.size(); ++i)
    error = std::max(error, std::abs(static_cast<double>(computed[i]) - right[i]));
  return error;
}

template class StencilArrays<double>;
template class StencilArrays<float>;
} // namespace tensormg::diagnose
