// All degrees of the 2D kernel for one number type and form. cmake/laplace_instances.cmake.
#pragma once

#include <utility>

#include "kernels/laplace/strips_2d/launch.cuh"
#include "kernels/laplace/strips_2d/strips_2d.h"
#include "kernels/laplace/tiles/strips_2d.h"

namespace tensormg::laplace
{
/// Vectors that a form reads beside src.
constexpr int strip_inputs(Form form)
{
  return form == Form::apply ? 0 : form == Form::residual ? 1 : 2;
}
template <typename Number, int degree, Form form>
using StripTileOfForm = typename StripTileOf<Number, degree, strip_inputs(form)>::type;

template <typename Number, Form form, int... degree_minus_one>
Apply<Number> *cuda_2d_of_degree(int degree, std::integer_sequence<int, degree_minus_one...>)
{
  static constexpr Apply<Number> *instances[] = {
      &launch_strip<StripTileOfForm<Number, degree_minus_one + 1, form>, form>...};
  return degree >= 1 && degree <= max_degree ? instances[degree - 1] : nullptr;
}

template <typename Number, Form form>
Apply<Number> *cuda_2d_instance(int degree)
{
  return cuda_2d_of_degree<Number, form>(degree, std::make_integer_sequence<int, max_degree>());
}

template <typename Number, Form form, int... degree_minus_one>
KernelResources cuda_2d_resources_of_degree(
    int degree, std::integer_sequence<int, degree_minus_one...>)
{
  using Function = KernelResources();
  static constexpr Function *instances[] = {
      &strip_resources<StripTileOfForm<Number, degree_minus_one + 1, form>, form>...};
  return instances[degree - 1]();
}

template <typename Number, Form form>
KernelResources cuda_2d_resources(int degree)
{
  return cuda_2d_resources_of_degree<Number, form>(
      degree, std::make_integer_sequence<int, max_degree>());
}
} // namespace tensormg::laplace
