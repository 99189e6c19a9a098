// The `cuda` backend in two dimensions.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// 2D, degrees 1..8; compiled for the shared memory of the GPUs of the build.
/// nullptr for a degree that does not exist. Arguments::progress is not used.
template <typename Number, Form form>
Apply<Number> *cuda_2d_instance(int degree);

/// What these kernels take of the current device.
template <typename Number, Form form>
TENSORMG_CUDA_FUNCTION KernelResources cuda_2d_resources(int degree);
/// The same for a form known at run time.
template <typename Number>
TENSORMG_CUDA_FUNCTION KernelResources cuda_2d_resources(Form form, int degree);
} // namespace tensormg::laplace
