// CONTRACT of the transfer between two degrees on the same cells, on a device.
//
// Formula. P is the tensor product of a matrix P_ai of one direction, n_fine x n_coarse, whose entries with a and i of different parity are zero:
//   restrict:    coarse = factor P' fine
//   prolongate:  sum = factor P (src + src_rest), + dst with add, + dst_rest with add_rest; dst is the sum rounded, dst_rest what rounding took away
// Arrays: those of transfer.h in device memory, its `basis` is not used. matrix: P' [i][a] in host memory, fine.n numbers for each of coarse.n modes,
// coarse.n < fine.n. Padding is computed like cells: where it is zero in all that is read, it becomes zero.
// Ensures: every entry of the result is written; the same bits each time. Work is queued in `stream`.
// Work: every number passes over memory once; between two directions a cell is in shared memory.
// Oracle: DegreeTransfer on the host (operators/curved/degree_transfer.h). Test: tests/operators/curved/degree_transfer_device_test.cu.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/transfer/transfer.h"

namespace tensormg::transfer
{
template <typename Number>
TENSORMG_CUDA_FUNCTION void prolongate_degree_cuda(
    const Prolongate<Number> &, const Compute<Number> *matrix, Stream stream);
template <typename Number>
TENSORMG_CUDA_FUNCTION void restrict_degree_cuda(
    const Restrict<Number> &, const Compute<Number> *matrix, Stream stream);
} // namespace tensormg::transfer
