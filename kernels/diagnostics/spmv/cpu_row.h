// The sum over a part of a row.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace tensormg::spmv
{
/// sum over `count` entries of value[e] x[column[e]]: four lanes, filled one by one (gather instructions, which
/// the compiler would take for a plain loop, are slower on Zen 5), and a rest.
template <typename Number>
TENSORMG_INLINE inline Number row_sum(
    std::int32_t count, const Number *value, const std::int32_t *column, const Number *x)
{
  constexpr int lanes = 4;
  simd::Vec<Number, lanes> sums{};
  std::int32_t e = 0;
  for (; e + lanes <= count; e += lanes)
  {
    const simd::Vec<Number, lanes> factors{
        x[column[e]], x[column[e + 1]], x[column[e + 2]], x[column[e + 3]]};
    sums += factors * simd::load<lanes>(value + e);
  }
  Number rest = 0;
  switch (count - e)
  {
    case 3:
      rest += value[e + 2] * x[column[e + 2]];
      [[fallthrough]];
    case 2:
      rest += value[e + 1] * x[column[e + 1]];
      [[fallthrough]];
    case 1:
      rest += value[e] * x[column[e]];
      break;
    default:;
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
}
} // namespace tensormg::spmv
