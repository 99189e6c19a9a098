// When a method is too slow for its preconditioner to be kept.
#pragma once

#include <cstddef>
#include <vector>

namespace tensormg
{
/// Watches residuals of a method, the first one included.
class RateWatch
{
public:
  /// At less than a digit in so many iterations another preconditioner is worth its set-up.
  static constexpr std::size_t iterations_per_digit = 8;

  void take(double residual) { residuals_.push_back(residual); }
  /// Whether the last eight iterations have taken less than a digit off.
  bool is_slow() const
  {
    const std::size_t count = residuals_.size();
    return count > iterations_per_digit &&
        !(residuals_.back() <= 0.1 * residuals_[count - 1 - iterations_per_digit]);
  }

private:
  std::vector<double> residuals_;
};
} // namespace tensormg
