// The compiled instances of the `cpu` backend for one dimension and number type: all degrees, all forms
// that it has.
// (cmake/laplace_instances.cmake).
#pragma once

#include <utility>

#include "kernels/laplace/cpu/cpu.h"

namespace tensormg::laplace
{
template <int dim, int n, Form form, typename Number>
void apply_cpu(const Arguments<Number> &arguments)
{
  CpuMarch<dim, n, form, Number>(arguments).run();
}

/// Degrees 1..max_degree in order.
template <int dim, Form form, typename Number, int... degree_minus_one>
Apply<Number> *cpu_of_degree(int degree, std::integer_sequence<int, degree_minus_one...>)
{
  static constexpr Apply<Number> *instances[] = {
      &apply_cpu<dim, degree_minus_one + 2, form, Number>...};
  return instances[degree - 1];
}

template <int dim, typename Number>
Apply<Number> *cpu_instance(Form form, int degree)
{
  constexpr auto degrees = std::make_integer_sequence<int, max_degree>();
  switch (form)
  {
    case Form::apply:
      return cpu_of_degree<dim, Form::apply, Number>(degree, degrees);
    case Form::residual:
      if constexpr (has_every_form<Number>)
        return cpu_of_degree<dim, Form::residual, Number>(degree, degrees);
      break;
    case Form::chebyshev:
      if constexpr (has_every_form<Number>)
        return cpu_of_degree<dim, Form::chebyshev, Number>(degree, degrees);
      break;
  }
  return nullptr;
}
} // namespace tensormg::laplace
