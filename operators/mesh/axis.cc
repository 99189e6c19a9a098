#include "operators/mesh/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tensormg
{
Axis::Axis(double lower, double upper, std::int64_t cells)
  : cells_(cells)
  , lower_(lower)
  , mean_size_((upper - lower) / static_cast<double>(cells))
{}

Axis::Axis(std::vector<double> corners)
  : cells_(std::ssize(corners) - 1)
  , lower_(corners.front())
  , mean_size_((corners.back() - corners.front()) / static_cast<double>(cells_))
  , corners_(std::make_shared<const std::vector<double>>(std::move(corners)))
{}

double Axis::upper() const
{
  return is_equal() ? lower_ + static_cast<double>(cells_) * mean_size_ : corner(cells_);
}

double Axis::smallest_size() const
{
  double smallest = std::numeric_limits<double>::infinity();
  for (std::int64_t cell = 0; cell < (is_equal() ? 1 : cells_); ++cell)
    smallest = std::min(smallest, size(cell));
  return smallest;
}

double Axis::place(double coordinate) const
{
  if (is_equal())
    return (coordinate - lower_) / mean_size_;
  // The last cell that begins there or below.
  const auto after = std::upper_bound(corners_->begin() + 1, corners_->end() - 1, coordinate);
  const std::int64_t cell = after - corners_->begin() - 1;
  return static_cast<double>(cell) + (coordinate - corner(cell)) / size(cell);
}

double Axis::place_rounding() const
{
  constexpr double part_of_cell = 1e-9;
  const double largest = std::max(std::abs(lower_), std::abs(upper()));
  return part_of_cell + 4. * std::numeric_limits<double>::epsilon() * largest / smallest_size();
}
} // namespace tensormg
