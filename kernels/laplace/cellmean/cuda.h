// The device kernels of cellmean.h: all arrays in device memory but `basis`, work queued in the stream. Each number of src is read once from memory,
// and again from caches for what is behind the sides of bricks of cells.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/laplace/cellmean/cellmean.h"

namespace tensormg::laplace
{
/// traces_are_written() is called when the kernel that writes `traces` is queued; it may queue what brings remote_traces.
template <typename Number>
using ApplyCellMeanDevice = void(const CellMeanArguments<Number> &, Stream stream);

/// dst = A src, b - A src or the step. Every entry of dst is written, padding with zero. The same input gives the same bits.
template <typename Number>
TENSORMG_CUDA_FUNCTION ApplyCellMeanDevice<Number> *cell_mean_cuda(int dim, int degree);
} // namespace tensormg::laplace
