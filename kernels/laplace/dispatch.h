// From choices known at run time to what is compiled for each of them.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
#ifndef TENSORMG_HIGHEST_DEGREE // of this build
#define TENSORMG_HIGHEST_DEGREE 8
#endif
static_assert(TENSORMG_HIGHEST_DEGREE >= 1 && TENSORMG_HIGHEST_DEGREE <= max_degree);

/// What use(std::integral_constant<int, degree>) returns; first <= degree <= last. Throws std::invalid_argument for degrees that are not in
/// this build.
template <int first, int last, typename Use>
auto by_degree(int degree, const Use &use)
{
  constexpr int highest = std::min(last, TENSORMG_HIGHEST_DEGREE);
  if constexpr (first < highest)
    if (degree > first)
      return by_degree<first + 1, last>(degree, use);
  if (degree > first)
    throw std::invalid_argument(
        "this build has degrees up to " + std::to_string(TENSORMG_HIGHEST_DEGREE));
  return use(std::integral_constant<int, first>());
}

/// What use(std::integral_constant<Form, form>) returns; nothing for forms that these numbers lack.
template <typename Number, typename Use>
auto by_form(Form form, const Use &use)
{
  if constexpr (has_every_form<Number>)
  {
    if (form == Form::residual)
      return use(std::integral_constant<Form, Form::residual>());
    if (form == Form::chebyshev)
      return use(std::integral_constant<Form, Form::chebyshev>());
  }
  using Result = decltype(use(std::integral_constant<Form, Form::apply>()));
  return form == Form::apply ? use(std::integral_constant<Form, Form::apply>()) : Result{};
}
} // namespace tensormg::laplace
