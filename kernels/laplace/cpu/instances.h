// The compiled instances of the `cpu` backend for one dimension and number type: all degrees, all forms
// that it has.
// (cmake/laplace_instances.cmake).
#pragma once

#include "kernels/laplace/cpu/cpu.h"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
template <int dim, int n, Form form, typename Number>
void apply_cpu(const Arguments<Number> &arguments)
{
  CpuMarch<dim, n, form, Number>(arguments, OneCoefficient<Number>()).run();
}

template <int dim, int n, Form form, typename Number>
void apply_cellwise_cpu(const CellwiseArguments<Number> &arguments)
{
  using C = Compute<Number>;
  using Coefficient = CellCoefficient<Number>;
  CpuMarch<dim, n, form, Number, Coefficient>(
      arguments, Coefficient{arguments.cells, static_cast<C>(arguments.basis->penalty)})
      .run();
}

template <int dim, typename Number>
Apply<Number> *cpu_instance(Form form, int degree)
{
  return by_form<Number>(form, [&](auto f) {
    return by_degree<1, max_degree>(degree, [](auto d) -> Apply<Number> * {
      return &apply_cpu<dim, d.value + 1, decltype(f)::value, Number>;
    });
  });
}

template <int dim, typename Number>
ApplyCellwise<Number> *cellwise_cpu_instance(Form form, int degree)
{
  return by_form<Number>(form, [&](auto f) {
    return by_degree<1, max_degree>(degree, [](auto d) -> ApplyCellwise<Number> * {
      return &apply_cellwise_cpu<dim, d.value + 1, decltype(f)::value, Number>;
    });
  });
}
} // namespace tensormg::laplace
