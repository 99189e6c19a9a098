// The `cuda` backend: rank-2 face terms on CUDA cores, vectors in device memory.
#pragma once

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// 3D, degrees 1..8; compiled in cuda_3d_*.cu. Needs compute capability 9.0.
template <typename Number, Form form>
Apply<Number> *cuda_3d_instance(int degree);

template <typename Number, Form form>
KernelResources cuda_3d_resources(int degree);

/// Of the kernel in 3D.
template <typename Number>
KernelResources cuda_resources(Form form, int degree);

/// The function for a form known at run time.
template <typename Number>
Apply<Number> *cuda_instance(Form form, int dim, int degree);

/// As PackTraces (laplace.h), all pointers in device memory, queued in `stream`.
template <typename Number>
void pack_traces_cuda(const Block &block, const CellBasis &basis, int side, const Number *src,
    Compute<Number> *buffer, Stream stream);
} // namespace tensormg::laplace
