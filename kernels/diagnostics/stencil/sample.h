// CONTRACT: what a check of a large result in device memory needs, without a copy of all of it.
//   values[i] = u[points[i]] for i < n_points; *not_finite = 1 if an entry of u is NaN or infinite, else unchanged.
// All arrays in device memory; u is read once. The work is queued in the stream.
// Test: tests/kernels/diagnostics/stencil/sample_cuda_test.cu.
#pragma once

#include <cstdint>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::stencil
{
template <typename Number>
TENSORMG_CUDA_FUNCTION void cuda_sample(std::int64_t size, const Number *u, std::int64_t n_points,
    const std::int64_t *points, Number *values, int *not_finite, Stream stream);
} // namespace tensormg::stencil
