// The cells of one direction of a box.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tensormg
{
/// Cells 0..cells() - 1, equal or with corners of their own.
class Axis
{
public:
  /// One cell, [0, 1].
  Axis() = default;
  Axis(double lower, double upper, std::int64_t cells);
  /// Ascending, two of them at least; equal intervals are no special case.
  explicit Axis(std::vector<double> corners);

  std::int64_t cells() const { return cells_; }
  double lower() const { return lower_; }
  double upper() const;
  bool is_equal() const { return corners_ == nullptr; }
  double mean_size() const { return mean_size_; }
  double smallest_size() const;

  double size(std::int64_t cell) const
  {
    return is_equal() ? mean_size_ : corner(cell + 1) - corner(cell);
  }
  /// size() / mean_size()
  double relative_size(std::int64_t cell) const
  {
    return is_equal() ? 1. : size(cell) / mean_size_;
  }
  /// Of a point of a cell, 0 <= t <= 1.
  double coordinate(std::int64_t cell, double t) const
  {
    return is_equal() ? lower_ + (static_cast<double>(cell) + t) * mean_size_
                      : corner(cell) + t * size(cell);
  }
  /// The inverse: the number of the cell plus t; outside of the box as if the cell at the end went on.
  double place(double coordinate) const;
  /// By which a place may be wrong through rounding of coordinates.
  double place_rounding() const;

private:
  double corner(std::int64_t i) const { return (*corners_)[static_cast<std::size_t>(i)]; }

  std::int64_t cells_ = 1;
  double lower_ = 0., mean_size_ = 1.;
  std::shared_ptr<const std::vector<double>> corners_; ///< null: equal cells
};
} // namespace tensormg
