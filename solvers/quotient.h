// A factor of a step: the quotient of two numbers that the host knows.
#pragma once

#include <cmath>

namespace tensormg
{
struct Quotient
{
  double factor, numerator, denominator;

  double value() const { return factor * (numerator / denominator); }
  /// As every step of conjugate gradients is with a positive definite operator and preconditioner.
  bool is_positive() const
  {
    return numerator > 0. && denominator > 0. && std::isfinite(numerator / denominator);
  }
};
} // namespace tensormg
