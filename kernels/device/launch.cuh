// The one way in which kernels are started. tests/emulation has another version of this file.
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/core/setup_times.h"
#include "kernels/device/cuda_check.h"
#include "kernels/device/kernel_loading.h"
#include "kernels/device/meters/launch_profile.h"

namespace tensormg
{
namespace internal
{
  /// What a launch may ask for.
  enum class Kind : unsigned char
  {
    plain,
    cooperative,
    overlapping
  };

  template <typename... P, typename... A>
  void start(Kind kind, const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
      std::size_t shared_bytes, Stream stream, A &&...arguments)
  {
    if (stream.only_loads_kernels() || setup_times::is_counting())
      load_kernel(reinterpret_cast<const void *>(kernel));
    if (stream.only_loads_kernels())
      return;
    cudaLaunchAttribute attribute{};
    if (kind == Kind::overlapping)
    {
      attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    else
    {
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    }
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = kind == Kind::plain ? 0 : 1;
    if (stream.profile() != nullptr)
      stream.profile()->before();
    check_cuda(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...), name);
    if (stream.profile() != nullptr)
      stream.profile()->after(name);
  }
} // namespace internal

/// Queues kernel(arguments...) in `stream`. `name` is what an error message calls it, e.g. "launching the
/// Laplace kernel". More than 48 KiB of shared memory: see resident_blocks() and allow_shared_bytes().
template <typename... P, typename... A>
void launch(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
    Stream stream, A &&...arguments)
{
  internal::start(internal::Kind::plain, name, kernel, grid, block, shared_bytes, stream,
      std::forward<A>(arguments)...);
}

/// The same for a kernel whose blocks look at each other: all of them are resident at once, or DeviceError.
template <typename... P, typename... A>
void launch_cooperative(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
    std::size_t shared_bytes, Stream stream, A &&...arguments)
{
  internal::start(internal::Kind::cooperative, name, kernel, grid, block, shared_bytes, stream,
      std::forward<A>(arguments)...);
}

/// The same for a kernel that may start before the one before it in the stream has ended: it calls
/// pipeline::wait_for_kernel_before() before it reads what the kernel before may write, or writes anything. From compute
/// capability 9.0 on.
template <typename... P, typename... A>
void launch_overlapping(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
    std::size_t shared_bytes, Stream stream, A &&...arguments)
{
  internal::start(internal::Kind::overlapping, name, kernel, grid, block, shared_bytes, stream,
      std::forward<A>(arguments)...);
}

/// Lets the kernel have that much dynamic shared memory per block.
inline void allow_shared_bytes(const void *kernel, std::size_t bytes)
{
  check_cuda(cudaFuncSetAttribute(
                 kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      "asking for shared memory");
}
} // namespace tensormg
