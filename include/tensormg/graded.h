// Corners of graded cells, for Problem::corners.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensormg
{
/// At which end of a direction the smallest cells lie.
enum class FineEnd : std::uint8_t
{
  lower,
  upper,
  both
};

namespace graded
{
  inline constexpr std::int64_t most_cells = std::int64_t(1) << 22;

  /// cells + 1 corners of intervals in [lower, upper] whose sizes are proportional to size(i, m), i = 0 the smallest of m different ones.
  template <typename Size>
  std::vector<double> corners_of_sizes(
      double lower, double upper, std::int64_t cells, FineEnd end, const Size &size)
  {
    const std::int64_t m = end == FineEnd::both ? (cells + 1) / 2 : cells;
    std::vector<double> corners{0.};
    for (std::int64_t c = 0; c < cells; ++c)
    {
      const std::int64_t from_upper = cells - 1 - c;
      const std::int64_t i = end == FineEnd::lower  ? c
          : end == FineEnd::upper || from_upper < c ? from_upper
                                                    : c;
      corners.push_back(corners.back() + size(i, m));
    }
    const double whole = corners.back();
    for (double &corner : corners)
      corner = lower + (upper - lower) * (corner / whole);
    corners.back() = upper;
    return corners;
  }

  inline void check(double lower, double upper, std::int64_t cells, double ratio, FineEnd end)
  {
    const std::int64_t least = end == FineEnd::both ? 3 : 2;
    if (!(lower < upper && upper - lower < 1e300))
      throw std::invalid_argument("graded cells: lower must be less than upper, both finite");
    if (cells > most_cells)
      throw std::invalid_argument("graded cells: " + std::to_string(cells) +
          " cells are too many (allowed: at most " + std::to_string(most_cells) + ")");
    if (cells < least)
      throw std::invalid_argument("graded cells: " + std::to_string(cells) +
          " cells cannot differ in size (allowed: at least " + std::to_string(least) + ")");
    if (!(ratio >= 1. && ratio <= 1e9))
      throw std::invalid_argument(
          "graded cells: the ratio of the largest to the smallest cell is " +
          std::to_string(ratio) + " (allowed: from 1 to 1e9)");
  }
} // namespace graded

/// Cells each of which is q times as large as its neighbour towards the fine end, the largest one `ratio` times as large as the smallest.
/// Throws std::invalid_argument for ratios outside of [1, 1e9], fewer than two (both ends: three) cells and more than 2^22.
inline std::vector<double> geometric_corners(
    double lower, double upper, std::int64_t cells, double ratio, FineEnd end)
{
  graded::check(lower, upper, cells, ratio, end);
  return graded::corners_of_sizes(lower, upper, cells, end, [&](std::int64_t i, std::int64_t m) {
    return std::pow(ratio, static_cast<double>(i) / static_cast<double>(m - 1));
  });
}

/// x(s) = 1 + tanh(delta (s - 1)) / tanh(delta) at s = i / cells, scaled to the direction (both ends: two such halves), where delta makes
/// the largest cell `ratio` times as large as the smallest: nearly equal cells away from the fine end. Errors as geometric_corners().
/// Source: J. F. Thompson, Z. U. A. Warsi, C. W. Mastin, Numerical Grid Generation (1985), chapter VIII.
inline std::vector<double> tanh_corners(
    double lower, double upper, std::int64_t cells, double ratio, FineEnd end)
{
  graded::check(lower, upper, cells, ratio, end);
  const double parts =
      end == FineEnd::both ? 0.5 * static_cast<double>(cells) : static_cast<double>(cells);
  const std::int64_t last = (end == FineEnd::both ? (cells + 1) / 2 : cells) - 1;
  // tanh a - tanh b = sinh(a - b) / (cosh a cosh b), without the factor that all cells share; no overflow for delta < 300
  const auto size = [&](double delta, std::int64_t i) {
    const double from = delta * (1. - static_cast<double>(i) / parts),
                 to = delta * (1. - static_cast<double>(i + 1) / parts);
    return 1. / (std::cosh(from) * std::cosh(to));
  };
  double least = 0., most = 300.;
  for (int step = 0; step < 200; ++step)
  {
    const double delta = 0.5 * (least + most);
    (size(delta, last) < ratio * size(delta, 0) ? least : most) = delta;
  }
  return graded::corners_of_sizes(
      lower, upper, cells, end, [&](std::int64_t i, std::int64_t) { return size(least, i); });
}
} // namespace tensormg
