// From choices known at run time to what is compiled for each of them.
#pragma once

#include <type_traits>

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// What use(std::integral_constant<int, degree>) returns; first <= degree <= last.
template <int first, int last, typename Use>
auto by_degree(int degree, const Use &use)
{
  if constexpr (first < last)
    if (degree > first)
      return by_degree<first + 1, last>(degree, use);
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
