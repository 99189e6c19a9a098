// The device kernels of cellwise.h: all pointers in device memory but the basis, queued in the stream.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/cellwise/cellwise.h"

namespace tensormg::laplace
{
/// Defined in cuda_launch.cuh, cmake/laplace_instances.cmake.
template <int dim, typename Number, Form form>
ApplyCellwise<Number> *cellwise_cuda_instance(int degree);

/// For a form known at run time.
template <typename Number>
TENSORMG_CUDA_FUNCTION ApplyCellwise<Number> *cellwise_cuda(Form form, int dim, int degree);

/// As cellwise_inverse_diagonal().
template <typename Number>
TENSORMG_CUDA_FUNCTION void cellwise_inverse_diagonal_cuda(const Block &block,
    const CellBasis &basis, const CellNumbers<Compute<Number>> &cells, double alpha,
    const Number *b, Number *x, Stream stream);
} // namespace tensormg::laplace
