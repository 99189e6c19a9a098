// The oracle for vectors in device memory, itself compared with the one on the host.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// As apply_reference(), queued in arguments.stream.
template <typename Number>
TENSORMG_CUDA_FUNCTION void apply_device_reference(const Arguments<Number> &arguments, Form form);
} // namespace tensormg::laplace
