// Stored numbers as doubles, for references that compute in double whatever is stored.
#pragma once

#include "kernels/core/half.h"

namespace tensormg
{
template <typename Number>
double in_double(Number x)
{
  return static_cast<Compute<Number>>(x);
}

/// The way back.
template <typename Number>
Number rounded(double x)
{
  return static_cast<Number>(static_cast<Compute<Number>>(x));
}
} // namespace tensormg
