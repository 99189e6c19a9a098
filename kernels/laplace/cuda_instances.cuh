// The compiled instances of the `cuda` backend in 3D for one number type and form: all degrees.
// Included by cuda_3d_*.cu only, so that they compile in parallel.
#pragma once

#include <utility>

#include "kernels/laplace/cuda.h"
#include "kernels/laplace/cuda_launch.cuh"
#include "kernels/laplace/cuda_tiles.h"

namespace tensormg::laplace
{
template <typename Number, Form form, int... degree_minus_one>
Apply<Number> *cuda_of_degree(int degree, std::integer_sequence<int, degree_minus_one...>)
{
  static constexpr Apply<Number> *instances[] = {
      &launch_march<CudaTile<Number, degree_minus_one + 2, form != Form::apply>, form>...};
  return instances[degree - 1];
}

template <typename Number, Form form>
Apply<Number> *cuda_3d_instance(int degree)
{
  return cuda_of_degree<Number, form>(degree, std::make_integer_sequence<int, max_degree>());
}
} // namespace tensormg::laplace
