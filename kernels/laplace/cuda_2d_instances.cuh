// All degrees of the 2D kernel for one number type and form. Included by cuda_2d_*.cu only.
#pragma once

#include <utility>

#include "kernels/laplace/cuda_2d.h"
#include "kernels/laplace/cuda_2d_launch.cuh"
#include "kernels/laplace/cuda_2d_tiles.h"

namespace tensormg::laplace
{
template <typename Number, Form form, int... degree_minus_one>
Apply<Number> *cuda_2d_of_degree(int degree, std::integer_sequence<int, degree_minus_one...>)
{
  constexpr int inputs = form == Form::apply ? 0 : form == Form::residual ? 1 : 2;
  static constexpr Apply<Number> *instances[] = {
      &launch_strip<typename StripTileOf<Number, degree_minus_one + 1, inputs>::type, form>...};
  return degree >= 1 && degree <= max_degree ? instances[degree - 1] : nullptr;
}

template <typename Number, Form form>
Apply<Number> *cuda_2d_instance(int degree)
{
  return cuda_2d_of_degree<Number, form>(degree, std::make_integer_sequence<int, max_degree>());
}
} // namespace tensormg::laplace
