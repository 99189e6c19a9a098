// Which GPU device code is compiled for. What that GPU lacks is not compiled: its primitive stops the kernel instead. The host
// asks require_compiled_for() (occupancy.h) before it starts a kernel that needs more than compute capability 8.0.
#pragma once

namespace tensormg::compiled_for
{
#if defined(__CUDA_ARCH__)
/// Compute capability times ten; in host code no limit, because there kernels are only parsed.
inline constexpr int capability = __CUDA_ARCH__ / 10;
#else
inline constexpr int capability = 1000;
#endif

/// mbarrier with transaction counts, bulk copies by the copy engine, clusters, stmatrix, griddepcontrol.
inline constexpr bool has_copy_engine = capability >= 90;

// What only a build for one very GPU has (sm_90a, sm_100a): nvcc before 12.9 says so for sm_90a alone.
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool has_wgmma = true;
#else
inline constexpr bool has_wgmma = false;
#endif
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_SPECIFIC__)
inline constexpr bool has_setmaxnreg = true;
#else
inline constexpr bool has_setmaxnreg = false;
#endif
/// Copies to all blocks of a cluster (.multicast::cluster). Compute capability 9.0 has them, but ptxas warns where they are
/// not compiled for one very GPU, and warnings are errors.
inline constexpr bool has_multicast = has_setmaxnreg;

/// In place of an instruction that is not there: the kernel ends with an error, never with a wrong result.
__device__ inline void stop() { asm volatile("trap;"); }
} // namespace tensormg::compiled_for
