// The `cuda` backend in two dimensions.
#pragma once

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// 2D, degrees 1..8; compiled in cuda_2d_*.cu, for the shared memory of the GPUs of the build.
/// nullptr for a degree that does not exist. Arguments::progress is not used.
template <typename Number, Form form>
Apply<Number> *cuda_2d_instance(int degree);
} // namespace tensormg::laplace
