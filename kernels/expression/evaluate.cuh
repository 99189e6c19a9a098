// One expression at one point.
#pragma once

#include <cmath>

#include "kernels/expression/expression.h"

namespace tensormg::expression
{
__device__ inline double truth(bool value) { return value ? 1. : 0.; }
__device__ inline bool is_true_when_rounded(double a) { return llround(a) != 0; }

__device__ inline double run(Code code, double a, double b, double c)
{
  switch (code)
  {
    case Code::add:
      return a + b;
    case Code::subtract:
      return a - b;
    case Code::multiply:
      return a * b;
    case Code::divide:
      return a / b;
    case Code::power:
      return b == 2. ? a * a : b == 3. ? a * a * a : b == 4. ? (a * a) * (a * a) : pow(a, b);
    case Code::less:
      return truth(a < b);
    case Code::less_equal:
      return truth(a <= b);
    case Code::greater:
      return truth(a > b);
    case Code::greater_equal:
      return truth(a >= b);
    case Code::equal:
      return truth(a == b);
    case Code::not_equal:
      return truth(a != b);
    case Code::logical_and:
      return truth(a != 0. && b != 0.);
    case Code::logical_or:
      return truth(a != 0. || b != 0.);
    case Code::rounded_and:
      return truth(is_true_when_rounded(a) && is_true_when_rounded(b));
    case Code::rounded_or:
      return truth(is_true_when_rounded(a) || is_true_when_rounded(b));
    case Code::minimum:
      return b < a ? b : a;
    case Code::maximum:
      return a < b ? b : a;
    case Code::arc_tangent_of_quotient:
      return atan2(a, b);
    case Code::select:
      return a != 0. ? b : c;
    case Code::rounded_select:
      return is_true_when_rounded(a) ? b : c;
    case Code::negate:
      return -a;
    case Code::identity:
      return a;
    case Code::absolute:
      return fabs(a);
    case Code::sign:
      return a < 0. ? -1. : a > 0. ? 1. : 0.;
    case Code::round:
      return ::round(a);
    case Code::round_half_up:
      return ::floor(a + 0.5);
    case Code::ceil:
      return ::ceil(a);
    case Code::floor:
      return ::floor(a);
    case Code::square_root:
      return sqrt(a);
    case Code::exponential:
      return exp(a);
    case Code::logarithm:
      return log(a);
    case Code::logarithm_2:
      return log2(a);
    case Code::logarithm_10:
      return log10(a);
    case Code::sine:
      return sin(a);
    case Code::cosine:
      return cos(a);
    case Code::tangent:
      return tan(a);
    case Code::cotangent:
      return 1. / tan(a);
    case Code::secant:
      return 1. / cos(a);
    case Code::cosecant:
      return 1. / sin(a);
    case Code::arc_sine:
      return asin(a);
    case Code::arc_cosine:
      return acos(a);
    case Code::arc_tangent:
      return atan(a);
    case Code::hyperbolic_sine:
      return sinh(a);
    case Code::hyperbolic_cosine:
      return cosh(a);
    case Code::hyperbolic_tangent:
      return tanh(a);
    case Code::area_sine:
      return asinh(a);
    case Code::area_cosine:
      return acosh(a);
    case Code::area_tangent:
      return atanh(a);
    case Code::error_function:
      return erf(a);
    case Code::complementary_error_function:
      return erfc(a);
  }
  return 0.;
}

/// The value at (x, y, z). Reads of `steps`, which lies in constant memory, are the same for all threads.
__device__ inline double evaluate(const Steps &steps, double x, double y, double z)
{
  double result[max_results] = {};
  const auto value = [&](int operand) {
    if (operand < 3)
      return operand == 0 ? x : operand == 1 ? y : z;
    return operand < 3 + max_numbers ? steps.number[operand - 3]
                                     : result[operand - 3 - max_numbers];
  };
  for (int s = 0; s < steps.count; ++s)
  {
    const Step &step = steps.step[s];
    result[step.target] =
        run(step.code, value(step.operand[0]), value(step.operand[1]), value(step.operand[2]));
  }
  return value(steps.value);
}
} // namespace tensormg::expression
