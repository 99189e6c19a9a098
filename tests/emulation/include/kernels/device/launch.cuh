// kernels/device/launch.cuh of the emulation.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <tuple>

#include "kernels/device/cuda_check.h"
#include "kernels/device/kernel_loading.h"
#include "kernels/device/meters/launch_profile.h"
#include "tests/emulation/stream.h"

namespace tensormg
{
namespace internal
{
  template <typename... P, typename... A>
  void start(bool cooperative, const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
      std::size_t shared_bytes, Stream stream, A &&...arguments)
  {
    if (stream.only_loads_kernels())
      return;
    const std::tuple<std::decay_t<P>...> values(arguments...);
    if (stream.profile() != nullptr)
      stream.profile()->before();
    emulation::queue(stream, [=] {
      emulation::launch(
          name, [&] { std::apply(kernel, values); }, grid, block, shared_bytes, cooperative);
    });
    if (stream.profile() != nullptr)
      stream.profile()->after(name);
  }
} // namespace internal

template <typename... P, typename... A>
void launch(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
    Stream stream, A &&...arguments)
{
  internal::start(
      false, name, kernel, grid, block, shared_bytes, stream, std::forward<A>(arguments)...);
}

template <typename... P, typename... A>
void launch_cooperative(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
    std::size_t shared_bytes, Stream stream, A &&...arguments)
{
  internal::start(
      true, name, kernel, grid, block, shared_bytes, stream, std::forward<A>(arguments)...);
}

/// Kernels run one after the other here.
template <typename... P, typename... A>
void launch_overlapping(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
    std::size_t shared_bytes, Stream stream, A &&...arguments)
{
  internal::start(
      false, name, kernel, grid, block, shared_bytes, stream, std::forward<A>(arguments)...);
}

inline void allow_shared_bytes(const void *, std::size_t) {}
} // namespace tensormg
