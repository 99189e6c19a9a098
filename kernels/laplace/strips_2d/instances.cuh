// All degrees of the 2D kernel for one number type and form. cmake/laplace_instances.cmake.
#pragma once

#include "kernels/laplace/dispatch.h"
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

template <typename Number, Form form>
Apply<Number> *cuda_2d_instance(int degree)
{
  if (degree < 1 || degree > max_degree)
    return nullptr;
  return by_degree<1, max_degree>(degree, [](auto d) -> Apply<Number> * {
    return &launch_strip<StripTileOfForm<Number, d.value, form>, form>;
  });
}

template <typename Number, Form form>
KernelResources cuda_2d_resources(int degree)
{
  return by_degree<1, max_degree>(degree,
      [](auto d) { return strip_resources<StripTileOfForm<Number, d.value, form>, form>(); });
}
} // namespace tensormg::laplace
