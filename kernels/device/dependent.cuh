// A small kernel that adds up what the one before it in the stream has left: where the device can (compute capability
// 9.0), it is made ready, and where the kernel before announces its end, its blocks come, while the last blocks of that
// one work; then it waits. On others it starts as any kernel does.
#pragma once

#include <utility>

#include "kernels/device/compiled_for.cuh"
#include "kernels/device/device.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/pipeline.cuh"

namespace tensormg::dependent
{
/// launch() of a kernel all of whose blocks call wait_for_kernel_before().
template <typename... A>
void launch(A &&...arguments)
{
  if (device_properties().code_capability >= 90)
    tensormg::launch_overlapping(std::forward<A>(arguments)...);
  else
    tensormg::launch(std::forward<A>(arguments)...);
}

/// Before the first access to what the kernel before has written (without __restrict__: loads past the coherent cache
/// are not allowed), and before the first write. Every block, before it ends.
__device__ inline void wait_for_kernel_before()
{
  if constexpr (compiled_for::has_copy_engine)
    pipeline::wait_for_kernel_before();
}

/// In the kernel before: once all of its blocks have called this, the next may take the room that is left.
__device__ inline void let_next_kernel_start()
{
  if constexpr (compiled_for::has_copy_engine)
    pipeline::let_next_kernel_start();
}
} // namespace tensormg::dependent
