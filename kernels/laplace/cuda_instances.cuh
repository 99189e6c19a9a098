// The compiled instances of the `cuda` backend in 3D for one number type and form: all degrees.
// Included by cuda_3d_*.cu only, so that they compile in parallel.
#pragma once

#include <utility>

#include "kernels/laplace/cuda.h"
#include "kernels/laplace/cuda_launch.cuh"
#include "kernels/laplace/cuda_tiles.h"

namespace tensormg::laplace
{
template <typename Number, Form form, int degree>
using TileOf = CudaTile<Number, degree + 1, form != Form::apply>;

template <typename Number, Form form, int... degree_minus_one>
Apply<Number> *cuda_of_degree(int degree, std::integer_sequence<int, degree_minus_one...>)
{
  static constexpr Apply<Number> *instances[] = {
      &launch_march<TileOf<Number, form, degree_minus_one + 1>, form>...};
  return instances[degree - 1];
}

template <typename Number, Form form>
Apply<Number> *cuda_3d_instance(int degree)
{
  return cuda_of_degree<Number, form>(degree, std::make_integer_sequence<int, max_degree>());
}

template <typename Number, Form form, int... degree_minus_one>
KernelResources resources_of_degree(int degree, std::integer_sequence<int, degree_minus_one...>)
{
  using Function = KernelResources();
  static constexpr Function *instances[] = {
      &march_resources<TileOf<Number, form, degree_minus_one + 1>, form>...};
  return instances[degree - 1]();
}

template <typename Number, Form form>
KernelResources cuda_3d_resources(int degree)
{
  return resources_of_degree<Number, form>(degree, std::make_integer_sequence<int, max_degree>());
}
} // namespace tensormg::laplace
