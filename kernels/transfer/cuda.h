// The `cuda` backend of the transfer: all arrays in device memory, work queued in `stream`.
//
// Restriction, one thread per coarse cell and fine plane: x and y in registers (a pair of fine cells is one
// access, so that lanes are coarse cells and every access of a warp is contiguous), z through shared memory.
// Prolongation the other way round. Both children come from one sum over the even and one over the odd
// modes, so that the three stages of a coarse cell cost n/2 (1 + 1/2 + 1/4) FMA per fine degree of freedom.
//
// Per fine degree of freedom in 3D, with s bytes per number:
//   restriction        9/8 s bytes, 0.9 n + 1.8 FMA or additions, 1/2 load, 1/4 + 1/4 accesses to shared memory
//   prolongation, add  17/8 s bytes, 0.9 n + 1.8 FMA or additions, 1/2 load, 1/2 store, 1/4 + 1/4 accesses
//                      to shared memory (n/4 instead of the second 1/4 where a plane does not fit into registers)
// At p = 3 that is about 9 instructions where the memory of an H200 (4.2 TB/s) allows 16 in FP16 (a
// multiprocessor issues 128 per clock), 32 in FP32: bound by bandwidth; at p = 7, FP16, 13 of 16.
// Where not all directions are halved: one after the other, in each one thread per line of a coarse cell (cuda_partial.cuh).
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/transfer/transfer.h"

namespace tensormg::transfer
{
/// between: device memory for the vector between() of the blocks, or nullptr if that is empty.
template <typename Number>
TENSORMG_CUDA_FUNCTION void prolongate_cuda(
    const Prolongate<Number> &, Stream stream, Compute<Number> *between = nullptr);
template <typename Number>
TENSORMG_CUDA_FUNCTION void restrict_cuda(
    const Restrict<Number> &, Stream stream, Compute<Number> *between = nullptr);
} // namespace tensormg::transfer
