// From the precision of a cycle to the type of its numbers.
#pragma once

#include "kernels/core/half.h"
#include "tensormg/options.h"

namespace tensormg
{
/// f with a value of the type in which vectors of this precision are stored.
template <typename F>
auto with_number(Precision precision, const F &f)
{
  switch (bytes_per_number(precision))
  {
    case sizeof(double):
      return f(double{});
    case sizeof(Half):
      return f(Half{});
    default:
      return f(float{});
  }
}
} // namespace tensormg
