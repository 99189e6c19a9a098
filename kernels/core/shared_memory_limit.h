// What the tiles of kernels are cut to.
#pragma once

// cmake/cuda.cmake takes it from the architectures of the build.
#if !defined(TENSORMG_SHARED_MEMORY_KIB)
#define TENSORMG_SHARED_MEMORY_KIB 227
#endif

namespace tensormg::shared_memory_limit
{
/// Shared memory of a block, in bytes, that every GPU has which the build is for: 227 KiB with compute capability 9.0 and
/// 10.0, 163 KiB with 8.0 and 8.7, 99 KiB with 8.6, 8.9 and 12.0 (CUDA C++ Programming Guide, table of technical
/// specifications). A multiprocessor has 1 KiB more, and keeps 1 KiB per block for itself.
inline constexpr int of_block = TENSORMG_SHARED_MEMORY_KIB * 1024;
inline constexpr int of_two_blocks = (of_block + 1024) / 2 - 1024; ///< each, if two are resident
/// Of compute capability 9.0, for kernels that run from there on.
inline constexpr int of_block_on_90 = 227 * 1024;
} // namespace tensormg::shared_memory_limit
